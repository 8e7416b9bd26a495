/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "host/facts.h"

#include <string.h>

#include "host/files.h"
#include "host/readers.h"
#include "jobs/spec/cpus.h"

#define FIRMWARE "switch it in the firmware's setup: the kernel offers no file for it here"
#define CPUFREQ "boot a kernel with a cpufreq driver for this processor, and let the firmware leave the frequency to it"

#define FACT(name_, title_, read_, rule_) .name = (name_), .title = (title_), .read = (read_), .rule = HOST_RULE_##rule_

/* SMT comes first: its siblings are gone when the settings of each CPU are made, and come back untouched. */
const HostFactRow host_facts[] = {
	{ FACT("machine", "machine", host_read_machine, WORD), .standard = "hardware",
	  .advice = "measure on hardware, or say machine=any in the host's require: figures then have the noise of a shared machine" },
	{ FACT("smt", "SMT siblings", host_read_smt, WORD), .hardware = TRUE, .plan = host_plan_smt, .advice = FIRMWARE },
	{ FACT("turbo", "turbo", host_read_turbo, WORD), .standard = "off", .hardware = TRUE, .plan = host_plan_turbo,
	  .advice = FIRMWARE },
	{ FACT("governor", "frequency governor", host_read_governor, WORD), .standard = "performance", .hardware = TRUE,
	  .plan = host_plan_governor, .advice = CPUFREQ },
	{ FACT("frequency", "frequency limits", host_read_frequency, WORD), .hardware = TRUE, .plan = host_plan_frequency,
	  .advice = CPUFREQ },
	{ FACT("isolated", "isolated CPUs", host_read_isolated, MEASURING),
	  .advice = "add isolcpus=managed_irq,domain,{cpus} to the kernel's command line and reboot" },
	{ FACT("nohz_full", "CPUs without a tick", host_read_nohz_full, MEASURING),
	  .advice = "add nohz_full={cpus} rcu_nocbs={cpus} to the kernel's command line and reboot" },
	{ FACT("irqs", "interrupts on measuring CPUs", host_read_irqs, MOST), .plan = host_plan_irqs,
	  .advice = "leave other CPUs than {cpus} to interrupts: irqaffinity= on the kernel's command line, or fewer vm_cpus" },
	{ FACT("numa", "NUMA nodes of measuring CPUs", host_read_numa, MOST), .standard = "1",
	  .advice = "give the host vm_cpus of one node (lscpu shows them)" },
	{ FACT("thp", "transparent huge pages", host_read_thp, WORD), .plan = host_plan_thp,
	  .advice = "boot a kernel with CONFIG_TRANSPARENT_HUGEPAGE" },
	{ FACT("ksm", "merging of equal pages (KSM)", host_read_ksm, WORD), .standard = "off", .plan = host_plan_ksm,
	  .advice = "echo 0 > /sys/kernel/mm/ksm/run" },
	{ FACT("swap", "swap", host_read_swap, WORD),
	  .advice = "swapoff -a, and take swap out of /etc/fstab: only a person knows whether memory suffices" },
	{ FACT("clocksource", "clock source", host_read_clocksource, WORD), .standard = "tsc", .plan = host_plan_clocksource,
	  .advice = "see the kernel's log for why {wanted} is not offered; tsc=reliable on its command line if the processor's is good" },
	{ FACT("microcode", "microcode", host_read_microcode, WORD), .hardware = TRUE, .advice = "install microcode {wanted}" },
	{ FACT("mitigations", "vulnerabilities", host_read_mitigations, NOTE) },
	{ FACT("kernel", "kernel", host_read_kernel, WORD), .advice = "boot kernel {wanted}" },
	{ FACT("qemu", "QEMU", host_read_qemu, WORD), .advice = "install QEMU {wanted}" },
	{ FACT("libvirt", "libvirt", host_read_libvirt, WORD), .advice = "install libvirt {wanted}" },
	{ FACT("load", "load", host_read_load, MOST), .moves = TRUE, .advice = "end what else runs (top shows it), or wait" },
	{ FACT("steal", "steal, %", host_read_steal, MOST), .moves = TRUE,
	  .advice = "give this virtual machine CPUs of its own on its host" },
	{ FACT("temperature", "hottest sensor, °C", host_read_temperature, MOST), .hardware = TRUE, .moves = TRUE,
	  .advice = "wait, or look after fans and air" },
	{ FACT("throttled", "throttled for heat, times", host_read_throttled, MOST), .hardware = TRUE, .moves = TRUE,
	  .advice = "look after fans and air, then reboot: the counters begin again" },
	{ FACT("guests", "other virtual machines", host_read_guests, MOST), .moves = TRUE,
	  .advice = "shut them down (virsh list shows those of libvirt)" },
};
const gsize host_n_facts = G_N_ELEMENTS(host_facts);

