/* SPDX-License-Identifier: GPL-2.0-or-later */

/* The bisect on simulated histories, beside classic bisection with 1, 3 and 5 boots a step on histories of the same kind.
 * Boots vary by 1 sd; the first bad commit adds `size` sd. Prints the table and exits 1 where a bound is not met.
 * HISTORIES=n in the environment simulates another number a line. */
#include <glib.h>
#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "jobs/stats/bisect.h"
#include "jobs/stats/boundary.h"
#include "jobs/stats/trend.h"

#define SD .01
#define BOOT_NS G_GINT64_CONSTANT(20000000000)
#define BUILD_NS G_GINT64_CONSTANT(120000000000)
#define BOOTS_MAX 200u
#define CONFIRM_PAIRS 20
#define BOUNDARY_PATHS 2000000

typedef struct {
	const char *name;
	gsize last;	    /* N */
	double size;	    /* of the change, in sd */
	double skip;	    /* share of the commits that cannot be built or booted */
	double drift;	    /* of the host, in sd over 50 boots */
	double second;	    /* another change, elsewhere, in sd */
	double relevant;    /* share of the commits that are not ruled out */
	double boots_max, builds_max; /* bounds; 0: none */
	double right_min;
} World;

/* One simulated history, and what was done to it. */
typedef struct {
	const World *world;
	gsl_rng *random;
	gsize culprit, other;
	guint8 *failed, *found_failed, *built, *ruled_out;
	GArray *boots;
	gint64 now_ns;
	guint builds;
} History;

typedef struct {
	double claims, right, boots, builds, confirmed, wrong_confirmed, confirm_boots, several;
} Tally;

typedef struct {
	SampleArm arm[2 * CONFIRM_PAIRS];
	StatsLooks looks;
	double boundary[STATS_LOOKS_MAX];
} Confirmation;

static gsize uniform(gsl_rng *random, gsize from, gsize to)
{
	return from + gsl_rng_uniform_int(random, to - from + 1);
}

static void history_init(History *history, const World *world, gsl_rng *random)
{
	gsize last = world->last;

	*history = (History){ .world = world, .random = random, .failed = g_new0(guint8, last + 1),
			      .found_failed = g_new0(guint8, last + 1), .built = g_new0(guint8, last + 1),
			      .ruled_out = g_new0(guint8, last + 1),
			      .boots = g_array_new(FALSE, FALSE, sizeof(StatsBisectBoot)) };
	history->culprit = uniform(random, 1, last);
	history->other = uniform(random, 1, last);
	for (gsize i = 1; i < last; i++)
		history->failed[i] = gsl_rng_uniform(random) < world->skip;
	for (gsize i = 1; i <= last; i++)
		history->ruled_out[i] = gsl_rng_uniform(random) >= world->relevant;
	history->ruled_out[history->culprit] = history->ruled_out[history->other] = FALSE;
}

static void history_clear(History *history)
{
	g_free(history->failed);
	g_free(history->found_failed);
	g_free(history->built);
	g_free(history->ruled_out);
	g_array_unref(history->boots);
}

static double measure(History *history, gsize commit)
{
	const World *world = history->world;
	double y = gsl_ran_gaussian_ziggurat(history->random, SD);

	y += commit >= history->culprit ? world->size * SD : 0;
	y += commit >= history->other ? world->second * SD : 0;
	y += world->drift * SD * (double)history->now_ns / (50.0 * BOOT_NS);
	history->now_ns += BOOT_NS;
	return y;
}

/* A boot, after a build if there was none. FALSE: the commit cannot be booted. */
static gboolean boot(History *history, gsize commit)
{
	StatsBisectBoot one = { .commit = commit };

	if (!history->built[commit]) {
		history->builds++;
		history->now_ns += BUILD_NS;
		if (history->failed[commit]) {
			history->found_failed[commit] = 1;
			return FALSE;
		}
		history->built[commit] = 1;
	}
	one.start_ns = history->now_ns;
	one.y = measure(history, commit);
	g_array_append_val(history->boots, one);
	return TRUE;
}

/* ---- our rule ---- */

