/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/cpus.h"

#include <errno.h>

#include "host/topology.h"
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

/* with_others: other threads of guests are kept off, too. */
static gboolean find_measuring(const Config *config, gboolean with_others, GArray **ret_cpus, GError **error)
{
	g_autoptr(GArray) cpus = g_array_new(FALSE, FALSE, sizeof(int));

	for (guint i = 0; i < config->hosts->len; i++) {
		const ConfigHost *host = g_ptr_array_index(config->hosts, i);

		if (config_host_is_here(host) && (!add_list(cpus, host->vm_cpus, error) ||
						  (with_others && !add_list(cpus, host->other_cpus, error))))
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

static GArray *without(const GArray *all, const GArray *taken)
{
	GArray *left = g_array_new(FALSE, FALSE, sizeof(int));

	for (guint i = 0; i < all->len; i++)
		if (!contains(taken, g_array_index(all, int, i)))
			g_array_append_val(left, g_array_index(all, int, i));
	return left;
}

gboolean cpus_of_daemon(const Config *config, GArray **ret_cpus, GError **error)
{
	g_autoptr(GArray) measuring = NULL, vcpus = NULL, all = NULL, left = NULL;

	if (!find_measuring(config, TRUE, &measuring, error) || !find_measuring(config, FALSE, &vcpus, error) ||
	    !cpu_list_parse(config->cpus, &all, error))
		return FALSE;
	if (*config->cpus) {
		if (!check_configured(all, measuring, error))
			return FALSE;
		*ret_cpus = g_steal_pointer(&all);
		return TRUE;
	}
	left = without(all, measuring);
	if (!left->len) {
		g_array_unref(left);
		left = without(all, vcpus);
	}
	*ret_cpus = measuring->len && left->len ? g_steal_pointer(&left) : NULL;
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

cpu_set_t cpus_of_builds(const Config *config, const cpu_set_t *all)
{
	g_autoptr(GArray) cpus = NULL;
	cpu_set_t set;

	/* checked when it was read */
	if (!*config->build_cpus || !cpu_list_parse(config->build_cpus, &cpus, NULL))
		return *all;
	CPU_ZERO(&set);
	for (guint i = 0; i < cpus->len; i++)
		CPU_SET(g_array_index(cpus, int, i), &set);
	return set;
}

static gboolean overlap(const char *left, const char *right)
{
	g_autoptr(GArray) a = NULL, b = NULL;

	/* both were checked when they were read; what this process cannot tell counts as an overlap */
	if (!cpu_list_parse(left, &a, NULL) || !cpu_list_parse(right, &b, NULL))
		return TRUE;
	for (guint i = 0; i < a->len; i++)
		for (guint j = 0; j < b->len; j++)
			if (g_array_index(a, int, i) == g_array_index(b, int, j))
				return TRUE;
	return FALSE;
}

/* Whether siblings of measuring CPUs build: they share a core, and have to be idle. */
static gboolean on_siblings(const char *build, const char *measuring)
{
	g_autoptr(HostTopology) topology = NULL;
	g_autoptr(GArray) a = NULL, b = NULL;

	if (!cpu_list_parse(build, &a, NULL) || !cpu_list_parse(measuring, &b, NULL) || !host_topology_read("", &topology, NULL))
		return FALSE;
	for (guint i = 0; i < a->len; i++)
		for (guint j = 0; j < b->len; j++) {
			const HostCpu *one = host_topology_cpu(topology, g_array_index(a, int, i));
			const HostCpu *other = host_topology_cpu(topology, g_array_index(b, int, j));
			if (one && other && one->core == other->core)
				return TRUE;
		}
	return FALSE;
}

gboolean cpus_build_disturbs(const Config *config, const ConfigHost *host)
{
	if (!config_host_is_here(host))
		return FALSE;
	return overlap(config->build_cpus, host->vm_cpus) || on_siblings(config->build_cpus, host->vm_cpus) ||
	       (*host->other_cpus && overlap(config->build_cpus, host->other_cpus));
}
