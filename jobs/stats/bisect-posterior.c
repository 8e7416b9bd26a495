/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "jobs/stats/bisect-posterior.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_sort.h>
#include <math.h>
#include <string.h>

#define SMALLEST_SSE 1e-12 /* of all squares: what repeats exactly leaves no more than rounding */
#define COLLINEAR 1e-9	   /* as in trend.c */
#define DRIFT_SD 4.	   /* of γ over the whole time, in σ: its prior */
#define DRIFT_ODDS .1	   /* that there is one */
#define STEPS_MAX 2
#define COLUMNS_MAX (STEPS_MAX + 1)

/* The boots of one commit and all later ones, around the means of all boots. A step at this commit is one column of the
 * design; the column of the drift is the time. */
typedef struct {
	gsize commit;
	double boots, time, y;
	double log_prior; /* of a step between the commit booted before and this one */
} Cut;

typedef struct {
	Cut *cuts; /* by commit; cuts[0] is the good end, at which no step can be */
	gsize count;
	double n, tt, ty, yy;
} Sums;

typedef struct {
	double log_likelihood;
	double sse;
	double effect[STEPS_MAX];
	double df;
} Fit;

/* ---- least squares ---- */

/* Solves A·x = b for a small positive definite A by Cholesky, in place; *ret_log_det is ln |A|. FALSE: A is singular. */
static gboolean solve(double a[COLUMNS_MAX][COLUMNS_MAX], double *b, int size, double *ret_log_det)
{
	*ret_log_det = 0;
	for (int j = 0; j < size; j++) {
		double whole = a[j][j], pivot = whole;

		for (int k = 0; k < j; k++)
			pivot -= a[j][k] * a[j][k];
		if (pivot <= COLLINEAR * whole)
			return FALSE;
		*ret_log_det += log(pivot);
		a[j][j] = sqrt(pivot);
		for (int i = j + 1; i < size; i++) {
			for (int k = 0; k < j; k++)
				a[i][j] -= a[i][k] * a[j][k];
			a[i][j] /= a[j][j];
		}
	}
	for (int i = 0; i < size; i++) {
		for (int k = 0; k < i; k++)
			b[i] -= a[i][k] * b[k];
		b[i] /= a[i][i];
	}
	for (int i = size; i-- > 0;) {
		for (int k = i + 1; k < size; k++)
			b[i] -= a[k][i] * b[k];
		b[i] /= a[i][i];
	}
	return TRUE;
}

/* The model with steps at the given cuts, ascending. FALSE: it cannot be fitted. */
static gboolean fit_steps(const Sums *sums, gboolean drift, const gsize *at, int steps, Fit *ret_fit)
{
	double a[COLUMNS_MAX][COLUMNS_MAX] = { 0 }, x[COLUMNS_MAX], right[COLUMNS_MAX], log_det, explained = 0;
	int size = steps + (drift ? 1 : 0);

	for (int i = 0; i < steps; i++) {
		const Cut *cut = &sums->cuts[at[i]];

		for (int j = 0; j <= i; j++)
			a[i][j] = a[j][i] = cut->boots - sums->cuts[at[j]].boots * cut->boots / sums->n;
		if (drift)
			a[steps][i] = a[i][steps] = cut->time;
		right[i] = cut->y;
	}
	if (drift) {
		a[steps][steps] = sums->tt + 1 / (DRIFT_SD * DRIFT_SD);
		right[steps] = sums->ty;
	}
	memcpy(x, right, sizeof x);
	ret_fit->df = sums->n - 1 - steps;
	if (ret_fit->df < 1 || !solve(a, x, size, &log_det))
		return FALSE;
	for (int i = 0; i < size; i++)
		explained += x[i] * right[i];
	ret_fit->sse = MAX(sums->yy - explained, SMALLEST_SSE * sums->yy);
	ret_fit->log_likelihood = -log_det / 2 - ret_fit->df / 2 * log(ret_fit->sse) + (drift ? log(DRIFT_ODDS / DRIFT_SD) : 0);
	for (int i = 0; i < steps; i++)
		ret_fit->effect[i] = x[i];
	return TRUE;
}

/* ---- sums ---- */

static int by_commit(const void *a, const void *b)
{
	const Cut *left = a, *right = b;

	return (left->commit > right->commit) - (left->commit < right->commit);
}

