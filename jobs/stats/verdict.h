/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* What a comparison says, in the order in which it is decided (the first that holds):
 *
 * INVALID       the data cannot answer: a value <= 0, clocks, hosts or units mixed, or every boot of one arm before
 *               every boot of the other, so that drift and patch cannot be told apart. The reason says which.
 * INSUFFICIENT  fewer than STATS_MIN_BOOTS valid boots in an arm: never significant, whatever the numbers.
 * EQUIVALENT    the interval lies within ±min_effect, also where it excludes 0: a change too small to matter.
 * REGRESSION, IMPROVEMENT   the interval excludes 0; the direction is the metric's.
 * INCONCLUSIVE  none of these; the reason says how many boots would decide for the min_effect asked, or which effect
 *               max_boots boots could see.
 *
 * Which interval. A job with m primary comparisons is decided by Holm's step-down procedure on their p-values
 * (comparisons that are INVALID or INSUFFICIENT take part with p = 1). The interval shown has the level at which its
 * comparison was decided: 1 − α/(m − i + 1) where it was rejected at step i, and the level of the step at which the
 * procedure stopped where it was not. So p_holm <= α exactly where the interval excludes 0, and a verdict never
 * contradicts the interval beside it. With m = 1 that is the plain 1 − α interval. `ci_level` states it.
 *
 * Exploration (metrics that are not a benchmark's primary one) is decided by Benjamini-Hochberg among itself; its
 * intervals have the level 1 − α·max(R, 1)/m of Benjamini and Yekutieli (2005), R being the number selected, which again
 * excludes 0 exactly for the selected ones.
 *
 * No residual. Where the fit leaves no residual (STATS_ZERO_RESIDUAL, usual under icount) there is no interval and no
 * t-test, and neither 0 nor an infinity is passed off as one:
 *  - all boots of both arms equal: change 0, p = 1, EQUIVALENT;
 *  - |change| < min_effect: EQUIVALENT. The values repeat exactly, so the change is known;
 *  - otherwise the exact permutation p decides. It takes the place of the t-test's p in Holm's procedure, whose
 *    threshold α/(m − i + 1) it can only pass with enough boots: 4 an arm for .05, 5 for .0125, 6 for .00625. Where it
 *    does not pass, the verdict is INCONCLUSIVE and boots_needed is the number of boots that the exact test needs.
 * Everywhere else the permutation p stands beside the interval and is never a veto.
 */

#include <glib.h>

typedef enum {
	STATS_VERDICT_INVALID,
	STATS_VERDICT_INSUFFICIENT,
	STATS_VERDICT_EQUIVALENT,
	STATS_VERDICT_REGRESSION,
	STATS_VERDICT_IMPROVEMENT,
	STATS_VERDICT_INCONCLUSIVE,
	STATS_VERDICT_COUNT,
} StatsVerdict;

#define STATS_MIN_BOOTS 4u /* 2/C(8,4) = .0286 is the first exact p below .05 */

/* Residual standard deviation on the log scale, relative to the largest |y| (at least 1), that counts as none: the
 * rounding of decimal text and of the logarithm is some 1e-15. */
#define STATS_ZERO_RESIDUAL 1e-12

const char *stats_verdict_to_string(StatsVerdict verdict);
gboolean stats_verdict_from_string(const char *text, StatsVerdict *ret_verdict);
