/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Facts that are true for a moment: load, steal, heat, other guests. */
#include <stdio.h>
#include <string.h>

#include "host/files.h"
#include "host/readers.h"
#include "host/ticks.h"

gboolean host_read_load(const HostMachine *machine, char **ret_value, char **ret_reason)
{
	g_autofree char *text = NULL;

	if (!host_file_read(machine->root, "/proc/loadavg", &text, ret_reason))
		return FALSE;
	*ret_value = g_strndup(text, strcspn(text, " "));
	return TRUE;
}

gboolean host_read_steal(const HostMachine *machine, char **ret_value, char **ret_reason)
{
	HostTicks ticks;

	if (!host_ticks_read(machine, &ticks, ret_reason))
		return FALSE;
	*ret_value = g_strdup_printf("%.2f %% since it booted", ticks.all ? 100.0 * (double)ticks.steal / (double)ticks.all : 0);
	return TRUE;
}

/* ---- heat ---- */

/* The highest of dir/PREFIX*\/FILES, in thousandths of a degree; G_MININT64: none. */
static gint64 hottest(const HostMachine *machine, const char *dir, const char *prefix, const char *file_prefix,
		      const char *file_suffix)
{
	g_autoptr(GPtrArray) devices = host_file_list(machine->root, dir, prefix);
	gint64 top = G_MININT64;

	for (guint i = 0; i < devices->len; i++) {
		g_autofree char *device = g_strdup_printf("%s/%s", dir, (char *)g_ptr_array_index(devices, i));
		g_autoptr(GPtrArray) files = host_file_list(machine->root, device, file_prefix);
		for (guint k = 0; k < files->len; k++) {
			g_autofree char *path = g_strdup_printf("%s/%s", device, (char *)g_ptr_array_index(files, k));
			gint64 value;
			if (g_str_has_suffix(path, file_suffix) && host_file_read_int(machine->root, path, &value, NULL))
				top = MAX(top, value);
		}
	}
	return top;
}

gboolean host_read_temperature(const HostMachine *machine, char **ret_value, char **ret_reason)
{
	gint64 top = hottest(machine, "/sys/class/hwmon", "hwmon", "temp", "_input");

	if (top == G_MININT64)
		top = hottest(machine, "/sys/class/thermal", "thermal_zone", "temp", "/temp");
	if (top == G_MININT64)
		return host_unknown(ret_reason, "no sensor in /sys/class/hwmon or /sys/class/thermal");
	*ret_value = g_strdup_printf("%.0f °C", (double)top / 1000);
	return TRUE;
}

gboolean host_read_throttled(const HostMachine *machine, char **ret_value, char **ret_reason)
{
	guint64 count;

	if (!host_throttle_count(machine, &count))
		return host_unknown(ret_reason, "the processor does not count it (no thermal_throttle)");
	*ret_value = g_strdup_printf("%" G_GUINT64_FORMAT, count);
	return TRUE;
}

/* ---- other guests ---- */

gboolean host_read_guests(const HostMachine *machine, char **ret_value, char **ret_reason)
{
	static const char *const names[] = { "qemu-system", "qemu-kvm", "kvm", "cloud-hyperviso", "firecracker", "crosvm" };
	g_autoptr(GPtrArray) entries = host_file_list(machine->root, "/proc", "");
	guint guests = 0, processes = 0;

	for (guint i = 0; i < entries->len; i++) {
		const char *pid = g_ptr_array_index(entries, i);
		g_autofree char *path = g_strdup_printf("/proc/%s/comm", pid), *comm = NULL;
		/* processes end while they are looked at */
		if (!g_ascii_isdigit(*pid) || !host_file_read(machine->root, path, &comm, NULL))
			continue;
		processes++;
		gboolean guest = FALSE;
		for (gsize k = 0; k < G_N_ELEMENTS(names) && !guest; k++)
			guest = g_str_equal(names[k], "kvm") ? g_str_equal(comm, "kvm") : g_str_has_prefix(comm, names[k]);
		guests += guest;
	}
	if (!processes)
		return host_unknown(ret_reason, "/proc has no processes to be seen");
	*ret_value = g_strdup_printf("%u", guests);
	return TRUE;
}
