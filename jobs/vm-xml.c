/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "jobs/vm-xml.h"

#include <libxml/tree.h>
#include <stdarg.h>

#define QEMU_URI	"http://libvirt.org/schemas/domain/qemu/1.0"
#define ICOUNT		"shift=0,sleep=off"	/* an instruction is a nanosecond; idle time passes at once */
#define ICOUNT_EPOCH	"946684800"		/* every boot begins at the same second */

const char *vm_accelerator_name(VmAccelerator accelerator)
{
	return accelerator == VM_KVM ? "kvm" : "tcg";
}

/* A child with text (NULL: none) and attributes: name, value, ... NULL. */
static xmlNode *add(xmlNode *parent, const char *name, const char *text, ...) G_GNUC_NULL_TERMINATED;

static xmlNode *add(xmlNode *parent, const char *name, const char *text, ...)
{
	xmlNode *node = xmlNewTextChild(parent, NULL, BAD_CAST name, BAD_CAST text);
	const char *attribute;
	va_list args;

	va_start(args, text);
	while ((attribute = va_arg(args, const char *)))
		xmlNewProp(node, BAD_CAST attribute, BAD_CAST va_arg(args, const char *));
	va_end(args);
	return node;
}

static xmlNode *add_number(xmlNode *parent, const char *name, int number)
{
	g_autofree char *text = g_strdup_printf("%d", number);

	return add(parent, name, text, NULL);
}

static void add_metadata(xmlNode *domain, const VmDescription *vm)
{
	g_autofree char *job = g_strdup_printf("%" G_GINT64_FORMAT, vm->job);
	g_autofree char *boot = g_strdup_printf("%d", vm->boot);
	xmlNode *metadata = add(domain, "metadata", NULL, NULL);
	xmlNode *node = add(metadata, "boot", NULL, "lab", vm->lab, "run", vm->run, "job", job, "boot", boot, NULL);

	xmlSetNs(node, xmlNewNs(node, BAD_CAST VM_METADATA_URI, BAD_CAST VM_METADATA_PREFIX));
}

/* Counted instructions are the same wherever the one thread that counts them runs. */
static gboolean counts(const VmDescription *vm)
{
	return vm->clock == CLOCK_ICOUNT;
}

static gboolean has_io_thread(const VmDescription *vm)
{
	return vm->disk && !counts(vm);
}

static void add_pin(xmlNode *tune, const char *name, const char *which, int number, const char *cpus)
{
	g_autofree char *text = g_strdup_printf("%d", number);

	add(tune, name, NULL, which, text, "cpuset", cpus, NULL);
}

static void add_cpus(xmlNode *domain, const VmDescription *vm)
{
	const HostPlacement *placement = vm->placement;
	xmlNode *vcpu = add_number(domain, "vcpu", vm->cpus);

	xmlNewProp(vcpu, BAD_CAST "placement", BAD_CAST "static");
	if (has_io_thread(vm))
		add_number(domain, "iothreads", 1);
	if (!placement || !placement->vcpus->len)
		return;
	xmlNewProp(vcpu, BAD_CAST "cpuset", BAD_CAST placement->vcpu_list);
	if (counts(vm))
		return;

	xmlNode *tune = add(domain, "cputune", NULL, NULL);
	for (int i = 0; i < vm->cpus; i++) {
		g_autofree char *cpu = g_strdup_printf("%d", g_array_index(placement->vcpus, int, (guint)i));
		add_pin(tune, "vcpupin", "vcpu", i, cpu);
	}
	add(tune, "emulatorpin", NULL, "cpuset", placement->emulator, NULL);
	if (has_io_thread(vm))
		add_pin(tune, "iothreadpin", "iothread", 1, placement->io);
}

static void add_memory(xmlNode *domain, const VmDescription *vm)
{
	const HostPlacement *placement = vm->placement;

	xmlNewProp(add_number(domain, "memory", vm->memory_mib), BAD_CAST "unit", BAD_CAST "MiB");
	if (!placement || counts(vm))
		return;
	xmlNode *backing = add(domain, "memoryBacking", NULL, NULL);
	if (placement->page_kib) {
		g_autofree char *size = g_strdup_printf("%d", placement->page_kib);
		add(add(backing, "hugepages", NULL, NULL), "page", NULL, "size", size, "unit", "KiB", NULL);
	}
	add(backing, "nosharepages", NULL, NULL);
	add(backing, "allocation", NULL, "mode", "immediate", NULL);
	if (placement->node != HOST_NO_NODE) {
		g_autofree char *node = g_strdup_printf("%d", placement->node);
		add(add(domain, "numatune", NULL, NULL), "memory", NULL, "mode", "strict", "nodeset", node, NULL);
	}
}

static void add_topology(xmlNode *cpu, const VmDescription *vm)
{
	const HostPlacement *placement = vm->placement;

	if (!placement)
		return;
	g_autofree char *sockets = g_strdup_printf("%d", placement->sockets), *cores = g_strdup_printf("%d", placement->cores);
	g_autofree char *threads = g_strdup_printf("%d", placement->threads);
	add(cpu, "topology", NULL, "sockets", sockets, "cores", cores, "threads", threads, NULL);
}

