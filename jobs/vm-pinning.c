/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "jobs/vm-pinning.h"

#include <string.h>

#include "jobs/spec/cpus.h"
#include "jobs/spec/file.h"
#include "jobs/vm-host.h"

#define STATUS_MAX_BYTES	(64 * 1024)

/* The value of a line "KEY:\tVALUE"; the caller's, NULL if there is none. */
static char *status_value(const char *status, const char *key)
{
	g_autofree char *start = g_strdup_printf("%s:\t", key);
	const char *line = g_str_has_prefix(status, start) ? status : NULL;

	if (!line) {
		g_autofree char *inner = g_strconcat("\n", start, NULL);
		g_assert(status && inner);
		line = strstr(status, inner);
		if (!line)
			return NULL;
		line++;
	}
	line += strlen(start);
	return g_strndup(line, strcspn(line, "\n"));
}

static gboolean same(const char *allowed, const char *wanted)
{
	g_autoptr(GArray) has = NULL, may = NULL;

	return cpu_list_parse(allowed, &has, NULL) && cpu_list_parse(wanted, &may, NULL) && has->len == may->len &&
	       memcmp(has->data, may->data, has->len * sizeof(int)) == 0;
}

/* Where a thread of that name belongs; the caller's, NULL: anywhere. */
static char *wanted_cpus(const char *name, const HostPlacement *placement, JobClock clock)
{
	guint64 number;

	if (!placement || !placement->vcpus->len)
		return NULL;
	/* a thread of the kernel's own in QEMU's process, and one that touched memory before the guest ran, on all of its node, and sleeps */
	if (g_str_has_prefix(name, "kvm-") || g_str_has_prefix(name, "TC "))
		return NULL;
	if (clock == CLOCK_ICOUNT)
		return g_strdup(placement->vcpu_list);
	/* not "IO mon_iothread", which is the emulator's */
	if (g_str_has_prefix(name, "IO iothread"))
		return g_strdup(placement->io);
	if (!g_str_has_prefix(name, "CPU "))
		return g_strdup(placement->emulator);
	g_auto(GStrv) words = g_strsplit(name + strlen("CPU "), "/", 2);
	if (!words[0] || !g_ascii_string_to_unsigned(words[0], 10, 0, placement->vcpus->len - 1, &number, NULL))
		return g_strdup(placement->vcpu_list);
	return g_strdup_printf("%d", g_array_index(placement->vcpus, int, (guint)number));
}

static gboolean check_thread(const char *status, const char *tid, const HostPlacement *placement, JobClock clock, GString *report,
			     GError **error)
{
	g_autofree char *name = status_value(status, "Name");
	g_autofree char *allowed = status_value(status, "Cpus_allowed_list");

	if (!name || !allowed)
		return TRUE;
	g_autofree char *wanted = wanted_cpus(name, placement, clock);
	g_string_append_printf(report, "%s %s %s\n", tid, name, allowed);
	if (!wanted || same(allowed, wanted))
		return TRUE;
	g_set_error(error, VM_ERROR, VM_ERROR_PINNING,
		    "QEMU's thread '%s' may run on CPUs %s and belongs on %s: the pinning did not take effect", name, allowed, wanted);
	return FALSE;
}

gboolean vm_pinning_check(pid_t pid, const HostPlacement *placement, JobClock clock, char **ret_report, GError **error)
{
	g_autofree char *tasks = g_strdup_printf("/proc/%d/task", (int)pid);
	g_autoptr(GDir) dir = g_dir_open(tasks, 0, NULL);
	GString *report = g_string_new(NULL);
	gboolean right = TRUE;
	const char *tid;

	if (!dir) {
		g_set_error(error, VM_ERROR, VM_ERROR_ACCESS, "QEMU's process %d is gone or cannot be looked at", (int)pid);
		right = FALSE;
	}
	while (dir && (tid = g_dir_read_name(dir))) {
		g_autofree char *path = g_build_filename(tasks, tid, "status", NULL);
		g_autofree char *status = NULL;
		/* a thread may end while we look */
		if (file_read(path, STATUS_MAX_BYTES, &status, NULL, NULL) &&
		    !check_thread(status, tid, placement, clock, report, right ? error : NULL))
			right = FALSE;
	}
	*ret_report = g_string_free(report, FALSE);
	return right;
}
