/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Which commit changed a figure, as far as noisy boots of some commits tell. Commits 0 (good) … N (bad) lie on one line.
 * The model of the boots' summaries, with one y a boot:
 *
 *     y = μ + δ·[commit >= k] + ε          k the first bad commit, in 1 … N
 *
 * With flat priors on μ, δ and ln σ the log posterior of k is, but for a constant,
 *
 *     ln prior(k) − ½ ln(n_<k · n_>=k) − ((n − 2)/2) ln SSE_k          (n boots)
 *
 * All k between two neighbours that were booted have the same likelihood.
 *
 * The host may drift. So the posterior is the average of that model and of one with γ·(t − t̄) more, t from 0 to 1 over the
 * boots' start times, γ normal with a standard deviation of 4 σ, at odds of 1 to 10 for a drift before the data. A drift
 * that is there is plain from the ends that are booted again and again; one that is not costs few boots this way: a drift
 * that was always fitted cost a third more of them (tests/bench/sim-bisect.txt has what this costs).
 *
 * Where one step leaves a second one in the residuals (an F-test of the best pair of steps against the best single one,
 * times the pairs tried, below STATS_BISECT_SECOND_P) the posterior is that of the larger of two steps in the direction in
 * which the ends differ.
 */

#include <glib.h>

#define STATS_BISECT_SECOND_P .001

typedef struct {
	gsize commit; /* 0 … last */
	double y;     /* summary on the log scale */
	gint64 start_ns;
} StatsBisectBoot;

typedef struct {
	gsize last;			/* N, at least 1 */
	const StatsBisectBoot *boots;	/* in the order they were made; borrowed, as all below */
	gsize boot_count;
	const guint8 *ruled_out;	/* N + 1 flags: this commit cannot be the first bad one; NULL: none. Not all of 1 … N */
} StatsBisectData;

typedef struct {
	double *p;		/* N + 1 values that sum to 1; 0 for commit 0 and those ruled out. The caller's */
	double effect;		/* of the most likely step (log scale) */
	double residual_sd;	/* around the most likely step or steps; NaN without degrees of freedom */
	double second_p;	/* the test of a second step; 1 where there are too few boots for it */
	gboolean several;	/* it was found */
	gsize second_from, second_to;	/* if so: the most likely other step is of commits from + 1 … to */
	double second_effect;
} StatsBisectPosterior;

/* Both ends must have boots, at least two each. */
void stats_bisect_posterior(const StatsBisectData *data, StatsBisectPosterior *ret_posterior);
void stats_bisect_posterior_clear(StatsBisectPosterior *posterior);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(StatsBisectPosterior, stats_bisect_posterior_clear)

/* The smallest set of commits with at least this share of the posterior: ret_set gets N + 1 flags. Returns its size. */
gsize stats_bisect_credible(const double *p, gsize last, double share, guint8 *ret_set);
