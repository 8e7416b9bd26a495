/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Planning: how many boots, how small an effect. Two-sided two-sample t-test of n boots an arm whose summaries vary with
 * standard deviation sd; the degrees of freedom are 2n − `fitted` with two fitted means, or three where a drift is
 * fitted as well. */

#include <glib.h>

#define STATS_POWER .8
#define STATS_BOOTS_MAX 10000u

/* The chance to find an effect of `effect` standard deviations; by integration of the noncentral t distribution. */
double stats_power(double effect, guint boots, double alpha, guint fitted);

/* The fewest boots an arm with that power, at least 2; 0 if STATS_BOOTS_MAX do not suffice. */
guint stats_boots_for(double effect, double alpha, double power, guint fitted);

/* The smallest effect, in standard deviations, found with that power; NaN without degrees of freedom. */
double stats_effect_for(guint boots, double alpha, double power, guint fitted);

/* The fewest boots an arm for an interval of half width `width` standard deviations; 0 as above. */
guint stats_boots_for_width(double width, double alpha, guint fitted);
