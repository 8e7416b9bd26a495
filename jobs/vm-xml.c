/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "jobs/vm-xml.h"

#include <libxml/tree.h>
#include <stdarg.h>

#include "jobs/spec/cpus.h"

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

const char *vm_description_other_cpus(const VmDescription *vm)
{
	return vm->clock == CLOCK_ICOUNT || !*vm->other_cpus ? vm->vm_cpus : vm->other_cpus;
}

static void add_cpus(xmlNode *domain, const VmDescription *vm)
{
	g_autoptr(GArray) cpus = NULL;
	xmlNode *vcpu = add_number(domain, "vcpu", vm->cpus);

	xmlNewProp(vcpu, BAD_CAST "placement", BAD_CAST "static");
	if (*vm->vm_cpus)
		xmlNewProp(vcpu, BAD_CAST "cpuset", BAD_CAST vm->vm_cpus);
	if (vm->clock == CLOCK_ICOUNT || (!*vm->vm_cpus && !*vm->other_cpus))
		return;

	xmlNode *tune = add(domain, "cputune", NULL, NULL);
	gboolean parsed = !*vm->vm_cpus || cpu_list_parse(vm->vm_cpus, &cpus, NULL);
	g_assert(parsed);
	for (int i = 0; cpus && i < vm->cpus; i++) {
		g_autofree char *number = g_strdup_printf("%d", i);
		g_autofree char *cpu = g_strdup_printf("%d", g_array_index(cpus, int, (guint)i % cpus->len));
		add(tune, "vcpupin", NULL, "vcpu", number, "cpuset", cpu, NULL);
	}
	if (*vm->other_cpus)
		add(tune, "emulatorpin", NULL, "cpuset", vm->other_cpus, NULL);
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
		add(domain, "cpu", NULL, "mode", "host-passthrough", "check", "none", "migratable", "off", NULL);
		return;
	}
	/* not qemu64: it has REP_GOOD, and string instructions are many steps each when instructions are counted */
	xmlNode *cpu = add(domain, "cpu", NULL, "mode", "custom", "match", "exact", "check", "none", NULL);
	add(cpu, "model", "kvm64", "fallback", "forbid", NULL);
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

static void add_disk(xmlNode *devices, const char *path)
{
	xmlNode *disk = add(devices, "disk", NULL, "type", "file", "device", "disk", NULL);

	/* the image is thrown away after the boot: nothing of it needs to reach the host's disk */
	add(disk, "driver", NULL, "name", "qemu", "type", "raw", "cache", "unsafe", NULL);
	add(disk, "source", NULL, "file", path, NULL);
	add(disk, "target", NULL, "dev", "vda", "bus", "virtio", NULL);
}

static void add_devices(xmlNode *domain, const VmDescription *vm)
{
	xmlNode *devices = add(domain, "devices", NULL, NULL);

	if (vm->disk)
		add_disk(devices, vm->disk);
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
	xmlNewProp(add_number(domain, "memory", vm->memory_mib), BAD_CAST "unit", BAD_CAST "MiB");
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
