/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/need.h"

#include "jobs/spec/benchmark.h"

#define MEMORY_KEPT	1000	/* answers: what is asked for varies little */

struct Needs {
	char *benchmarks_dir;
	GHashTable *needs;	/* key -> Need */
	GHashTable *memory;	/* benchmarks, parameters, profile -> MiB */
};

static void need_free(gpointer data)
{
	Need *need = data;

	g_free(need->host);
	g_strfreev(need->labels);
	g_free(need);
}

Needs *needs_new(const char *benchmarks_dir)
{
	Needs *needs = g_new0(Needs, 1);

	needs->benchmarks_dir = g_strdup(benchmarks_dir);
	needs->needs = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, need_free);
	needs->memory = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	return needs;
}

void needs_free(Needs *needs)
{
	if (!needs)
		return;
	g_hash_table_destroy(needs->needs);
	g_hash_table_destroy(needs->memory);
	g_free(needs->benchmarks_dir);
	g_free(needs);
}

/* 0 if it cannot be told: the stage will say why. */
static int memory_of(Needs *needs, const JobSpec *spec, const char *profile)
{
	g_autofree char *benchmarks = g_strjoinv(",", spec->benchmarks);
	g_autofree char *params = g_strjoinv(" ", spec->params);
	g_autofree char *key = g_strjoin("\n", profile, benchmarks, params, NULL);
	g_autoptr(BenchmarkPlan) plan = NULL;
	gpointer known;

	if (g_hash_table_lookup_extended(needs->memory, key, NULL, &known))
		return GPOINTER_TO_INT(known);
	if (g_hash_table_size(needs->memory) >= MEMORY_KEPT)
		g_hash_table_remove_all(needs->memory);
	benchmark_plan(needs->benchmarks_dir, spec->benchmarks, spec->params, profile, &plan, NULL);
	int memory_mib = plan ? plan->memory_mib : 0;
	g_hash_table_insert(needs->memory, g_steal_pointer(&key), GINT_TO_POINTER(memory_mib));
	return memory_mib;
}

static int compare_text(gconstpointer a, gconstpointer b)
{
	return g_strcmp0(*(const char *const *)a, *(const char *const *)b);
}

static char **sorted(char **list)
{
	char **copy = g_strdupv(list);

	qsort(copy, g_strv_length(copy), sizeof(*copy), compare_text);
	return copy;
}

Need *needs_get(Needs *needs, const JobSpec *spec, const char *host, JobClock clock)
{
	gboolean automatic = g_str_equal(spec->profile, "auto");
	int emulated = memory_of(needs, spec, automatic ? "quick" : spec->profile);
	int kvm = memory_of(needs, spec, automatic ? "full" : spec->profile);
	gboolean counts = (clock == CLOCK_AUTO ? spec->clock : clock) == CLOCK_ICOUNT;
	g_auto(GStrv) labels = sorted(spec->labels);
	g_autofree char *joined = g_strjoinv(",", labels);
	g_autofree char *key = g_strdup_printf("%s\n%s\n%d\n%d\n%d", host ? host : spec->host, joined, emulated, kvm, counts);
	Need *need = g_hash_table_lookup(needs->needs, key);

	if (need)
		return need;
	need = g_new0(Need, 1);
	need->host = g_strdup(host ? host : spec->host);
	need->labels = g_steal_pointer(&labels);
	need->memory_mib[0] = emulated;
	need->memory_mib[1] = kvm;
	need->counts = counts;
	g_hash_table_insert(needs->needs, g_steal_pointer(&key), need);
	return need;
}