const HostFactRow *host_fact_row(const char *name)
{
	for (gsize i = 0; i < host_n_facts; i++)
		if (g_str_equal(host_facts[i].name, name))
			return &host_facts[i];
	return NULL;
}

gboolean host_fact_read(const HostFactRow *row, const HostMachine *machine, char **ret_value, char **ret_reason)
{
	if (row->hardware && machine->hypervisor)
		return host_unknown(ret_reason, "only the host of this virtual machine knows (%s)", machine->hypervisor);
	return row->read(machine, ret_value, ret_reason);
}

gboolean host_unknown(char **ret_reason, const char *format, ...)
{
	va_list args;

	if (!ret_reason)
		return FALSE;
	va_start(args, format);
	*ret_reason = g_strdup_vprintf(format, args);
	va_end(args);
	return FALSE;
}

void host_write_free(gpointer data)
{
	HostWrite *write = data;

	g_free(write->path);
	g_free(write->value);
	g_free(write);
}

void host_plan_write(const HostMachine *machine, GPtrArray *writes, const char *path, const char *value)
{
	g_autofree char *text = NULL, *now = NULL;
	HostWrite *write;

	if (!host_file_read(machine->root, path, &text, NULL))
		return;
	now = host_file_choice(text);
	if (g_str_equal(now, value))
		return;
	write = g_new(HostWrite, 1);
	write->path = g_strdup(path);
	write->value = g_strdup(value);
	g_ptr_array_add(writes, write);
}

gboolean host_cpus_have(const GArray *cpus, int cpu)
{
	for (guint i = 0; i < cpus->len; i++)
		if (g_array_index(cpus, int, i) == cpu)
			return TRUE;
	return FALSE;
}

/* ---- the machine ---- */

/* What a virtual machine says it runs on; NULL: it is hardware, or says nothing. The caller's. */
static char *find_hypervisor(const char *root)
{
	g_autofree char *cpuinfo = NULL, *vendor = NULL, *product = NULL, *type = NULL;

	/* the processor's own word: Linux shows CPUID's hypervisor bit as a flag */
	gboolean flag = host_file_read(root, "/proc/cpuinfo", &cpuinfo, NULL) && strstr(cpuinfo, " hypervisor");
	if (host_file_read(root, "/sys/hypervisor/type", &type, NULL) && *type)
		return g_steal_pointer(&type);
	if (!flag)
		return NULL;
	if (!host_file_read(root, "/sys/class/dmi/id/sys_vendor", &vendor, NULL) || !*vendor)
		return g_strdup("its hypervisor has no name");
	host_file_read(root, "/sys/class/dmi/id/product_name", &product, NULL);
	return g_strstrip(g_strdup_printf("%s %s", vendor, product ? product : ""));
}

gboolean host_machine_init(HostMachine *machine, const char *root, const char *cpus, GError **error)
{
	g_autofree char *online = NULL;
	g_autoptr(GArray) list = NULL;

	if (!*cpus && host_file_read(root, HOST_CPU_DIR "/online", &online, NULL) && *online)
		cpus = online;
	if (!cpu_list_parse(cpus, &list, error))
		return FALSE;
	machine->root = root;
	machine->cpus = g_steal_pointer(&list);
	machine->hypervisor = find_hypervisor(root);
	return TRUE;
}

void host_machine_clear(HostMachine *machine)
{
	g_clear_pointer(&machine->cpus, g_array_unref);
	g_clear_pointer(&machine->hypervisor, g_free);
}