static double log_prior(const StatsBisectData *data, gsize from, gsize to)
{
	gsize possible = 0;

	for (gsize commit = from + 1; commit <= to; commit++)
		possible += !data->ruled_out || !data->ruled_out[commit];
	return possible ? log((double)possible) : -INFINITY;
}

/* One cut a boot, then one a commit, then each with all later ones. */
static void sum_up(const StatsBisectData *data, Sums *sums)
{
	double time = 0, y = 0, unit = 0;

	*sums = (Sums){ .cuts = g_new0(Cut, data->boot_count), .n = (double)data->boot_count };
	for (gsize i = 0; i < data->boot_count; i++)
		unit = MAX(unit, fabs((double)(data->boots[i].start_ns - data->boots[0].start_ns)));
	for (gsize i = 0; i < data->boot_count; i++) {
		double t = unit > 0 ? (double)(data->boots[i].start_ns - data->boots[0].start_ns) / unit : 0;

		sums->cuts[i] = (Cut){ .commit = data->boots[i].commit, .boots = 1, .time = t, .y = data->boots[i].y };
		time += t / sums->n;
		y += data->boots[i].y / sums->n;
	}
	for (gsize i = 0; i < data->boot_count; i++) {
		Cut *cut = &sums->cuts[i];

		cut->time -= time;
		cut->y -= y;
		sums->tt += cut->time * cut->time;
		sums->ty += cut->time * cut->y;
		sums->yy += cut->y * cut->y;
	}
	qsort(sums->cuts, data->boot_count, sizeof(Cut), by_commit);
	for (gsize i = 0; i < data->boot_count; i++) {
		Cut *cut = &sums->cuts[i], *last = sums->count ? &sums->cuts[sums->count - 1] : NULL;

		if (last && last->commit == cut->commit) {
			last->boots += cut->boots;
			last->time += cut->time;
			last->y += cut->y;
		} else {
			sums->cuts[sums->count++] = *cut;
		}
	}
	for (gsize i = sums->count; i-- > 0;) {
		Cut *cut = &sums->cuts[i];

		if (i + 1 < sums->count) {
			cut->boots += cut[1].boots;
			cut->time += cut[1].time;
			cut->y += cut[1].y;
		}
		cut->log_prior = i ? log_prior(data, cut[-1].commit, cut->commit) : -INFINITY;
	}
}

/* ---- the posterior ---- */

/* weight[i] is the log posterior of a step at cut i; it becomes the probability of each commit up to that cut. */
static void spread(const StatsBisectData *data, const Sums *sums, double *weight, double *p)
{
	double largest = -INFINITY, total = 0;

	for (gsize i = 1; i < sums->count; i++)
		largest = MAX(largest, weight[i]);
	for (gsize i = 1; i < sums->count; i++) {
		weight[i] = exp(weight[i] - largest);
		total += weight[i];
	}
	memset(p, 0, (data->last + 1) * sizeof *p);
	for (gsize i = 1; i < sums->count; i++)
		for (gsize commit = sums->cuts[i - 1].commit + 1; commit <= sums->cuts[i].commit; commit++)
			if (!data->ruled_out || !data->ruled_out[commit])
				p[commit] = weight[i] / total / exp(sums->cuts[i].log_prior);
}

static double log_add(double a, double b)
{
	double larger = MAX(a, b);

	return isfinite(larger) ? larger + log(exp(a - larger) + exp(b - larger)) : larger;
}

/* The sum of all models of one kind: log of its likelihoods, and its best fit. */
typedef struct {
	double *weight; /* log posterior, but for a constant, of the step asked for at each cut */
	double total;
	Fit best;
	gsize at[STEPS_MAX];
	gsize tried;
} Models;

static void models_init(Models *models, const Sums *sums)
{
	*models = (Models){ .weight = g_new(double, sums->count), .total = -INFINITY, .best = { .sse = INFINITY } };
	for (gsize i = 0; i < sums->count; i++)
		models->weight[i] = -INFINITY;
}

static void add_model(Models *models, const Fit *fit, double log_prior, const gsize *at, int steps, gsize chosen)
{
	double log_p = log_prior + fit->log_likelihood;

	models->tried++;
	models->weight[chosen] = log_add(models->weight[chosen], log_p);
	models->total = log_add(models->total, log_p);
	if (fit->sse < models->best.sse) {
		models->best = *fit;
		memcpy(models->at, at, (gsize)steps * sizeof *at);
	}
}

