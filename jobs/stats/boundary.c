/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "jobs/stats/boundary.h"

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <math.h>

/* As in trend.c: 1 − r² of time and arm below this, and the trend is left out. */
#define COLLINEAR 1e-9
#define BLOCK 8192u /* paths that are simulated look by look together */

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

/* The running sums of a path: y, y in the patched arm, time·y and y². */
typedef struct {
	double sum, patched, timed, squares;
} Sums;

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

static double t_squared(const Look *look, const Sums *y)
{
	double n = (double)look->boots;
	double xy = y->patched - look->arm_mean * y->sum, ty = y->timed - look->time_mean * y->sum;
	double rest = y->squares - y->sum * y->sum / n, beta;

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

static unsigned long block_seed(gint64 seed, guint32 block, gsize look)
{
	guint64 x = (guint64)seed * G_GUINT64_CONSTANT(0x9e3779b97f4a7c15) + ((guint64)block << 8) + look + 1;

	x = (x ^ (x >> 30)) * G_GUINT64_CONSTANT(0xbf58476d1ce4e5b9);
	x = (x ^ (x >> 27)) * G_GUINT64_CONSTANT(0x94d049bb133111eb);
	return (x ^ (x >> 31)) & 0xffffffff;
}

/* The boots from `from` up to the look's, for a block of paths. */
static void simulate_look(gsl_rng *random, const SampleArm *arm, const double *time, gsize from, const Look *look,
			  guint32 first_path, guint32 paths, Sums *sums, GArray *candidates)
{
	for (guint32 path = 0; path < paths; path++) {
		Sums *sum = &sums[path];
		Candidate candidate = { .path = first_path + path };

		for (gsize boot = from; boot < look->boots; boot++) {
			double y = gsl_ran_gaussian_ziggurat(random, 1);

			sum->sum += y;
			sum->patched += arm[boot] == SAMPLE_ARM_PATCHED ? y : 0;
			sum->timed += time[boot] * y;
			sum->squares += y * y;
		}
		candidate.t_squared = t_squared(look, sum);
		if (candidate.t_squared >= look->t_squared)
			g_array_append_val(candidates, candidate);
	}
}

/* Simulates all paths; candidates[k] gets those that could cross at look k. */
static void simulate(const SampleArm *arm, const double *time, const Look *looks, gsize count, guint paths, gint64 seed,
		     GArray **candidates)
{
	gsl_rng *random = gsl_rng_alloc(gsl_rng_mt19937);
	g_autofree Sums *sums = g_new(Sums, BLOCK);

	for (guint32 block = 0; block * BLOCK < paths; block++) {
		guint32 first = block * BLOCK, size = MIN(BLOCK, paths - first);

		for (guint32 i = 0; i < size; i++)
			sums[i] = (Sums){ 0 };
		for (gsize k = 0; k < count; k++) {
			gsl_rng_set(random, block_seed(seed, block, k));
			simulate_look(random, arm, time, k ? looks[k - 1].boots : 0, &looks[k], first, size, sums, candidates[k]);
		}
	}
	gsl_rng_free(random);
}

/* The largest first; of equals the earlier path, so that the order is one whatever the sort. */
static int largest_first(const void *a, const void *b)
{
	const Candidate *left = a, *right = b;

	if (left->t_squared != right->t_squared)
		return left->t_squared < right->t_squared ? 1 : -1;
	return (left->path > right->path) - (left->path < right->path);
}

/* Walks the looks for one alpha: at each, as many surviving paths cross as there is error rate to spend. crossed has one
 * flag a path, all 0 before and after. */
static void find_boundary(GArray *const *candidates, const Look *looks, const StatsLooks *plan, double alpha, guint paths,
			  guint8 *crossed, double *ret_p)
{
	g_autoptr(GArray) marked = g_array_new(FALSE, FALSE, sizeof(guint32));

	for (gsize k = 0; k < plan->count; k++) {
		double goal = stats_alpha_spent(alpha, plan->fraction[k]) * paths;
		double next = looks[k].t_squared, last = INFINITY;

		for (guint i = 0; i < candidates[k]->len; i++) {
			const Candidate *candidate = &g_array_index(candidates[k], Candidate, i);

			if (crossed[candidate->path])
				continue;
			if (marked->len + 1 > goal) {
				next = candidate->t_squared;
				break;
			}
			crossed[candidate->path] = 1;
			g_array_append_val(marked, candidate->path);
			last = candidate->t_squared;
		}
		ret_p[k] = 0; /* nothing to spend at this look, as far as this many paths can tell */
		if (isfinite(last))
			ret_p[k] = 2 * gsl_cdf_tdist_Q((sqrt(last) + sqrt(next)) / 2, looks[k].df);
	}
	for (guint i = 0; i < marked->len; i++)
		crossed[g_array_index(marked, guint32, i)] = 0;
}

/* Start times in units of the first look's span, which later looks do not change. */
static double *scale_times(const gint64 *start_ns, const StatsLooks *looks)
{
	gsize boots = looks->boots[looks->count - 1];
	double *time = g_new0(double, boots), unit = 0;

	for (gsize i = 1; i < looks->boots[0]; i++)
		unit = MAX(unit, fabs((double)(start_ns[i] - start_ns[0])));
	for (gsize i = 0; i < boots; i++)
		time[i] = (double)(start_ns[i] - start_ns[0]) / (unit > 0 ? unit : 1);
	return time;
}

void stats_boundary(const SampleArm *arm, const gint64 *start_ns, const StatsLooks *looks, const double *alphas,
		    gsize alpha_count, guint paths, gint64 seed, double *ret_p)
{
	g_autofree double *time = scale_times(start_ns, looks);
	g_autofree guint8 *crossed = g_new0(guint8, paths);
	GArray *candidates[STATS_LOOKS_MAX];
	Look designs[STATS_LOOKS_MAX];
	double largest = 0;

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
		find_boundary(candidates, designs, looks, alphas[j], paths, crossed, ret_p + j * looks->count);
	for (gsize k = 0; k < looks->count; k++)
		g_array_unref(candidates[k]);
}