static gboolean confirm(const Confirmation *plan, History *history, gsize from, gsize to, guint *ret_boots)
{
	double y[2 * CONFIRM_PAIRS];
	gint64 start_ns[2 * CONFIRM_PAIRS];
	gsize done = 0;

	for (gsize k = 0; k < plan->looks.count; k++) {
		StatsTrend fit;

		for (; done < plan->looks.boots[k]; done++) {
			start_ns[done] = history->now_ns;
			y[done] = measure(history, plan->arm[done] == SAMPLE_ARM_BASE ? from : to);
		}
		*ret_boots = (guint)done;
		fit = stats_trend_fit(y, plan->arm, start_ns, done);
		if (fit.p <= plan->boundary[k])
			return fit.beta > 0;
	}
	return FALSE;
}

static gboolean our_rule(History *history, const Confirmation *plan, Tally *tally)
{
	guint confirm_boots = 0;
	gboolean found, right, confirmed;
	gsize from, to;

	for (;;) {
		StatsBisect bisect = {
			.data = { .last = history->world->last, .boots = (const StatsBisectBoot *)(void *)history->boots->data,
				  .boot_count = history->boots->len, .ruled_out = history->ruled_out },
			.failed = history->found_failed, .built = history->built, .certainty = STATS_BISECT_CERTAINTY,
			.max_boots = BOOTS_MAX,
		};
		g_auto(StatsBisectNext) next = { 0 };

		stats_bisect_next(&bisect, &next);
		if (next.step < STATS_BISECT_FOUND) {
			boot(history, next.commit);
			continue;
		}
		found = next.step == STATS_BISECT_FOUND;
		from = next.from;
		to = next.to;
		tally->several += next.has_posterior && next.posterior.several;
		break;
	}
	tally->boots += history->boots->len;
	tally->builds += history->builds;
	if (!found)
		return FALSE;
	right = history->culprit > from && history->culprit <= to;
	confirmed = confirm(plan, history, from, to, &confirm_boots);
	tally->claims++;
	tally->right += right;
	tally->confirmed += confirmed;
	tally->wrong_confirmed += confirmed && !right && !(history->world->second > 0 && history->other > from && history->other <= to);
	tally->confirm_boots += confirm_boots;
	return TRUE;
}

/* ---- the classic one ---- */

static gboolean mean_of(History *history, gsize commit, guint boots, double *ret_mean)
{
	*ret_mean = 0;
	for (guint i = 0; i < boots; i++) {
		if (!boot(history, commit))
			return FALSE;
		*ret_mean += g_array_index(history->boots, StatsBisectBoot, history->boots->len - 1).y / boots;
	}
	return TRUE;
}

/* The commit to test: the middle one of those that may be the first bad one, or the nearest that is not known to fail. */
static gsize middle_of(const History *history, gsize good, gsize bad)
{
	for (gsize step = 0; step < bad - good; step++) {
		gsize middle = (good + bad) / 2, below = middle - step, above = middle + step;

		if (below > good && below < bad && !history->found_failed[below] && !history->ruled_out[below])
			return below;
		if (above > good && above < bad && !history->found_failed[above] && !history->ruled_out[above])
			return above;
	}
	return good;
}

static void classic_rule(History *history, guint boots, Tally *tally)
{
	gsize good = 0, bad = history->world->last, middle;
	double good_mean, bad_mean, mean;

	mean_of(history, good, boots, &good_mean);
	mean_of(history, bad, boots, &bad_mean);
	while ((middle = middle_of(history, good, bad)) != good) {
		if (!mean_of(history, middle, boots, &mean))
			continue;
		if (mean < (good_mean + bad_mean) / 2)
			good = middle;
		else
			bad = middle;
	}
	tally->claims++;
	tally->right += history->culprit > good && history->culprit <= bad;
	tally->boots += history->boots->len;
	tally->builds += history->builds;
}

/* ---- the table ---- */

static Tally run(const World *world, guint histories, guint classic_boots, const Confirmation *plan)
{
	gsl_rng *random = gsl_rng_alloc(gsl_rng_mt19937);
	Tally tally = { 0 };

	gsl_rng_set(random, 20240711);
	for (guint i = 0; i < histories; i++) {
		History history;

		history_init(&history, world, random);
		if (classic_boots)
			classic_rule(&history, classic_boots, &tally);
		else
			our_rule(&history, plan, &tally);
		history_clear(&history);
	}
	gsl_rng_free(random);
	return tally;
}

