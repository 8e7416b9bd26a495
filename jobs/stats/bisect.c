/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "jobs/stats/bisect.h"

#include <math.h>

#include "jobs/stats/permutation.h"
#include "jobs/stats/trend.h"

/* A built commit is as good as one to be built if its c·(1 − c) is at least this share of the largest. */
#define BUILT_SHARE .97

static gboolean flagged(const guint8 *flags, gsize commit)
{
	return flags && flags[commit];
}

/* ---- the ends ---- */

static gsize count_boots(const StatsBisect *bisect, gsize commit)
{
	gsize count = 0;

	for (gsize i = 0; i < bisect->data.boot_count; i++)
		count += bisect->data.boots[i].commit == commit;
	return count;
}

/* good bad bad good, good bad bad good, … with the boots that are there, whatever order a failed one has left. */
static gsize next_end(const StatsBisect *bisect, gsize good, gsize bad)
{
	if (good != bad)
		return good < bad ? 0 : bisect->data.last;
	return good % 2 ? bisect->data.last : 0;
}

static double exact_p(const StatsBisect *bisect, const SampleArm *arm, const double *y, gsize n)
{
	g_autofree double *good = g_new(double, n), *bad = g_new(double, n);
	gsize good_count = 0, bad_count = 0;

	for (gsize i = 0; i < n; i++)
		if (arm[i] == SAMPLE_ARM_BASE)
			good[good_count++] = y[i];
		else
			bad[bad_count++] = y[i];
	return stats_permutation_test(good, good_count, bad, bad_count, (gint64)bisect->data.last).p;
}

/* Compares the boots of the ends. */
static void compare_ends(const StatsBisect *bisect, StatsBisectNext *next)
{
	gsize count = bisect->data.boot_count, n = 0;
	g_autofree SampleArm *arm = g_new(SampleArm, count);
	g_autofree double *y = g_new(double, count);
	g_autofree gint64 *start_ns = g_new(gint64, count);
	StatsTrend fit;

	for (gsize i = 0; i < count; i++) {
		const StatsBisectBoot *boot = &bisect->data.boots[i];

		if (boot->commit != 0 && boot->commit != bisect->data.last)
			continue;
		arm[n] = boot->commit ? SAMPLE_ARM_PATCHED : SAMPLE_ARM_BASE;
		y[n] = boot->y;
		start_ns[n++] = boot->start_ns;
	}
	fit = stats_trend_fit(y, arm, start_ns, n);
	next->ends_effect = fit.beta;
	next->ends_p = fit.p;
	next->ends_low = fit.beta - stats_trend_half_width(&fit, STATS_BISECT_ENDS_P);
	next->ends_high = fit.beta + stats_trend_half_width(&fit, STATS_BISECT_ENDS_P);
	if (fit.zero_residual) {
		next->ends_p = exact_p(bisect, arm, y, n);
		next->ends_low = next->ends_high = fit.beta;
	}
}

/* TRUE: the ends differ, or a commit between them was booted because they did. Else next says what to do. */
static gboolean ends_differ(const StatsBisect *bisect, StatsBisectNext *next)
{
	gsize good = count_boots(bisect, 0), bad = count_boots(bisect, bisect->data.last);

	next->ends_p = next->ends_effect = next->ends_low = next->ends_high = NAN;
	next->step = STATS_BISECT_BOOT_END;
	next->commit = next_end(bisect, good, bad);
	if (good < STATS_BISECT_ENDS_MIN || bad < STATS_BISECT_ENDS_MIN)
		return FALSE;
	compare_ends(bisect, next);
	if (good + bad < bisect->data.boot_count)
		return TRUE;
	if (good != bad)
		return FALSE;
	if (next->ends_p < STATS_BISECT_ENDS_P && fabs(next->ends_effect) >= bisect->min_effect)
		return TRUE;
	if (good >= STATS_BISECT_ENDS_MAX || (fabs(next->ends_low) < bisect->min_effect && fabs(next->ends_high) < bisect->min_effect))
		next->step = STATS_BISECT_ENDS_ALIKE;
	return FALSE;
}

