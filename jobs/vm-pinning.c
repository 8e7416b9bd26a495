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

static gboolean within(const char *allowed, const char *wanted)
{
	g_autoptr(GArray) has = NULL, may = NULL;

	if (!*wanted)
		return TRUE;
	if (!cpu_list_parse(allowed, &has, NULL) || !cpu_list_parse(wanted, &may, NULL))
		return FALSE;
	for (guint i = 0, j = 0; i < has->len; i++) {
		int cpu = g_array_index(has, int, i);
		while (j < may->len && g_array_index(may, int, j) < cpu)
			j++;
		if (j == may->len || g_array_index(may, int, j) != cpu)
			return FALSE;
	}
	return TRUE;
}

static gboolean is_vcpu(const char *name)
{
	return g_str_has_prefix(name, "CPU ") || g_str_has_prefix(name, "ALL CPUs");
}

static gboolean check_thread(const char *status, const char *tid, const char *vm_cpus, const char *other_cpus,
			     GString *report, GError **error)
{
	g_autofree char *name = status_value(status, "Name");
	g_autofree char *allowed = status_value(status, "Cpus_allowed_list");

	if (!name || !allowed)
		return TRUE;
	const char *wanted = is_vcpu(name) ? vm_cpus : other_cpus;
	g_string_append_printf(report, "%s %s %s\n", tid, name, allowed);
	if (within(allowed, wanted))
		return TRUE;
	g_set_error(error, VM_ERROR, VM_ERROR_PINNING,
		    "QEMU's thread '%s' may run on CPUs %s, not only on %s: the pinning did not take effect", name, allowed,
		    wanted);
	return FALSE;
}

gboolean vm_pinning_check(pid_t pid, const char *vm_cpus, const char *other_cpus, char **ret_report, GError **error)
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
		    !check_thread(status, tid, vm_cpus, other_cpus, report, right ? error : NULL))
			right = FALSE;
	}
	*ret_report = g_string_free(report, FALSE);
	return right;
}
