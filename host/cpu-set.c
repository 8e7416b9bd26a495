/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "host/cpu-set.h"

#include "jobs/spec/cpus.h"

GArray *cpu_set_new(void)
{
	return g_array_new(FALSE, FALSE, sizeof(HostCpu));
}

const HostCpu *cpu_set_at(const GArray *cpus, guint i)
{
	return &g_array_index(cpus, HostCpu, i);
}

void cpu_set_add(GArray *cpus, const HostCpu *cpu)
{
	g_array_append_vals(cpus, cpu, 1);
}

gboolean cpu_set_has(const GArray *cpus, const HostCpu *cpu)
{
	for (guint i = 0; i < cpus->len; i++)
		if (cpu_set_at(cpus, i)->cpu == cpu->cpu)
			return TRUE;
	return FALSE;
}

gboolean cpu_set_has_core(const GArray *cpus, const HostCpu *cpu)
{
	for (guint i = 0; i < cpus->len; i++)
		if (cpu_set_at(cpus, i)->core == cpu->core)
			return TRUE;
	return FALSE;
}

gboolean cpu_set_has_cache(const GArray *cpus, const HostCpu *cpu)
{
	for (guint i = 0; i < cpus->len; i++)
		if (cpu_set_at(cpus, i)->cache == cpu->cache)
			return TRUE;
	return FALSE;
}

gboolean cpu_set_has_node(const GArray *cpus, const HostCpu *cpu)
{
	for (guint i = 0; i < cpus->len; i++)
		if (cpu_set_at(cpus, i)->node == cpu->node)
			return TRUE;
	return FALSE;
}

GArray *cpu_set_cores(const GArray *cpus)
{
	GArray *firsts = cpu_set_new();

	for (guint i = 0; i < cpus->len; i++)
		if (!cpu_set_has_core(firsts, cpu_set_at(cpus, i)))
			cpu_set_add(firsts, cpu_set_at(cpus, i));
	return firsts;
}

static int compare(gconstpointer a, gconstpointer b)
{
	const HostCpu *one = a, *other = b;
	int by[] = { one->node - other->node, one->cache - other->cache, one->core - other->core, one->cpu - other->cpu };

	for (gsize i = 0; i < G_N_ELEMENTS(by); i++)
		if (by[i])
			return by[i];
	return 0;
}

void cpu_set_sort(GArray *cpus)
{
	g_array_sort(cpus, compare);
}

void cpu_set_become(GArray *cpus, const GArray *others)
{
	g_array_set_size(cpus, 0);
	if (others->len)
		g_array_append_vals(cpus, others->data, others->len);
}

static int compare_numbers(gconstpointer a, gconstpointer b)
{
	return *(const int *)a - *(const int *)b;
}

char *cpu_set_format(const GArray *cpus)
{
	g_autoptr(GArray) numbers = g_array_new(FALSE, FALSE, sizeof(int)), once = g_array_new(FALSE, FALSE, sizeof(int));

	for (guint i = 0; i < cpus->len; i++)
		g_array_append_val(numbers, cpu_set_at(cpus, i)->cpu);
	g_array_sort(numbers, compare_numbers);
	for (guint i = 0; i < numbers->len; i++)
		if (i == 0 || g_array_index(numbers, int, i) != g_array_index(numbers, int, i - 1))
			g_array_append_val(once, g_array_index(numbers, int, i));
	return cpu_list_format(once);
}
