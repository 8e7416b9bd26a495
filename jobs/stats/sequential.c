/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "jobs/stats/sequential.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* As in trend.c: 1 − r² of time and arm below this, and the trend is left out. */
#define COLLINEAR 1e-9

/* What the t-test of one look needs of its design. */
typedef struct {
	gsize boots;
	double arm_mean, time_mean; /* of the boots seen */
	double xx, xt, tt;	    /* sums of squares and products around them */
	gboolean trend;
	double df, n_eff;
	double t_squared; /* a path below this at this look is of no interest */
} Look;

/* A path that comes near the boundary at a look. */
typedef struct {
	guint32 path;
	double t_squared;
} Candidate;

StatsLooks stats_looks_plan(guint max_pairs)
{
	static const guint pairs[] = { 4, 6, 8, 10, 14, 20 };
	StatsLooks looks = { 0 };

	g_assert(max_pairs > 0);
	for (gsize i = 0; i < G_N_ELEMENTS(pairs) && pairs[i] < max_pairs; i++)
		looks.boots[looks.count++] = 2 * pairs[i];
	looks.boots[looks.count++] = 2 * max_pairs;
	for (gsize i = 0; i < looks.count; i++)
		looks.fraction[i] = (double)looks.boots[i] / (2.0 * max_pairs);
	return looks;
}

double stats_alpha_spent(double alpha, double fraction)
{
	return alpha * log1p((M_E - 1) * fraction);
}

static Look look_new(const SampleArm *arm, const double *time, gsize boots, double alpha)
{
	Look look = { .boots = boots };

	for (gsize i = 0; i < boots; i++) {
		look.arm_mean += (double)arm[i] / (double)boots;
		look.time_mean += time[i] / (double)boots;
	}
	for (gsize i = 0; i < boots; i++) {
		double x = (double)arm[i] - look.arm_mean, t = time[i] - look.time_mean;

		look.xx += x * x;
		look.xt += x * t;
		look.tt += t * t;
	}
	g_assert(boots >= 4 && look.xx > 0);
	look.trend = look.tt > 0 && 1 - look.xt * look.xt / (look.xx * look.tt) > COLLINEAR;
	look.n_eff = look.trend ? look.xx - look.xt * look.xt / look.tt : look.xx;
	look.df = (double)boots - (look.trend ? 3 : 2);
	look.t_squared = pow(gsl_cdf_tdist_Qinv(alpha / 2, look.df), 2);
	return look;
}

/* t² of β from the running sums of y, y in the patched arm, t·y and y². */
static double t_squared(const Look *look, double sum, double patched, double timed, double squares)
{
	double n = (double)look->boots;
	double xy = patched - look->arm_mean * sum, ty = timed - look->time_mean * sum, rest = squares - sum * sum / n;
	double beta;

	if (look->trend) {
		double determinant = look->xx * look->tt - look->xt * look->xt;
		double drift = (ty * look->xx - xy * look->xt) / determinant;

		beta = (xy * look->tt - ty * look->xt) / determinant;
		rest -= beta * xy + drift * ty;
	} else {
		beta = xy / look->xx;
		rest -= beta * xy;
	}
	return beta * beta * look->n_eff * look->df / rest;
}

/* Simulates all paths; candidates[k] gets those that could cross at look k. */
static void simulate(const SampleArm *arm, const double *time, const Look *looks, gsize count, guint paths, gint64 seed,
		     GArray **candidates)
{
	gsl_rng *random = gsl_rng_alloc(gsl_rng_mt19937);

	gsl_rng_set(random, (unsigned long)seed);
	for (guint32 path = 0; path < paths; path++) {
		double sum = 0, patched = 0, timed = 0, squares = 0;
		gsize boot = 0;

		for (gsize k = 0; k < count; k++) {
			Candidate candidate = { .path = path };

			for (; boot < looks[k].boots; boot++) {
				double y = gsl_ran_gaussian_ziggurat(random, 1);

				sum += y;
				patched += arm[boot] == SAMPLE_ARM_PATCHED ? y : 0;
				timed += time[boot] * y;
				squares += y * y;
			}
			candidate.t_squared = t_squared(&looks[k], sum, patched, timed, squares);
			if (candidate.t_squared >= looks[k].t_squared)
				g_array_append_val(candidates[k], candidate);
		}
	}
	gsl_rng_free(random);
}

static int largest_first(const void *a, const void *b)
{
	const Candidate *left = a, *right = b;

	return (left->t_squared < right->t_squared) - (left->t_squared > right->t_squared);
}

