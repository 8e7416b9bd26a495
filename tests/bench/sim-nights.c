/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Years of nights for 40 series: what is nominated and what is confirmed where nothing changes, and how many nights a change
 * takes to be found. A night's value varies by 1 sd, as one boot does (two boots of each kernel in ABBA order); a nominated
 * change is confirmed by the sequential rule on fresh boots. Prints the tables and exits 1 where a bound is not met.
 * YEARS=n in the environment simulates another number. */
#include <glib.h>
#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "jobs/stats/boundary.h"
#include "jobs/stats/change-point.h"
#include "jobs/stats/descriptive.h"
#include "jobs/stats/trend.h"

#define SERIES 40
#define NIGHTS 365
#define CHANGE_NIGHT 150
#define SD .01
#define PAIRS 20
#define BOUNDARY_PATHS 2000000
#define FALSE_CONFIRMED_MAX 1.0 /* a year, over all series */

typedef struct {
	const char *name;
	double tail;  /* degrees of freedom of Student's t; 0: normal */
	double lag1;  /* of an autoregressive process */
} World;

typedef struct {
	StatsScanNull *null;
	gsl_rng *random;
	SampleArm arm[2 * PAIRS];
	gint64 start_ns[2 * PAIRS];
	StatsLooks looks;
	double boundary[STATS_LOOKS_MAX];
} Lab;

/* One series of a year. */
typedef struct {
	double values[NIGHTS];
	double effect; /* from CHANGE_NIGHT on */
	gsize baseline, refused_count;
} History;

typedef struct {
	double nominated, confirmed, wrong, confirm_boots;
	GArray *nominated_after, *confirmed_after; /* double: nights after the change */
} Tally;

static void history_init(const Lab *lab, const World *world, double effect, History *history)
{
	double before = 0, spread = world->tail > 0 ? sqrt(world->tail / (world->tail - 2)) : 1;

	*history = (History){ .effect = effect };
	for (int night = 0; night < NIGHTS; night++) {
		double noise = world->tail > 0 ? gsl_ran_tdist(lab->random, world->tail) / spread : gsl_ran_gaussian_ziggurat(lab->random, 1);

		before = world->lag1 * before + sqrt(1 - world->lag1 * world->lag1) * noise;
		history->values[night] = SD * before + (night >= CHANGE_NIGHT ? effect : 0);
	}
}

/* The last good night against tonight's tip, on fresh boots. TRUE: a change in the nominated direction. */
static gboolean confirm(const Lab *lab, double effect, double shift, Tally *tally)
{
	double y[2 * PAIRS];
	gsize done = 0;

	for (gsize k = 0; k < lab->looks.count; k++) {
		StatsTrend fit;

		for (; done < lab->looks.boots[k]; done++)
			y[done] = gsl_ran_gaussian_ziggurat(lab->random, SD) + (lab->arm[done] == SAMPLE_ARM_PATCHED ? effect : 0);
		fit = stats_trend_fit(y, lab->arm, lab->start_ns, done);
		if (fit.p <= lab->boundary[k]) {
			tally->confirm_boots += (double)done;
			return fit.beta * shift > 0;
		}
	}
	tally->confirm_boots += (double)done;
	return FALSE;
}

static void judge(const Lab *lab, const StatsSeries *series, History *history, int night, Tally *tally)
{
	StatsChangePoint point;
	double after = night - CHANGE_NIGHT + 1, effect;
	gsize last_good;

	if (!stats_change_nominated(series, history->refused_count, &point))
		return;
	last_good = history->baseline + point.good;
	effect = last_good < CHANGE_NIGHT && night >= CHANGE_NIGHT ? history->effect : 0;
	tally->nominated++;
	if (effect != 0)
		g_array_append_val(tally->nominated_after, after);
	if (!confirm(lab, effect, point.shift, tally)) {
		history->refused_count = series->count;
		return;
	}
	tally->confirmed++;
	tally->wrong += effect == 0;
	if (effect != 0)
		g_array_append_val(tally->confirmed_after, after);
	history->baseline += point.index;
	history->refused_count = 0;
}

static void simulate_year(const Lab *lab, const World *world, double effect, Tally *tally)
{
	g_autofree History *histories = g_new(History, SERIES);

	for (int i = 0; i < SERIES; i++)
		history_init(lab, world, i ? 0 : effect, &histories[i]);
	for (int night = 0; night < NIGHTS; night++) {
		StatsSeries series[SERIES] = { 0 };

		for (int i = 0; i < SERIES; i++) {
			series[i].values = histories[i].values + histories[i].baseline;
			series[i].count = (gsize)night + 1 - histories[i].baseline;
		}
		stats_change_points(lab->null, series, SERIES, STATS_CHANGE_ALPHA);
		for (int i = 0; i < SERIES; i++) {
			judge(lab, &series[i], &histories[i], night, tally);
			stats_series_clear(&series[i]);
		}
	}
}

