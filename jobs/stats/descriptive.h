/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Simple statistics of a few numbers. All take n finite values and leave them as they are; where n is too small the
 * answer is NaN. */

#include <glib.h>

/* 1.4826 makes the median absolute deviation of normal data estimate their standard deviation. */
#define STATS_MAD_SCALE 1.482602218505602

double stats_mean(const double *values, gsize n);
double stats_sd(const double *values, gsize n);         /* divisor n - 1 */
double stats_median(const double *values, gsize n);     /* of an even number: the mean of the middle two */
double stats_mad(const double *values, gsize n);        /* scaled median absolute deviation from the median */
double stats_lag1_correlation(const double *values, gsize n); /* sum of products around the mean over sum of squares */

/* In place, ascending. */
void stats_sort(double *values, gsize n);
