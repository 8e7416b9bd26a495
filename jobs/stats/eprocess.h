/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* The open-ended test: boots may be added for as long as one likes, and the p-value stays valid.
 *
 * With t, ν and n_eff of the fit at each look (trend.h), and ρ = 1 + n_eff·g²,
 *     ln E = −½ ln ρ + ((ν + 1)/2)·ln[(1 + t²/ν)/(1 + t²/(ρν))]
 * is the log of a test martingale: the likelihood ratio of t for an effect of standardised size N(0, g²) against none,
 * with the right-Haar prior on level, drift and spread. p = min(1, 1/max E) holds at any time (Ville 1939).
 */

#include <glib.h>

#define STATS_EFFECT_SD 2.0 /* g: effects of about this many standard deviations are looked for */

/* ln E of one look. t may be of either sign. */
double stats_log_e(double t, double df, double n_eff);

/* The anytime-valid p after looks whose largest ln E is this. In (0, 1]. */
double stats_anytime_p(double largest_log_e);

/* |t| at which E reaches 1/alpha: β ± this·se is an interval that holds at any time. Infinite where so few boots cannot
 * reach it. */
double stats_anytime_t(double alpha, double df, double n_eff);
