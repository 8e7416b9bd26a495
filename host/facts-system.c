/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Facts of the machine and what runs on it for good: interrupts, clock source, kernel, versions. */
#include <string.h>

#include "host/files.h"
#include "host/readers.h"
#include "jobs/spec/cpus.h"

#define CLOCKSOURCE	"/sys/devices/system/clocksource/clocksource0"
#define VULNERABLE	HOST_CPU_DIR "/vulnerabilities"

gboolean host_read_machine(const HostMachine *machine, char **ret_value, char **ret_reason G_GNUC_UNUSED)
{
	*ret_value = machine->hypervisor ? g_strdup_printf("virtual (%s)", machine->hypervisor) : g_strdup("hardware");
	return TRUE;
}

/* ---- interrupts ---- */

typedef void (*IrqFunc)(const HostMachine *machine, const char *path, const GArray *on, gpointer user);

/* Each interrupt that may come to a measuring CPU; how many interrupts there are. */
static guint each_irq(const HostMachine *machine, IrqFunc func, gpointer user)
{
	g_autoptr(GPtrArray) irqs = host_file_list(machine->root, "/proc/irq", "");
	guint seen = 0;

	for (guint i = 0; i < irqs->len; i++) {
		g_autofree char *path = g_strdup_printf("/proc/irq/%s/smp_affinity_list", (char *)g_ptr_array_index(irqs, i));
		g_autofree char *list = NULL;
		g_autoptr(GArray) on = NULL;
		if (!host_file_read(machine->root, path, &list, NULL) || !*list || !cpu_list_parse(list, &on, NULL))
			continue;
		seen++;
		gboolean measures = FALSE;
		for (guint k = 0; k < on->len && !measures; k++)
			measures = host_cpus_have(machine->cpus, g_array_index(on, int, k));
		if (measures)
			func(machine, path, on, user);
	}
	return seen;
}

static void count_irq(const HostMachine *machine G_GNUC_UNUSED, const char *path G_GNUC_UNUSED, const GArray *on G_GNUC_UNUSED,
		      gpointer user)
{
	++*(guint *)user;
}

gboolean host_read_irqs(const HostMachine *machine, char **ret_value, char **ret_reason)
{
	guint here = 0, all = each_irq(machine, count_irq, &here);

	if (!all)
		return host_unknown(ret_reason, "/proc/irq has no interrupt whose affinity can be read");
	*ret_value = g_strdup_printf("%u of %u", here, all);
	return TRUE;
}

/* The CPUs of a list that do not measure, as a list; empty: all measure. */
static char *others(const HostMachine *machine, const GArray *cpus)
{
	GString *list = g_string_new(NULL);

	for (guint i = 0; i < cpus->len; i++) {
		int cpu = g_array_index(cpus, int, i);
		if (!host_cpus_have(machine->cpus, cpu))
			g_string_append_printf(list, "%s%d", list->len ? "," : "", cpu);
	}
	return g_string_free(list, FALSE);
}

static void move_irq(const HostMachine *machine, const char *path, const GArray *on, gpointer user)
{
	g_autofree char *away = others(machine, on), *online = NULL;
	g_autoptr(GArray) cpus = NULL;

	if (!*away && host_file_read(machine->root, HOST_CPU_DIR "/online", &online, NULL) && *online &&
	    cpu_list_parse(online, &cpus, NULL)) {
		g_free(away);
		away = others(machine, cpus);
	}
	if (*away)
		host_plan_write(machine, user, path, away);
}

void host_plan_irqs(const HostMachine *machine, const char *wanted G_GNUC_UNUSED, GPtrArray *writes)
{
	each_irq(machine, move_irq, writes);
}

/* ---- clock source ---- */

gboolean host_read_clocksource(const HostMachine *machine, char **ret_value, char **ret_reason)
{
	return host_file_read(machine->root, CLOCKSOURCE "/current_clocksource", ret_value, ret_reason);
}