static Tally simulate(const Lab *lab, const World *world, double effect, guint years)
{
	Tally tally = { .nominated_after = g_array_new(FALSE, FALSE, sizeof(double)),
			.confirmed_after = g_array_new(FALSE, FALSE, sizeof(double)) };

	gsl_rng_set(lab->random, 20240901);
	for (guint year = 0; year < years; year++)
		simulate_year(lab, world, effect, &tally);
	return tally;
}

static void tally_clear(Tally *tally)
{
	g_array_unref(tally->nominated_after);
	g_array_unref(tally->confirmed_after);
}

static gboolean nothing_changes(const Lab *lab, const World *world, guint years)
{
	Tally tally = simulate(lab, world, 0, years);
	double wrong = tally.wrong / years;
	gboolean good = wrong < FALSE_CONFIRMED_MAX;

	printf("  %-40s %10.2f %10.3f %10.1f%s\n", world->name, tally.nominated / years, wrong, tally.confirm_boots / years,
	       good ? "" : "   OUTSIDE ITS BOUND");
	fflush(stdout);
	tally_clear(&tally);
	return good;
}

static double quantile(GArray *values, double share)
{
	stats_sort((double *)(void *)values->data, values->len);
	return values->len ? g_array_index(values, double, (guint)(share * (values->len - 1))) : NAN;
}

static gboolean one_change(const Lab *lab, const World *world, double size, guint years)
{
	Tally tally = simulate(lab, world, size * SD, years);
	double found = (double)tally.confirmed_after->len / years;
	gboolean good = tally.wrong / years < FALSE_CONFIRMED_MAX && (size < 2 || found >= .99);

	printf("  %4.1f sd  %10.3f %10.0f %10.0f %10.0f %10.0f %10.3f%s\n", size, found, quantile(tally.nominated_after, .5),
	       quantile(tally.confirmed_after, .5), quantile(tally.confirmed_after, .9), quantile(tally.confirmed_after, .99),
	       tally.wrong / years, good ? "" : "   OUTSIDE ITS BOUND");
	fflush(stdout);
	tally_clear(&tally);
	return good;
}

static void lab_init(Lab *lab)
{
	const double alpha = .05;

	lab->null = stats_scan_null_new(NULL);
	lab->random = gsl_rng_alloc(gsl_rng_mt19937);
	lab->looks = stats_looks_plan(PAIRS);
	for (int i = 0; i < 2 * PAIRS; i++) {
		lab->arm[i] = "ABBA"[i % 4] == 'A' ? SAMPLE_ARM_BASE : SAMPLE_ARM_PATCHED;
		lab->start_ns[i] = i * G_GINT64_CONSTANT(20000000000);
	}
	stats_boundary(lab->arm, lab->start_ns, &lab->looks, &alpha, 1, BOUNDARY_PATHS, 1, lab->boundary);
}

int main(void)
{
	static const World worlds[] = {
		{ "normal values", 0, 0 },
		{ "heavy tails (t with 3 degrees)", 3, 0 },
		{ "nights alike (lag-1 correlation .3)", 0, .3 },
		{ "nights much alike (.7)", 0, .7 },
	};
	const char *wanted = g_getenv("YEARS");
	guint years = wanted ? (guint)atoi(wanted) : 100;
	gboolean good = years > 0;
	Lab lab = { 0 };

	if (!years)
		return EXIT_FAILURE;
	lab_init(&lab);
	printf("%u years of %d nights, %d series. Nothing changes, a year over all series:\n\n"
	       "  %-40s %10s %10s %10s\n", years, NIGHTS, SERIES, "", "nominated", "confirmed", "boots");
	for (gsize i = 0; i < G_N_ELEMENTS(worlds); i++)
		good &= nothing_changes(&lab, &worlds[i], years);
	printf("\nOne of the series changes for good at night %d. Nights until it is nominated and confirmed:\n\n"
	       "  %-7s  %10s %10s %10s %10s %10s %10s\n  %-7s  %10s %10s %10s %10s %10s %10s\n", CHANGE_NIGHT, "size", "found", "nominated",
	       "confirmed", "", "", "false", "", "", "median", "median", ".9", ".99", "a year");
	for (double size = 1; size <= 3; size++)
		good &= one_change(&lab, &worlds[0], size, years);
	stats_scan_null_free(lab.null);
	gsl_rng_free(lab.random);
	return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
