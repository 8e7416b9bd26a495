/* SPDX-License-Identifier: GPL-2.0-or-later */

/* How long the statistics of a large job take: 100 boots (50 of each arm), 5 runs, 50 passes, 12 parameter sets; limits
 * 50 ms of processor time without the permutation test, 1 s with it, by the fixed rule. The sequential rule, which looks until
 * it is decided, has the second limit too, with its boundary in the cache. Reading the samples is measured beside it. Exits 1 above a limit. */
#include <glib.h>
#include <glib/gstdio.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "jobs/stats/analysis.h"
#include "jobs/stats/permutation.h"

#define BOOTS 100
#define RUNS 5
#define PASSES 50
#define SETS 12
#define WITHOUT_LIMIT_MS 50.0
#define WITH_LIMIT_MS 1000.0
#define REPEATS 5

static SampleTable *make_table(void)
{
	g_autoptr(SampleTable) table = sample_table_new();
	g_autoptr(GRand) random = g_rand_new_with_seed(1);
	g_autoptr(GError) error = NULL;

	for (int boot = 0; boot < BOOTS; boot++)
		for (int set = 0; set < SETS; set++) {
			g_autofree char *params = g_strdup_printf("nproc=%d;lru=mglru", set + 1);
			Sample sample = { .job = 1, .arm = (boot % 4 == 1 || boot % 4 == 2) ? SAMPLE_ARM_PATCHED : SAMPLE_ARM_BASE,
					  .boot = boot, .pair = boot / 2, .host = "bench", .clock = "tcg", .benchmark = "aging",
					  .params = params, .metric = "time", .unit = "ms", .valid = TRUE, .reason = "",
					  .boot_start_ns = G_GINT64_CONSTANT(1764540000000000000) + boot * G_GINT64_CONSTANT(9000000000) };

			for (sample.run = 1; sample.run <= RUNS; sample.run++)
				for (sample.pass = 1; sample.pass <= PASSES; sample.pass++) {
					sample.value = 30 + g_rand_double(random);
					if (!sample_table_append(table, &sample, &error))
						g_error("%s", error->message);
				}
		}
	return g_steal_pointer(&table);
}

/* Processor time of this process: what else the machine does is not our speed. */
static gint64 now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return now.tv_sec * G_GINT64_CONSTANT(1000000) + now.tv_nsec / 1000;
}

static double ms_since(gint64 start_us)
{
	return (double)(now_us() - start_us) / 1000;
}

/* The permutation tests alone, on the boot values of the result. */
static double permutation_ms(const StatsResult *result)
{
	gint64 start = now_us();

	for (guint i = 0; i < result->comparisons->len; i++) {
		const StatsComparison *c = g_ptr_array_index(result->comparisons, i);
		const GArray *base = c->boot_values[SAMPLE_ARM_BASE], *patched = c->boot_values[SAMPLE_ARM_PATCHED];

		stats_permutation_test((const double *)base->data, base->len, (const double *)patched->data, patched->len, c->seed);
	}
	return ms_since(start);
}

/* Processor time of the sequential rule; the first time finds the boundary, the second reads it. */
static double sequential_ms(const SampleTable *table, const char *cache_dir)
{
	StatsOptions options = STATS_OPTIONS_DEFAULT;
	gint64 start = now_us();
	g_autoptr(StatsResult) result = NULL;

	options.cache_dir = cache_dir;
	result = stats_analyse(table, &options, NULL);
	g_assert_cmpint(result->rule, ==, STATS_RULE_SEQUENTIAL);
	return ms_since(start);
}

static void remove_folder(const char *path)
{
	g_autoptr(GDir) folder = g_dir_open(path, 0, NULL);
	const char *name;

	while (folder && (name = g_dir_read_name(folder))) {
		g_autofree char *file = g_build_filename(path, name, NULL);

		g_unlink(file);
	}
	g_rmdir(path);
}

int main(void)
{
	const StatsOptions fixed = { .alpha = .05, .min_effect_pct = 1, .rule = STATS_RULE_FIXED };
	g_autofree char *cache = g_dir_make_tmp("bench-stats-XXXXXX", NULL);
	double found, cached;
	g_autoptr(SampleTable) table = make_table();
	double with = HUGE_VAL, without = HUGE_VAL, reading = HUGE_VAL;
	g_autofree char *csv = sample_table_to_csv(table);

	for (int i = 0; i < REPEATS; i++) {
		gint64 start = now_us();
		g_autoptr(StatsResult) result = stats_analyse(table, &fixed, NULL);
		double all = ms_since(start), permutation = permutation_ms(result);
		g_autoptr(SampleTable) back = NULL;

		with = MIN(with, all);
		without = MIN(without, all - permutation);
		start = now_us();
		back = sample_table_from_csv(csv, strlen(csv), NULL);
		reading = MIN(reading, ms_since(start));
		g_assert_cmpuint(sample_table_length(back), ==, sample_table_length(table));
	}
	printf("%d boots x %d runs x %d passes x %d parameter sets, best of %d:\n", BOOTS, RUNS, PASSES, SETS, REPEATS);
	printf("  without permutation  %7.1f ms  (limit %.0f)\n", without, WITHOUT_LIMIT_MS);
	printf("  with permutation     %7.1f ms  (limit %.0f)\n", with, WITH_LIMIT_MS);
	found = sequential_ms(table, cache);
	cached = sequential_ms(table, cache);
	remove_folder(cache);
	printf("  sequential           %7.1f ms  (limit %.0f); %.0f ms more the first time, for the boundary\n", cached, WITH_LIMIT_MS,
	       found - cached);
	printf("  reading %.0f MB of CSV %5.0f ms\n", (double)strlen(csv) / 1e6, reading);
	return without <= WITHOUT_LIMIT_MS && with <= WITH_LIMIT_MS && cached <= WITH_LIMIT_MS ? EXIT_SUCCESS : EXIT_FAILURE;
}
