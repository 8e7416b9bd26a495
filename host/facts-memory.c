/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Facts of memory: nodes, huge pages, merging, swap. */
#include <stdio.h>
#include <string.h>

#include "host/files.h"
#include "host/readers.h"
#include "jobs/spec/cpus.h"

#define NODES	"/sys/devices/system/node"
#define THP	"/sys/kernel/mm/transparent_hugepage/enabled"
#define KSM	"/sys/kernel/mm/ksm/run"

/* Whether one of the measuring CPUs is in a list of the kernel's. */
static gboolean measures_in(const HostMachine *machine, const char *list)
{
	g_autoptr(GArray) cpus = NULL;

	if (!*list || !cpu_list_parse(list, &cpus, NULL))
		return FALSE;
	for (guint i = 0; i < cpus->len; i++)
		if (host_cpus_have(machine->cpus, g_array_index(cpus, int, i)))
			return TRUE;
	return FALSE;
}

/* "Node 0 MemTotal:  32768 kB": in KiB, 0 if it does not say. */
static gint64 meminfo(const HostMachine *machine, const char *node, const char *key)
{
	g_autofree char *path = g_strdup_printf(NODES "/%s/meminfo", node), *text = NULL;
	g_autofree char *mark = g_strdup_printf(" %s:", key);
	const char *at = host_file_read(machine->root, path, &text, NULL) ? strstr(text, mark) : NULL;

	return at ? g_ascii_strtoll(at + strlen(mark), NULL, 10) : 0;
}

gboolean host_read_numa(const HostMachine *machine, char **ret_value, char **ret_reason)
{
	g_autoptr(GPtrArray) nodes = host_file_list(machine->root, NODES, "node");
	g_autoptr(GString) names = g_string_new(NULL);
	int count = 0;

	for (guint i = 0; i < nodes->len; i++) {
		const char *node = g_ptr_array_index(nodes, i);
		g_autofree char *path = g_strdup_printf(NODES "/%s/cpulist", node), *list = NULL;
		if (!host_file_read(machine->root, path, &list, NULL) || !measures_in(machine, list))
			continue;
		g_string_append_printf(names, "%s%s with CPUs %s and %" G_GINT64_FORMAT " MiB", count ? ", " : "", node, list,
				       meminfo(machine, node, "MemTotal") / 1024);
		count++;
	}
	if (!count)
		return host_unknown(ret_reason, "no node in %s has the measuring CPUs", NODES);
	*ret_value = g_strdup_printf("%d (%s)", count, names->str);
	return TRUE;
}

gboolean host_read_thp(const HostMachine *machine, char **ret_value, char **ret_reason)
{
	g_autofree char *text = NULL;

	if (!host_file_read(machine->root, THP, &text, ret_reason))
		return FALSE;
	*ret_value = host_file_choice(text);
	return TRUE;
}

void host_plan_thp(const HostMachine *machine, const char *wanted, GPtrArray *writes)
{
	host_plan_write(machine, writes, THP, wanted);
}

gboolean host_read_ksm(const HostMachine *machine, char **ret_value, char **ret_reason)
{
	gint64 run;

	if (!host_file_exists(machine->root, KSM) && host_file_exists(machine->root, "/sys/kernel/mm")) {
		*ret_value = g_strdup("off (the kernel is built without CONFIG_KSM)");
		return TRUE;
	}
	if (!host_file_read_int(machine->root, KSM, &run, ret_reason))
		return FALSE;
	*ret_value = g_strdup(run == 1 ? "on" : "off");
	return TRUE;
}

void host_plan_ksm(const HostMachine *machine, const char *wanted, GPtrArray *writes)
{
	host_plan_write(machine, writes, KSM, g_str_equal(wanted, "off") ? "0" : "1");
}

gboolean host_read_swap(const HostMachine *machine, char **ret_value, char **ret_reason)
{
	g_autofree char *text = NULL;
	gint64 size_kib = 0;

	if (!host_file_read(machine->root, "/proc/swaps", &text, ret_reason))
		return FALSE;
	g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
	/* Filename Type Size Used Priority; names have their blanks escaped */
	for (char **line = lines; *line; line++) {
		char size[32];
		if (line != lines && sscanf(*line, "%*s %*s %31s", size) == 1)
			size_kib += g_ascii_strtoll(size, NULL, 10);
	}
	if (size_kib)
		*ret_value = g_strdup_printf("on (%" G_GINT64_FORMAT " MiB)", size_kib / 1024);
	else
		*ret_value = g_strdup("off");
	return TRUE;
}
