/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "host/topology.h"

#include <string.h>

#include "host/files.h"
#include "host/readers.h"
#include "jobs/spec/cpus.h"
#include "jobs/spec/error.h"

#define NODES "/sys/devices/system/node"

static HostTopology *topology_new(void)
{
	HostTopology *topology = g_new0(HostTopology, 1);

	topology->cpus = g_array_new(FALSE, FALSE, sizeof(HostCpu));
	topology->pages = g_array_new(FALSE, FALSE, sizeof(HostPages));
	return topology;
}

void host_topology_free(HostTopology *topology)
{
	if (!topology)
		return;
	g_array_unref(topology->cpus);
	g_array_unref(topology->pages);
	g_free(topology);
}

const HostCpu *host_topology_cpu(const HostTopology *topology, int cpu)
{
	for (guint i = 0; i < topology->cpus->len; i++) {
		const HostCpu *one = &g_array_index(topology->cpus, HostCpu, i);
		if (one->cpu == cpu)
			return one;
	}
	return NULL;
}

HostTopology *host_topology_unknown(const GArray *cpus)
{
	HostTopology *topology = topology_new();

	for (guint i = 0; i < cpus->len; i++) {
		int cpu = g_array_index(cpus, int, i);
		HostCpu one = { .cpu = cpu, .node = HOST_NO_NODE, .core = cpu };
		g_array_append_val(topology->cpus, one);
	}
	return topology;
}

/* A list in a file; NULL: there is none. The caller's. */
static GArray *read_list(const char *root, const char *path)
{
	g_autofree char *text = NULL;
	GArray *cpus = NULL;

	if (host_file_read(root, path, &text, NULL) && *text && cpu_list_parse(text, &cpus, NULL))
		return cpus;
	return NULL;
}

/* The lowest CPU of a list in a file, or fallback. */
static int read_lowest(const char *root, const char *path, int fallback)
{
	g_autoptr(GArray) cpus = read_list(root, path);

	return cpus && cpus->len ? g_array_index(cpus, int, 0) : fallback;
}

/* The lowest CPU that shares the last level of cache; fallback: no file says. */
static int read_cache(const char *root, int cpu, int fallback)
{
	g_autofree char *folder = g_strdup_printf(HOST_CPU_DIR "/cpu%d/cache", cpu);
	g_autoptr(GPtrArray) indexes = host_file_list(root, folder, "index");
	gint64 top = 0;
	int found = fallback;

	for (guint i = 0; i < indexes->len; i++) {
		const char *index = g_ptr_array_index(indexes, i);
		g_autofree char *level_path = g_strdup_printf("%s/%s/level", folder, index);
		g_autofree char *list_path = g_strdup_printf("%s/%s/shared_cpu_list", folder, index);
		gint64 level;
		if (!host_file_read_int(root, level_path, &level, NULL) || level <= top)
			continue;
		top = level;
		found = read_lowest(root, list_path, fallback);
	}
	return found;
}

static void read_cpu(HostTopology *topology, const char *root, int cpu)
{
	g_autofree char *package = g_strdup_printf(HOST_CPU_DIR "/cpu%d/topology/physical_package_id", cpu);
	g_autofree char *siblings = g_strdup_printf(HOST_CPU_DIR "/cpu%d/topology/thread_siblings_list", cpu);
	HostCpu one = { .cpu = cpu, .node = HOST_NO_NODE, .core = read_lowest(root, siblings, cpu) };
	gint64 number;

	if (host_file_read_int(root, package, &number, NULL) && number > 0)
		one.package = (int)number;
	g_array_append_val(topology->cpus, one);
}

/* Where no file tells of caches, what is on one node or in one package counts as sharing one. */
static void read_caches(HostTopology *topology, const char *root)
{
	for (guint i = 0; i < topology->cpus->len; i++) {
		HostCpu *one = &g_array_index(topology->cpus, HostCpu, i);
		int first = one->cpu;
		for (guint j = 0; j < i; j++) {
			const HostCpu *other = &g_array_index(topology->cpus, HostCpu, j);
			if (other->node == one->node && other->package == one->package) {
				first = other->cpu;
				break;
			}
		}
		one->cache = read_cache(root, one->cpu, first);
	}
}

