/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Facts of processors: clock, siblings, what else the kernel does on them. */
#include <string.h>

#include "host/files.h"
#include "host/readers.h"
#include "jobs/spec/cpus.h"

/* ---- turbo ---- */

#define INTEL_NO_TURBO	HOST_CPU_DIR "/intel_pstate/no_turbo"
#define BOOST		HOST_CPU_DIR "/cpufreq/boost"
#define POLICIES	HOST_CPU_DIR "/cpufreq"

/* Every file that switches turbo, with what it has and what it has when turbo is off. */
typedef void (*TurboFunc)(const char *path, const char *value, const char *off, gpointer user);

static void each_turbo_file(const HostMachine *machine, TurboFunc func, gpointer user)
{
	static const struct {
		const char *path, *off;
	} single[] = { { INTEL_NO_TURBO, "1" }, { BOOST, "0" } };
	g_autoptr(GPtrArray) policies = host_file_list(machine->root, POLICIES, "policy");

	for (gsize i = 0; i < G_N_ELEMENTS(single); i++) {
		g_autofree char *value = NULL;
		if (host_file_read(machine->root, single[i].path, &value, NULL))
			func(single[i].path, value, single[i].off, user);
	}
	/* amd_pstate, and others since Linux 6.11, have one a policy too */
	for (guint i = 0; i < policies->len; i++) {
		g_autofree char *path = g_strdup_printf(POLICIES "/%s/boost", (char *)g_ptr_array_index(policies, i));
		g_autofree char *value = NULL;
		if (host_file_read(machine->root, path, &value, NULL))
			func(path, value, "0", user);
	}
}

typedef struct {
	int files, on;
} TurboCount;

static void count_turbo(const char *path G_GNUC_UNUSED, const char *value, const char *off, gpointer user)
{
	TurboCount *count = user;

	count->files++;
	count->on += !g_str_equal(value, off);
}

gboolean host_read_turbo(const HostMachine *machine, char **ret_value, char **ret_reason)
{
	TurboCount count = { 0 };

	each_turbo_file(machine, count_turbo, &count);
	if (!count.files)
		return host_unknown(ret_reason, "the kernel has no switch for it (no intel_pstate/no_turbo, no cpufreq/boost)");
	*ret_value = g_strdup(count.on ? "on" : "off");
	return TRUE;
}

typedef struct {
	const HostMachine *machine;
	GPtrArray *writes;
	gboolean off;
} TurboPlan;

static void plan_turbo_file(const char *path, const char *value G_GNUC_UNUSED, const char *off, gpointer user)
{
	const TurboPlan *plan = user;
	const char *on = g_str_equal(off, "1") ? "0" : "1";

	host_plan_write(plan->machine, plan->writes, path, plan->off ? off : on);
}

void host_plan_turbo(const HostMachine *machine, const char *wanted, GPtrArray *writes)
{
	TurboPlan plan = { machine, writes, g_str_equal(wanted, "off") };

	each_turbo_file(machine, plan_turbo_file, &plan);
}

/* ---- cpufreq of each measuring CPU ---- */

static char *cpufreq_path(int cpu, const char *name)
{
	return g_strdup_printf(HOST_CPU_DIR "/cpu%d/cpufreq/%s", cpu, name);
}

gboolean host_read_governor(const HostMachine *machine, char **ret_value, char **ret_reason)
{
	g_autoptr(GPtrArray) seen = g_ptr_array_new_with_free_func(g_free);

	for (guint i = 0; i < machine->cpus->len; i++) {
		g_autofree char *path = cpufreq_path(g_array_index(machine->cpus, int, i), "scaling_governor");
		g_autofree char *value = NULL;
		if (host_file_read(machine->root, path, &value, NULL) &&
		    !g_ptr_array_find_with_equal_func(seen, value, g_str_equal, NULL))
			g_ptr_array_add(seen, g_steal_pointer(&value));
	}
	if (!seen->len)
		return host_unknown(ret_reason, "the measuring CPUs have no cpufreq: firmware or processor choose the frequency");
	g_ptr_array_add(seen, NULL);
	g_autofree char *all = g_strjoinv(", ", (char **)seen->pdata);
	*ret_value = seen->len == 2 ? g_strdup(all) : g_strdup_printf("mixed: %s", all);
	return TRUE;
}

void host_plan_governor(const HostMachine *machine, const char *wanted, GPtrArray *writes)
{
	for (guint i = 0; i < machine->cpus->len; i++) {
		g_autofree char *path = cpufreq_path(g_array_index(machine->cpus, int, i), "scaling_governor");
		host_plan_write(machine, writes, path, wanted);
	}
}

