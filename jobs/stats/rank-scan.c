/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "jobs/stats/rank-scan.h"

#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>

#include "jobs/stats/descriptive.h"
#include "jobs/stats/value-file.h"

#define SEED 1
#define GRID_STEP 1.03	 /* from one count of the table to the next */
#define ROUNDING 1e-12	 /* equal r² may differ by this much */

struct StatsScanNull {
	char *dir;
	gsize *counts; /* ascending, the last is STATS_SCAN_DRAWS */
	gsize grid;
	double *tables[STATS_SCAN_MAX + 1]; /* for each n: the counts[i]-th largest r²; NULL: not asked for yet */
};

StatsScan stats_scan(const double *ranks, gsize n)
{
	double mean = ((double)n + 1) / 2, squares = 0, sum = 0;
	StatsScan scan = { 0 };

	for (gsize i = 0; i < n; i++)
		squares += (ranks[i] - mean) * (ranks[i] - mean);
	if (squares <= 0)
		return scan;
	for (gsize i = 0; i + STATS_SCAN_SEGMENT < n; i++) {
		double before = (double)i + 1, r_squared;

		sum += ranks[i] - mean;
		if (i + 1 < STATS_SCAN_SEGMENT)
			continue;
		r_squared = sum * sum * (double)n / (before * ((double)n - before) * squares);
		if (r_squared > scan.r_squared)
			scan = (StatsScan){ i + 1, r_squared };
	}
	return scan;
}

StatsScanNull *stats_scan_null_new(const char *dir)
{
	StatsScanNull *null = g_new0(StatsScanNull, 1);
	g_autoptr(GArray) counts = g_array_new(FALSE, FALSE, sizeof(gsize));

	null->dir = g_strdup(dir);
	for (gsize count = 1; count < STATS_SCAN_DRAWS; count = MAX(count + 1, (gsize)((double)count * GRID_STEP)))
		g_array_append_val(counts, count);
	g_array_append_vals(counts, &(gsize){ STATS_SCAN_DRAWS }, 1);
	null->grid = counts->len;
	null->counts = g_array_steal(counts, NULL);
	return null;
}

void stats_scan_null_free(StatsScanNull *null)
{
	if (!null)
		return;
	for (gsize n = 0; n <= STATS_SCAN_MAX; n++)
		g_free(null->tables[n]);
	g_free(null->counts);
	g_free(null->dir);
	g_free(null);
}

static double draw(gsl_rng *random, double *ranks, gsize n)
{
	gsl_ran_shuffle(random, ranks, n, sizeof *ranks);
	return stats_scan(ranks, n).r_squared;
}

static void simulate_table(const StatsScanNull *null, gsize n, double *table)
{
	g_autofree double *drawn = g_new(double, STATS_SCAN_DRAWS), *ranks = g_new(double, n);
	gsl_rng *random = gsl_rng_alloc(gsl_rng_mt19937);

	gsl_rng_set(random, SEED);
	for (gsize i = 0; i < n; i++)
		ranks[i] = (double)i + 1;
	for (gsize i = 0; i < STATS_SCAN_DRAWS; i++)
		drawn[i] = draw(random, ranks, n);
	gsl_rng_free(random);
	stats_sort(drawn, STATS_SCAN_DRAWS);
	for (gsize i = 0; i < null->grid; i++)
		table[i] = drawn[STATS_SCAN_DRAWS - null->counts[i]];
}

static const double *table_of(StatsScanNull *null, gsize n)
{
	g_autofree char *inputs = NULL;

	if (null->tables[n])
		return null->tables[n];
	inputs = g_strdup_printf("regrlab-rank-scan 1\nn %zu segment %u draws %u seed %d step %a\n", n, STATS_SCAN_SEGMENT,
				 STATS_SCAN_DRAWS, SEED, GRID_STEP);
	null->tables[n] = g_new(double, null->grid);
	if (!stats_values_read(null->dir, inputs, null->grid, null->tables[n])) {
		simulate_table(null, n, null->tables[n]);
		stats_values_write(null->dir, inputs, null->tables[n], null->grid);
	}
	return null->tables[n];
}

/* The smallest count of the table whose r² lies below: fewer than that many draws were as large. */
static double table_p(StatsScanNull *null, gsize n, double r_squared)
{
	const double *table = table_of(null, n);
	gsize low = 0, high = null->grid;

	while (low < high) {
		gsize middle = (low + high) / 2;

		if (table[middle] < r_squared)
			high = middle;
		else
			low = middle + 1;
	}
	return low < null->grid ? (double)null->counts[low] / (STATS_SCAN_DRAWS + 1) : 1;
}

static double tied_p(const double *sorted, gsize n, double r_squared)
{
	g_autofree double *ranks = g_memdup2(sorted, n * sizeof *sorted);
	gsl_rng *random = gsl_rng_alloc(gsl_rng_mt19937);
	gsize hits = 0;

	gsl_rng_set(random, SEED);
	for (gsize i = 0; i < STATS_SCAN_TIED_DRAWS; i++)
		hits += draw(random, ranks, n) >= r_squared;
	gsl_rng_free(random);
	return ((double)hits + 1) / (STATS_SCAN_TIED_DRAWS + 1);
}

double stats_scan_p(StatsScanNull *null, const double *ranks, gsize n, double r_squared)
{
	g_autofree double *sorted = NULL;
	gboolean tied = FALSE;

	if (r_squared <= 0)
		return 1;
	g_assert(n <= STATS_SCAN_MAX);
	sorted = g_memdup2(ranks, n * sizeof *ranks);
	stats_sort(sorted, n);
	for (gsize i = 1; i < n; i++)
		tied |= sorted[i] == sorted[i - 1];
	r_squared *= 1 - ROUNDING;
	return tied ? tied_p(sorted, n, r_squared) : table_p(null, n, r_squared);
}
