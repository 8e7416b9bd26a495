/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "host/ticks.h"

#include <stdio.h>
#include <string.h>

#include "host/files.h"
#include "host/readers.h"

#define STEAL_FIELD	7	/* user nice system idle iowait irq softirq steal; guest time is in user already */

/* One line "cpuN 1 2 3 ..."; FALSE: of no measuring CPU. */
static gboolean add_line(const HostMachine *machine, const char *line, HostTicks *ticks)
{
	char *at;

	if (!g_str_has_prefix(line, "cpu") || !g_ascii_isdigit(line[3]) ||
	    !host_cpus_have(machine->cpus, (int)g_ascii_strtoll(line + 3, &at, 10)))
		return FALSE;
	for (int field = 0; field <= STEAL_FIELD && *at; field++) {
		guint64 value = g_ascii_strtoull(at, &at, 10);
		ticks->all += value;
		if (field == STEAL_FIELD)
			ticks->steal += value;
	}
	return TRUE;
}

gboolean host_ticks_read(const HostMachine *machine, HostTicks *ret_ticks, char **ret_reason)
{
	g_autofree char *text = NULL;
	HostTicks ticks = { 0 };
	guint seen = 0;

	if (!host_file_read(machine->root, "/proc/stat", &text, ret_reason))
		return FALSE;
	for (const char *line = text; line; line = strchr(line, '\n'), line = line ? line + 1 : NULL)
		seen += add_line(machine, line, &ticks);
	if (!seen)
		return host_unknown(ret_reason, "/proc/stat has none of the measuring CPUs");
	*ret_ticks = ticks;
	return TRUE;
}

double host_ticks_steal_pct(const HostTicks *before, const HostTicks *after)
{
	/* both counters may step back a little */
	if (after->all <= before->all || after->steal <= before->steal)
		return 0;
	return 100.0 * (double)(after->steal - before->steal) / (double)(after->all - before->all);
}

gboolean host_throttle_count(const HostMachine *machine, guint64 *ret_count)
{
	static const char *const names[] = { "core_throttle_count", "package_throttle_count" };
	guint64 count = 0;
	gboolean seen = FALSE;

	for (guint i = 0; i < machine->cpus->len; i++) {
		for (gsize k = 0; k < G_N_ELEMENTS(names); k++) {
			g_autofree char *path = g_strdup_printf(HOST_CPU_DIR "/cpu%d/thermal_throttle/%s",
								g_array_index(machine->cpus, int, i), names[k]);
			gint64 value;
			if (!host_file_read_int(machine->root, path, &value, NULL))
				continue;
			count += (guint64)MAX(value, 0);
			seen = TRUE;
		}
	}
	*ret_count = count;
	return seen;
}

gboolean host_frequency_mhz(const HostMachine *machine, double *ret_mhz)
{
	double sum = 0;
	guint seen = 0;

	for (guint i = 0; i < machine->cpus->len; i++) {
		/* scaling_cur_freq tells what the last tick saw; cpuinfo_cur_freq would interrupt the CPU to ask it */
		g_autofree char *path = g_strdup_printf(HOST_CPU_DIR "/cpu%d/cpufreq/scaling_cur_freq",
							g_array_index(machine->cpus, int, i));
		gint64 khz;
		if (!host_file_read_int(machine->root, path, &khz, NULL))
			continue;
		sum += (double)khz / 1000;
		seen++;
	}
	if (seen)
		*ret_mhz = sum / seen;
	return seen > 0;
}