/* ---- the commits between ---- */

/* A commit that could be booted next. */
typedef struct {
	gsize commit;
	double c;     /* P(first bad <= commit) */
	double worth; /* c·(1 − c); below 0: there is none */
} Probe;

static void take_better(Probe *best, gsize commit, double c)
{
	if (c * (1 - c) > best->worth)
		*best = (Probe){ commit, c, c * (1 - c) };
}

/* Where to look next, or that there is nothing left to split. */
static void choose_probe(const StatsBisect *bisect, StatsBisectNext *next)
{
	gsize last = bisect->data.last;
	Probe any = { .worth = -1 }, built = { .worth = -1 }, left = { 0 };
	double c = 0;

	for (gsize commit = 1; commit <= last; commit++) {
		c += next->posterior.p[commit];
		if (commit < last && flagged(bisect->failed, commit))
			continue;
		if (c - left.c >= bisect->certainty) {
			next->step = STATS_BISECT_FOUND;
			next->from = left.commit;
			next->to = commit;
			next->share = MIN(c - left.c, 1);
			return;
		}
		left = (Probe){ .commit = commit, .c = c };
		if (commit == last)
			break;
		take_better(&any, commit, c);
		if (flagged(bisect->built, commit))
			take_better(&built, commit, c);
	}
	if (built.worth >= BUILT_SHARE * any.worth)
		any = built;
	next->step = STATS_BISECT_BOOT_PROBE;
	next->commit = any.commit;
	next->share = any.c;
}

static gsize boots_since_an_end(const StatsBisect *bisect)
{
	gsize since = 0;

	for (gsize i = 0; i < bisect->data.boot_count; i++)
		if (bisect->data.boots[i].commit == 0 || bisect->data.boots[i].commit == bisect->data.last)
			since = 0;
		else
			since++;
	return since;
}

void stats_bisect_next(const StatsBisect *bisect, StatsBisectNext *ret_next)
{
	gboolean spent = bisect->spent || bisect->data.boot_count >= bisect->max_boots;

	*ret_next = (StatsBisectNext){ 0 };
	if (!ends_differ(bisect, ret_next)) {
		if (spent && ret_next->step == STATS_BISECT_BOOT_END)
			ret_next->step = STATS_BISECT_OUT_OF_BUDGET;
		return;
	}
	ret_next->has_posterior = TRUE;
	stats_bisect_posterior(&bisect->data, &ret_next->posterior);
	choose_probe(bisect, ret_next);
	if (ret_next->step == STATS_BISECT_FOUND)
		return;
	if (spent) {
		ret_next->step = STATS_BISECT_OUT_OF_BUDGET;
	} else if (boots_since_an_end(bisect) >= STATS_BISECT_ANCHOR_EVERY) {
		gsize good = count_boots(bisect, 0), bad = count_boots(bisect, bisect->data.last);

		ret_next->step = STATS_BISECT_BOOT_ANCHOR;
		ret_next->commit = good <= bad ? 0 : bisect->data.last;
	}
}

void stats_bisect_next_clear(StatsBisectNext *next)
{
	stats_bisect_posterior_clear(&next->posterior);
}

const char *stats_bisect_step_to_string(StatsBisectStep step)
{
	static const char *const names[STATS_BISECT_STEP_COUNT] = {
		[STATS_BISECT_BOOT_END] = "end",
		[STATS_BISECT_BOOT_PROBE] = "probe",
		[STATS_BISECT_BOOT_ANCHOR] = "anchor",
		[STATS_BISECT_FOUND] = "found",
		[STATS_BISECT_ENDS_ALIKE] = "ends-not-distinguishable",
		[STATS_BISECT_OUT_OF_BUDGET] = "budget",
	};

	return names[step];
}