gboolean host_read_frequency(const HostMachine *machine, char **ret_value, char **ret_reason)
{
	gint64 low = 0, high = 0;

	for (guint i = 0; i < machine->cpus->len; i++) {
		int cpu = g_array_index(machine->cpus, int, i);
		g_autofree char *min_path = cpufreq_path(cpu, "scaling_min_freq"), *max_path = cpufreq_path(cpu, "scaling_max_freq");
		gint64 min, max;
		if (!host_file_read_int(machine->root, min_path, &min, NULL) ||
		    !host_file_read_int(machine->root, max_path, &max, NULL))
			continue;
		low = high ? MIN(low, min) : min;
		high = MAX(high, max);
	}
	if (!high)
		return host_unknown(ret_reason, "the measuring CPUs have no cpufreq: firmware or processor choose the frequency");
	if (low == high)
		*ret_value = g_strdup_printf("fixed %" G_GINT64_FORMAT " MHz", high / 1000);
	else
		*ret_value = g_strdup_printf("free %" G_GINT64_FORMAT "-%" G_GINT64_FORMAT " MHz", low / 1000, high / 1000);
	return TRUE;
}

/* The lower limit of every measuring CPU becomes the least of their upper limits. */
void host_plan_frequency(const HostMachine *machine, const char *wanted, GPtrArray *writes)
{
	gint64 top = 0;

	if (!g_str_equal(wanted, "fixed"))
		return;
	for (guint i = 0; i < machine->cpus->len; i++) {
		g_autofree char *path = cpufreq_path(g_array_index(machine->cpus, int, i), "scaling_max_freq");
		gint64 max;
		if (host_file_read_int(machine->root, path, &max, NULL) && (!top || max < top))
			top = max;
	}
	for (guint i = 0; top && i < machine->cpus->len; i++) {
		int cpu = g_array_index(machine->cpus, int, i);
		g_autofree char *max_path = cpufreq_path(cpu, "scaling_max_freq"), *min_path = cpufreq_path(cpu, "scaling_min_freq");
		g_autofree char *value = g_strdup_printf("%" G_GINT64_FORMAT, top);
		host_plan_write(machine, writes, max_path, value);
		host_plan_write(machine, writes, min_path, value);
	}
}

/* ---- siblings ---- */

#define SMT_CONTROL HOST_CPU_DIR "/smt/control"

gboolean host_read_smt(const HostMachine *machine, char **ret_value, char **ret_reason)
{
	g_autofree char *control = NULL;

	if (!host_file_read(machine->root, SMT_CONTROL, &control, ret_reason))
		return FALSE;
	if (g_str_equal(control, "notimplemented"))
		return host_unknown(ret_reason, "the kernel cannot tell on this architecture");
	if (g_str_equal(control, "notsupported"))
		*ret_value = g_strdup("off (the processor has none)");
	else
		*ret_value = g_strdup(g_str_equal(control, "on") ? "on" : "off");
	return TRUE;
}

void host_plan_smt(const HostMachine *machine, const char *wanted, GPtrArray *writes)
{
	g_autofree char *control = NULL;

	/* forceoff and notsupported are for good, until the next boot at least */
	if (host_file_read(machine->root, SMT_CONTROL, &control, NULL) &&
	    (g_str_equal(control, "on") || g_str_equal(control, "off")))
		host_plan_write(machine, writes, SMT_CONTROL, wanted);
}

/* ---- CPUs that are kept free, by the kernel's command line ---- */

static gboolean read_list(const HostMachine *machine, const char *path, char **ret_value, char **ret_reason)
{
	g_autofree char *list = NULL;

	if (!host_file_read(machine->root, path, &list, ret_reason))
		return FALSE;
	*ret_value = g_strdup(*list && !g_str_equal(list, "(null)") ? list : "none");
	return TRUE;
}

gboolean host_read_isolated(const HostMachine *machine, char **ret_value, char **ret_reason)
{
	return read_list(machine, HOST_CPU_DIR "/isolated", ret_value, ret_reason);
}

gboolean host_read_nohz_full(const HostMachine *machine, char **ret_value, char **ret_reason)
{
	if (!host_file_exists(machine->root, HOST_CPU_DIR "/nohz_full") &&
	    host_file_exists(machine->root, HOST_CPU_DIR "/isolated")) {
		*ret_value = g_strdup("none (the kernel is built without CONFIG_NO_HZ_FULL)");
		return TRUE;
	}
	return read_list(machine, HOST_CPU_DIR "/nohz_full", ret_value, ret_reason);
}