void host_plan_clocksource(const HostMachine *machine, const char *wanted, GPtrArray *writes)
{
	g_autofree char *available = NULL;

	if (!host_file_read(machine->root, CLOCKSOURCE "/available_clocksource", &available, NULL))
		return;
	g_auto(GStrv) words = g_strsplit(available, " ", -1);
	if (g_strv_contains((const char *const *)words, wanted))
		host_plan_write(machine, writes, CLOCKSOURCE "/current_clocksource", wanted);
}

/* ---- processor and kernel ---- */

/* The value of a line "KEY : VALUE" of /proc/cpuinfo, of its first processor; the caller's. */
static gboolean cpuinfo(const HostMachine *machine, const char *key, char **ret_value, char **ret_reason)
{
	g_autofree char *text = NULL;

	if (!host_file_read(machine->root, "/proc/cpuinfo", &text, ret_reason))
		return FALSE;
	g_auto(GStrv) lines = g_strsplit(text, "\n", 200);
	for (char **line = lines; *line; line++) {
		char *colon = strchr(*line, ':');
		if (!colon || !g_str_has_prefix(*line, key))
			continue;
		*ret_value = g_strstrip(g_strdup(colon + 1));
		return TRUE;
	}
	return host_unknown(ret_reason, "/proc/cpuinfo does not say");
}

gboolean host_read_microcode(const HostMachine *machine, char **ret_value, char **ret_reason)
{
	return cpuinfo(machine, "microcode", ret_value, ret_reason);
}

gboolean host_read_mitigations(const HostMachine *machine, char **ret_value, char **ret_reason)
{
	g_autoptr(GPtrArray) names = host_file_list(machine->root, VULNERABLE, "");
	g_autoptr(GString) text = g_string_new(NULL);
	guint seen = 0;

	for (guint i = 0; i < names->len; i++) {
		const char *name = g_ptr_array_index(names, i);
		g_autofree char *path = g_strdup_printf(VULNERABLE "/%s", name), *state = NULL;
		if (!host_file_read(machine->root, path, &state, NULL))
			continue;
		seen++;
		if (!g_str_equal(state, "Not affected"))
			g_string_append_printf(text, "%s%s: %s", text->len ? "; " : "", name, state);
	}
	if (!seen)
		return host_unknown(ret_reason, "%s tells nothing", VULNERABLE);
	*ret_value = g_strdup(text->len ? text->str : "none needed");
	return TRUE;
}

gboolean host_read_kernel(const HostMachine *machine, char **ret_value, char **ret_reason)
{
	return host_file_read(machine->root, "/proc/sys/kernel/osrelease", ret_value, ret_reason);
}

/* ---- versions, which no file tells ---- */

/* The first number with a dot in what PROGRAM --version prints. */
static gboolean ask_version(const HostMachine *machine, const char *program, char **ret_value, char **ret_reason)
{
	g_autofree char *out = NULL;
	char *argv[] = { (char *)program, (char *)"--version", NULL };

	if (*machine->root || machine->ask_no_programs)
		return host_unknown(ret_reason, "no program was asked");
	if (!g_spawn_sync("/", argv, NULL, G_SPAWN_SEARCH_PATH | G_SPAWN_STDERR_TO_DEV_NULL, NULL, NULL, &out, NULL, NULL, NULL))
		return host_unknown(ret_reason, "there is no %s to ask", program);
	for (const char *at = strpbrk(out, "0123456789"); at; at = strpbrk(at, "0123456789")) {
		gsize size = strspn(at, "0123456789.");
		if (memchr(at, '.', size)) {
			*ret_value = g_strndup(at, size);
			return TRUE;
		}
		at += size;
	}
	return host_unknown(ret_reason, "%s does not tell its version", program);
}

gboolean host_read_qemu(const HostMachine *machine, char **ret_value, char **ret_reason)
{
	return ask_version(machine, "qemu-system-x86_64", ret_value, ret_reason);
}

gboolean host_read_libvirt(const HostMachine *machine, char **ret_value, char **ret_reason)
{
	return ask_version(machine, "libvirtd", ret_value, ret_reason);
}