/* ---- huge pages ---- */

/* Whether pages of that size are mounted: "hugetlbfs /dev/hugepages hugetlbfs rw,pagesize=2M 0 0". */
static gboolean is_mounted(const char *mounts, int kib)
{
	g_auto(GStrv) lines = g_strsplit(mounts, "\n", -1);
	g_autofree char *mib = g_strdup_printf("pagesize=%dM", kib / 1024), *gib = g_strdup_printf("pagesize=%dG", kib / 1048576);

	for (char **line = lines; *line; line++) {
		g_auto(GStrv) words = g_strsplit(*line, " ", 5);
		if (g_strv_length(words) < 4 || !g_str_equal(words[2], "hugetlbfs"))
			continue;
		g_auto(GStrv) options = g_strsplit(words[3], ",", -1);
		if (g_strv_contains((const char *const *)options, mib) || g_strv_contains((const char *const *)options, gib))
			return TRUE;
	}
	return FALSE;
}

static void read_pages(HostTopology *topology, const char *root, const char *mounts, const char *folder, int node)
{
	g_autoptr(GPtrArray) sizes = host_file_list(root, folder, "hugepages-");

	for (guint i = 0; i < sizes->len; i++) {
		const char *name = g_ptr_array_index(sizes, i);
		g_autofree char *count = g_strdup_printf("%s/%s/nr_hugepages", folder, name);
		g_autofree char *unused = g_strdup_printf("%s/%s/free_hugepages", folder, name);
		HostPages pages = { .node = node, .kib = (int)g_ascii_strtoll(name + strlen("hugepages-"), NULL, 10) };
		if (pages.kib > 0 && is_mounted(mounts, pages.kib) && host_file_read_int(root, count, &pages.count, NULL) &&
		    host_file_read_int(root, unused, &pages.unused, NULL) && pages.count > 0)
			g_array_append_val(topology->pages, pages);
	}
}

/* ---- nodes ---- */

static void read_node(HostTopology *topology, const char *root, const char *mounts, const char *name)
{
	g_autofree char *path = g_strdup_printf(NODES "/%s/cpulist", name), *pages = g_strdup_printf(NODES "/%s/hugepages", name);
	g_autoptr(GArray) list = read_list(root, path);
	int node = (int)g_ascii_strtoll(name + strlen("node"), NULL, 10);
	gboolean has_some = FALSE;

	for (guint i = 0; list && i < topology->cpus->len; i++) {
		HostCpu *one = &g_array_index(topology->cpus, HostCpu, i);
		if (!host_cpus_have(list, one->cpu))
			continue;
		one->node = node;
		has_some = TRUE;
	}
	/* memory alone, or CPUs that are not ours */
	if (!has_some)
		return;
	topology->nodes++;
	read_pages(topology, root, mounts, pages, node);
}

gboolean host_topology_read(const char *root, HostTopology **ret_topology, GError **error)
{
	g_autoptr(HostTopology) topology = topology_new();
	g_autoptr(GArray) online = read_list(root, HOST_CPU_DIR "/online"), mine = NULL;
	g_autoptr(GPtrArray) nodes = host_file_list(root, NODES, "node");
	g_autofree char *mounts = NULL;

	if (!online)
		return spec_error_set(error, SPEC_ERROR_IO, NULL, HOST_CPU_DIR "/online does not say which CPUs there are");
	if (!*root && !cpu_list_parse("", &mine, error))
		return FALSE;
	for (guint i = 0; i < online->len; i++)
		if (!mine || host_cpus_have(mine, g_array_index(online, int, i)))
			read_cpu(topology, root, g_array_index(online, int, i));
	if (!host_file_read(root, "/proc/mounts", &mounts, NULL))
		mounts = g_strdup("");
	for (guint i = 0; i < nodes->len; i++)
		read_node(topology, root, mounts, g_ptr_array_index(nodes, i));
	if (!topology->nodes)
		read_pages(topology, root, mounts, "/sys/kernel/mm/hugepages", HOST_NO_NODE);
	read_caches(topology, root);
	*ret_topology = g_steal_pointer(&topology);
	return TRUE;
}
