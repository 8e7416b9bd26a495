/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "jobs/spec/cpus.h"

#include <errno.h>
#include <sched.h>

#include "jobs/spec/error.h"

static gboolean parse_cpu(const char **text, int *ret_cpu)
{
	char *end;

	if (!g_ascii_isdigit(**text))
		return FALSE;
	guint64 value = g_ascii_strtoull(*text, &end, 10);
	if (value >= CPU_SETSIZE)
		return FALSE;
	*text = end;
	*ret_cpu = (int)value;
	return TRUE;
}

static gboolean parse_cpus(const char *list, cpu_set_t *set)
{
	for (;;) {
		int first, last;

		if (!parse_cpu(&list, &first))
			return FALSE;
		last = first;
		if (*list == '-' && (list++, !parse_cpu(&list, &last)))
			return FALSE;
		if (last < first)
			return FALSE;
		for (int cpu = first; cpu <= last; cpu++)
			CPU_SET(cpu, set);
		if (!*list)
			return TRUE;
		if (*list++ != ',')
			return FALSE;
	}
}

gboolean cpu_list_parse(const char *list, GArray **ret_cpus, GError **error)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	if (!list || !*list) {
		if (sched_getaffinity(0, sizeof(set), &set) < 0)
			return spec_error_set(error, SPEC_ERROR_IO, "cpus", "cannot be asked for: %s",
					      g_strerror(errno));
	} else if (!parse_cpus(list, &set)) {
		return spec_error_set(error, SPEC_ERROR_VALUE, "cpus",
				      "'%s' is not a list of CPUs such as 0-3,8 with numbers below %d", list, CPU_SETSIZE);
	}

	*ret_cpus = g_array_new(FALSE, FALSE, sizeof(int));
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, &set))
			g_array_append_val(*ret_cpus, cpu);
	return TRUE;
}

char *cpu_list_format(const GArray *cpus)
{
	GString *list = g_string_new(NULL);

	for (guint i = 0; i < cpus->len; i++) {
		int first = g_array_index(cpus, int, i), last = first;
		while (i + 1 < cpus->len && g_array_index(cpus, int, i + 1) == last + 1) {
			last++;
			i++;
		}
		g_string_append_printf(list, "%s%d", list->len ? "," : "", first);
		if (last > first)
			g_string_append_printf(list, "-%d", last);
	}
	return g_string_free(list, FALSE);
}