static void one_step(const Sums *sums, gboolean drift, Models *models)
{
	models_init(models, sums);
	for (gsize i = 1; i < sums->count; i++) {
		Fit fit;

		if (isfinite(sums->cuts[i].log_prior) && fit_steps(sums, drift, &i, 1, &fit))
			add_model(models, &fit, sums->cuts[i].log_prior, &i, 1, i);
	}
}

/* Of a pair of steps: the larger in the direction in which the ends differ. */
static int main_step(const Fit *fit)
{
	double direction = fit->effect[0] + fit->effect[1] < 0 ? -1 : 1;

	return direction * fit->effect[0] >= direction * fit->effect[1] ? 0 : 1;
}

static void two_steps(const Sums *sums, gboolean drift, Models *models)
{
	models_init(models, sums);
	for (gsize i = 1; i < sums->count; i++)
		for (gsize j = i + 1; j < sums->count; j++) {
			const gsize at[] = { i, j };
			double prior = sums->cuts[i].log_prior + sums->cuts[j].log_prior;
			Fit fit;

			if (isfinite(prior) && fit_steps(sums, drift, at, 2, &fit))
				add_model(models, &fit, prior, at, 2, at[main_step(&fit)]);
		}
}

/* F-test of one step more, Bonferroni over the pairs tried. */
static double second_step_p(const Models *one, const Models *two)
{
	double sse = two->best.sse, df = two->best.df;

	if (!two->tried || df < 1 || sse >= one->best.sse)
		return 1;
	return MIN(1, (double)two->tried * gsl_cdf_fdist_Q((one->best.sse - sse) / (sse / df), 1, df));
}

/* Takes with's weights into those of without; *without is then the likelier of the two. */
static void average(const Sums *sums, Models *without, Models *with)
{
	for (gsize i = 0; i < sums->count; i++)
		without->weight[i] = log_add(without->weight[i], with->weight[i]);
	if (with->total > without->total) {
		without->best = with->best;
		memcpy(without->at, with->at, sizeof with->at);
		without->total = with->total;
	}
	g_free(with->weight);
}

static void describe(const Sums *sums, const Models *one, const Models *two, StatsBisectPosterior *posterior)
{
	posterior->effect = one->best.effect[0];
	posterior->residual_sd = sqrt(one->best.sse / one->best.df);
	if (posterior->several) {
		int chosen = main_step(&two->best);
		gsize other = two->at[1 - chosen];

		posterior->effect = two->best.effect[chosen];
		posterior->residual_sd = sqrt(two->best.sse / two->best.df);
		posterior->second_effect = two->best.effect[1 - chosen];
		posterior->second_from = sums->cuts[other - 1].commit;
		posterior->second_to = sums->cuts[other].commit;
	}
}

void stats_bisect_posterior(const StatsBisectData *data, StatsBisectPosterior *ret_posterior)
{
	Models one, one_drift, two, two_drift;
	gboolean drifts;
	Sums sums;

	sum_up(data, &sums);
	one_step(&sums, FALSE, &one);
	two_steps(&sums, FALSE, &two);
	one_step(&sums, TRUE, &one_drift);
	two_steps(&sums, TRUE, &two_drift);
	drifts = sums.tt > 0 && one_drift.total > one.total;
	*ret_posterior = (StatsBisectPosterior){ .p = g_new(double, data->last + 1) };
	ret_posterior->second_p = drifts ? second_step_p(&one_drift, &two_drift) : second_step_p(&one, &two);
	ret_posterior->several = ret_posterior->second_p < STATS_BISECT_SECOND_P;
	average(&sums, &one, &one_drift);
	average(&sums, &two, &two_drift);
	describe(&sums, &one, &two, ret_posterior);
	spread(data, &sums, ret_posterior->several ? two.weight : one.weight, ret_posterior->p);
	g_free(one.weight);
	g_free(two.weight);
	g_free(sums.cuts);
}

void stats_bisect_posterior_clear(StatsBisectPosterior *posterior)
{
	g_clear_pointer(&posterior->p, g_free);
}

gsize stats_bisect_credible(const double *p, gsize last, double share, guint8 *ret_set)
{
	g_autofree size_t *order = g_new(size_t, last + 1);
	double sum = 0;
	gsize size = 0;

	memset(ret_set, 0, last + 1);
	gsl_sort_index(order, p, 1, last + 1);
	for (gsize i = last + 1; i-- > 0 && sum < share && p[order[i]] > 0;) {
		ret_set[order[i]] = 1;
		sum += p[order[i]];
		size++;
	}
	return size;
}
