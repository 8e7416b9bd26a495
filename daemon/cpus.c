/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/cpus.h"

#include <errno.h>

#include "jobs/spec/cpus.h"

static gboolean contains(const GArray *cpus, int cpu)
{
	for (guint i = 0; i < cpus->len; i++)
		if (g_array_index(cpus, int, i) == cpu)
			return TRUE;
	return FALSE;
}

/* Only lists that say something: empty ones are "all", which leaves nothing to keep off. */
static gboolean add_list(GArray *cpus, const char *list, GError **error)
{
	g_autoptr(GArray) more = NULL;

	if (!*list)
		return TRUE;
	if (!cpu_list_parse(list, &more, error))
		return FALSE;
	g_array_append_vals(cpus, more->data, more->len);
	return TRUE;
}

static gboolean find_measuring(const Config *config, GArray **ret_cpus, GError **error)
{
	g_autoptr(GArray) cpus = g_array_new(FALSE, FALSE, sizeof(int));

	for (guint i = 0; i < config->hosts->len; i++) {
		const ConfigHost *host = g_ptr_array_index(config->hosts, i);

		if (config_host_is_here(host) && (!add_list(cpus, host->vm_cpus, error) || !add_list(cpus, host->other_cpus, error)))
			return FALSE;
	}
	*ret_cpus = g_steal_pointer(&cpus);
	return TRUE;
}

static gboolean check_configured(const GArray *configured, const GArray *measuring, GError **error)
{
	for (guint i = 0; i < configured->len; i++) {
		int cpu = g_array_index(configured, int, i);

		if (contains(measuring, cpu)) {
			g_set_error(error, CONFIG_ERROR, CONFIG_ERROR_VALUE,
				    "[daemon] cpus: CPU %d is one that a host on this machine measures on", cpu);
			return FALSE;
		}
	}
	return TRUE;
}

gboolean cpus_of_daemon(const Config *config, GArray **ret_cpus, GError **error)
{
	g_autoptr(GArray) measuring = NULL, all = NULL;

	if (!find_measuring(config, &measuring, error) || !cpu_list_parse(config->cpus, &all, error))
		return FALSE;
	if (*config->cpus) {
		if (!check_configured(all, measuring, error))
			return FALSE;
		*ret_cpus = g_steal_pointer(&all);
		return TRUE;
	}
	for (guint i = all->len; i-- > 0;)
		if (contains(measuring, g_array_index(all, int, i)))
			g_array_remove_index(all, i);
	*ret_cpus = measuring->len && all->len ? g_steal_pointer(&all) : NULL;
	return TRUE;
}

gboolean cpus_apply(const Config *config, cpu_set_t *ret_before, GError **error)
{
	g_autoptr(GArray) cpus = NULL;
	cpu_set_t before, now;

	if (!cpus_of_daemon(config, &cpus, error))
		return FALSE;
	CPU_ZERO(&now);
	for (guint i = 0; cpus && i < cpus->len; i++)
		CPU_SET(g_array_index(cpus, int, i), &now);
	if (sched_getaffinity(0, sizeof(before), &before) != 0 || (cpus && sched_setaffinity(0, sizeof(now), &now) != 0)) {
		g_set_error(error, CONFIG_ERROR, CONFIG_ERROR_VALUE, "[daemon] cpus: cannot run there: %s", g_strerror(errno));
		return FALSE;
	}
	*ret_before = before;
	return TRUE;
}