static void add_os(xmlNode *domain, const VmDescription *vm)
{
	xmlNode *os = add(domain, "os", NULL, NULL);

	add(os, "type", "hvm", "arch", "x86_64", "machine", vm->machine, NULL);
	add(os, "kernel", vm->kernel, NULL);
	add(os, "initrd", vm->initrd, NULL);
	add(os, "cmdline", vm->cmdline, NULL);

	xmlNode *features = add(domain, "features", NULL, NULL);
	add(features, "acpi", NULL, NULL);
	add(features, "apic", NULL, NULL);
	if (vm->accelerator == VM_KVM) {
		add_topology(add(domain, "cpu", NULL, "mode", "host-passthrough", "check", "none", "migratable", "off", NULL), vm);
		return;
	}
	/* not qemu64: it has REP_GOOD, and string instructions are many steps each when instructions are counted */
	xmlNode *cpu = add(domain, "cpu", NULL, "mode", "custom", "match", "exact", "check", "none", NULL);
	add(cpu, "model", "kvm64", "fallback", "forbid", NULL);
	add_topology(cpu, vm);
}

static void add_clock(xmlNode *domain, const VmDescription *vm)
{
	xmlNode *clock;

	if (vm->clock == CLOCK_ICOUNT) {
		clock = add(domain, "clock", NULL, "offset", "absolute", "start", ICOUNT_EPOCH, NULL);
		add(clock, "timer", NULL, "name", "rtc", "track", "guest", NULL);
	} else {
		clock = add(domain, "clock", NULL, "offset", "utc", NULL);
	}
	/* an emulated guest's tick comes from it (guest-image/cmdline, nolapic_timer) */
	add(clock, "timer", NULL, "name", "hpet", "present", vm->accelerator == VM_KVM ? "no" : "yes", NULL);
}

static void add_disk(xmlNode *devices, const VmDescription *vm)
{
	xmlNode *disk = add(devices, "disk", NULL, "type", "file", "device", "disk", NULL);

	/* the image is thrown away after the boot: nothing of it needs to reach the host's disk */
	xmlNode *driver = add(disk, "driver", NULL, "name", "qemu", "type", "raw", "cache", "unsafe", NULL);
	if (has_io_thread(vm))
		xmlNewProp(driver, BAD_CAST "iothread", BAD_CAST "1");
	add(disk, "source", NULL, "file", vm->disk, NULL);
	add(disk, "target", NULL, "dev", "vda", "bus", "virtio", NULL);
}

static void add_devices(xmlNode *domain, const VmDescription *vm)
{
	xmlNode *devices = add(domain, "devices", NULL, NULL);

	if (vm->disk)
		add_disk(devices, vm);
	add(devices, "controller", NULL, "type", "usb", "model", "none", NULL);
	add(devices, "controller", NULL, "type", "virtio-serial", "index", "0", NULL);

	xmlNode *serial = add(devices, "serial", NULL, "type", "pty", NULL);
	add(serial, "target", NULL, "port", "0", NULL);
	xmlNode *console = add(devices, "console", NULL, "type", "pty", NULL);
	add(console, "target", NULL, "type", "serial", "port", "0", NULL);
	xmlNode *channel = add(devices, "channel", NULL, "type", "unix", NULL);
	add(channel, "source", NULL, "mode", "bind", NULL);
	add(channel, "target", NULL, "type", "virtio", "name", VM_CHANNEL_NAME, NULL);

	add(devices, "audio", NULL, "id", "1", "type", "none", NULL);
	add(devices, "memballoon", NULL, "model", "none", NULL);
}

/* libvirt has no element for it. */
static void add_icount(xmlNode *domain)
{
	xmlNs *ns = xmlNewNs(domain, BAD_CAST QEMU_URI, BAD_CAST "qemu");
	xmlNode *line = add(domain, "commandline", NULL, NULL);

	xmlSetNs(line, ns);
	xmlSetNs(add(line, "arg", NULL, "value", "-icount", NULL), ns);
	xmlSetNs(add(line, "arg", NULL, "value", ICOUNT, NULL), ns);
}

char *vm_description_to_xml(const VmDescription *vm)
{
	xmlDoc *document = xmlNewDoc(BAD_CAST "1.0");
	xmlNode *domain = xmlNewDocNode(document, NULL, BAD_CAST "domain", NULL);
	xmlChar *text = NULL;
	int size = 0;

	g_assert((vm->accelerator == VM_KVM) == (vm->clock == CLOCK_KVM));
	xmlDocSetRootElement(document, domain);
	xmlNewProp(domain, BAD_CAST "type", BAD_CAST (vm->accelerator == VM_KVM ? "kvm" : "qemu"));
	add(domain, "name", vm->name, NULL);
	add(domain, "uuid", vm->uuid, NULL);
	add_metadata(domain, vm);
	add_memory(domain, vm);
	add_cpus(domain, vm);
	add_os(domain, vm);
	add_clock(domain, vm);
	add(domain, "on_poweroff", "destroy", NULL);
	add(domain, "on_reboot", "destroy", NULL);
	add(domain, "on_crash", "destroy", NULL);
	add_devices(domain, vm);
	if (vm->clock == CLOCK_ICOUNT)
		add_icount(domain);

	xmlDocDumpFormatMemoryEnc(document, &text, &size, "UTF-8", 1);
	char *xml = g_strndup((const char *)text, (gsize)size);
	xmlFree(text);
	xmlFreeDoc(document);
	return xml;
}