/* Walks the looks for one alpha: at each, as many surviving paths cross as there is error rate to spend. */
static void find_boundary(GArray *const *candidates, const Look *looks, const StatsLooks *plan, double alpha, guint paths,
			  double *ret_p)
{
	g_autofree guint8 *crossed = g_new0(guint8, paths);
	double done = 0;

	for (gsize k = 0; k < plan->count; k++) {
		double goal = stats_alpha_spent(alpha, plan->fraction[k]) * paths;
		double next = looks[k].t_squared, last = INFINITY;

		for (guint i = 0; i < candidates[k]->len; i++) {
			const Candidate *candidate = &g_array_index(candidates[k], Candidate, i);

			if (crossed[candidate->path])
				continue;
			if (done + 1 > goal) {
				next = candidate->t_squared;
				break;
			}
			crossed[candidate->path] = 1;
			last = candidate->t_squared;
			done++;
		}
		ret_p[k] = 0; /* nothing to spend at this look, as far as this many paths can tell */
		if (isfinite(last))
			ret_p[k] = 2 * gsl_cdf_tdist_Q((sqrt(last) + sqrt(next)) / 2, looks[k].df);
	}
}

void stats_boundary(const SampleArm *arm, const gint64 *start_ns, const StatsLooks *looks, const double *alphas,
		    gsize alpha_count, guint paths, gint64 seed, double *ret_p)
{
	gsize boots = looks->boots[looks->count - 1];
	double span = (double)(start_ns[boots - 1] - start_ns[0]), largest = 0;
	g_autofree double *time = g_new0(double, boots);
	Look designs[STATS_LOOKS_MAX];
	GArray *candidates[STATS_LOOKS_MAX];

	for (gsize i = 0; i < boots; i++)
		time[i] = span > 0 ? (double)(start_ns[i] - start_ns[0]) / span : 0;
	for (gsize j = 0; j < alpha_count; j++)
		largest = MAX(largest, alphas[j]);
	for (gsize k = 0; k < looks->count; k++) {
		/* the nominal p of a look never exceeds what is spent by then */
		designs[k] = look_new(arm, time, looks->boots[k], stats_alpha_spent(largest, looks->fraction[k]));
		candidates[k] = g_array_new(FALSE, FALSE, sizeof(Candidate));
	}
	simulate(arm, time, designs, looks->count, paths, seed, candidates);
	for (gsize k = 0; k < looks->count; k++)
		g_array_sort(candidates[k], largest_first);
	for (gsize j = 0; j < alpha_count; j++)
		find_boundary(candidates, designs, looks, alphas[j], paths, ret_p + j * looks->count);
	for (gsize k = 0; k < looks->count; k++)
		g_array_unref(candidates[k]);
}

void stats_sequential_holm(const double *p, gsize m, const double *boundary, gboolean *rejected, double *ret_level)
{
	gsize left = 0;

	for (gsize i = 0; i < m; i++)
		left += !rejected[i];
	for (gboolean again = left > 0; again;) {
		double level = boundary[left - 1];

		again = FALSE;
		for (gsize i = 0; i < m; i++) {
			if (rejected[i])
				continue;
			ret_level[i] = level;
			if (p[i] <= level) {
				rejected[i] = TRUE;
				again = --left > 0;
			}
		}
	}
}

/* The chance that a normal value with this mean and spread lies beyond ±bound. */
static double beyond(double mean, double sd, double bound)
{
	return gsl_cdf_ugaussian_Q((bound - mean) / sd) + gsl_cdf_ugaussian_P((-bound - mean) / sd);
}

static StatsStop stop_without_residual(const StatsTrend *fit, double exact_p, double level, gboolean last, double delta)
{
	if (fit->all_equal || fabs(fit->beta) < delta)
		return STATS_STOP_EQUIVALENT;
	if (exact_p <= level)
		return STATS_STOP_FOUND;
	return last ? STATS_STOP_END : STATS_STOP_NOT;
}

StatsStop stats_stop(const StatsTrend *fit, double exact_p, double level, double last_level, guint boots, guint last_boots,
		     double delta)
{
	double half = stats_trend_half_width(fit, level), last_se, last_half, sd, found, equivalent = 0;

	if (fit->zero_residual)
		return stop_without_residual(fit, exact_p, level, boots >= last_boots, delta);
	if (fabs(fit->beta) + half <= delta)
		return STATS_STOP_EQUIVALENT;
	if (fabs(fit->beta) > half)
		return STATS_STOP_FOUND;
	if (boots >= last_boots)
		return STATS_STOP_END;
	/* At the last look the estimate will be normal around today's, and its interval as wide as its boots make it. */
	last_se = fit->se * sqrt((double)boots / last_boots);
	last_half = last_se * gsl_cdf_tdist_Qinv(last_level / 2, fit->df + last_boots - boots);
	sd = sqrt(fit->se * fit->se - last_se * last_se);
	found = beyond(fit->beta, sd, last_half);
	if (last_half < delta)
		equivalent = 1 - beyond(fit->beta, sd, delta - last_half);
	return found + equivalent < STATS_FUTILE_CHANCE ? STATS_STOP_FUTILE : STATS_STOP_NOT;
}