static gboolean line(const World *world, guint histories, const Confirmation *plan)
{
	Tally ours = run(world, histories, 0, plan);
	double n = histories, right = ours.right / MAX(ours.claims, 1), boots = ours.boots / n, builds = ours.builds / n;
	gboolean good = right >= world->right_min && (world->boots_max <= 0 || boots <= world->boots_max) &&
			(world->builds_max <= 0 || builds <= world->builds_max);

	printf("%5zu %4.1f  %-32s %.3f  %.3f  %5.1f  %5.1f   %.3f  %.4f  %5.1f ", world->last, world->size, world->name,
	       ours.claims / n, right, boots, builds, ours.confirmed / MAX(ours.claims, 1), ours.wrong_confirmed / n,
	       ours.confirm_boots / MAX(ours.claims, 1));
	for (guint classic = 1; classic <= 5; classic += 2) {
		Tally theirs = run(world, histories, classic, plan);

		printf("  %.2f %4.1f %4.1f", theirs.right / n, theirs.boots / n, theirs.builds / n);
	}
	printf("%s\n", good ? "" : "   OUTSIDE ITS BOUND");
	fflush(stdout);
	return good;
}

static Confirmation confirmation_new(void)
{
	Confirmation plan = { .looks = stats_looks_plan(CONFIRM_PAIRS) };
	const double alpha = .05;
	gint64 start_ns[2 * CONFIRM_PAIRS];

	for (gsize i = 0; i < G_N_ELEMENTS(plan.arm); i++) {
		plan.arm[i] = "ABBABAAB"[i % 4] == 'A' ? SAMPLE_ARM_BASE : SAMPLE_ARM_PATCHED;
		start_ns[i] = (gint64)i * BOOT_NS;
	}
	stats_boundary(plan.arm, start_ns, &plan.looks, &alpha, 1, BOUNDARY_PATHS, 1, plan.boundary);
	return plan;
}

int main(void)
{
	static const World worlds[] = {
		{ "", 64, 1.5, 0, 0, 0, 1, 0, 0, .95 },
		{ "", 64, 2, 0, 0, 0, 1, 0, 0, .95 },
		{ "", 64, 3, 0, 0, 0, 1, 0, 0, .95 },
		{ "", 1024, 1.5, 0, 0, 0, 1, 0, 0, .95 },
		{ "", 1024, 2, 0, 0, 0, 1, 45, 25, .95 },
		{ "", 1024, 3, 0, 0, 0, 1, 0, 0, .95 },
		{ "a tenth do not build", 64, 2, .1, 0, 0, 1, 0, 0, .95 },
		{ "a tenth do not build", 1024, 2, .1, 0, 0, 1, 0, 0, .95 },
		{ "drift of 4 sd in 50 boots", 64, 2, 0, 4, 0, 1, 0, 0, .95 },
		{ "drift of 4 sd in 50 boots", 1024, 2, 0, 4, 0, 1, 0, 0, .95 },
		{ "another change of -1.5 sd", 64, 3, 0, 0, -1.5, 1, 0, 0, .95 },
		{ "another change of -1.5 sd", 1024, 3, 0, 0, -1.5, 1, 0, 0, .95 },
		{ "another change of +1.5 sd", 1024, 4, 0, 0, 1.5, 1, 0, 0, .95 },
		{ "nine tenths ruled out", 1024, 2, 0, 0, 0, .1, 0, 0, .95 },
		{ "all of these", 1024, 3, .1, 4, -1, .5, 0, 0, .95 },
	};
	const char *wanted = g_getenv("HISTORIES");
	guint histories = wanted ? (guint)atoi(wanted) : 1000;
	Confirmation plan = confirmation_new();
	gboolean good = histories > 0;

	printf("%u histories a line. claimed: of all; right: of those claimed; boots, builds: ends included; confirmed: of those\n"
	       "claimed, by 20 pairs of fresh boots at most; false: confirmed and wrong, of all. classic: right, boots, builds.\n\n"
	       "    N   sd                                   claimed right  boots builds   confi.  false  boots  classic, 1 boot  "
	       "3 boots         5 boots\n", histories);
	for (gsize i = 0; histories && i < G_N_ELEMENTS(worlds); i++)
		good &= line(&worlds[i], histories, &plan);
	return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
