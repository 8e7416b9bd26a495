/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Is there one change of level in a series, wherever it is? The largest |t| between the ranks before and after a split,
 * over all splits that leave STATS_SCAN_SEGMENT values on each side. It is given as r², the share of the ranks' sum of
 * squares that the split explains: t² = (n − 2)·r²/(1 − r²) has the same order at every split and no pole.
 *
 * Without an effect every order of the ranks is as likely as any other, whatever the values' distribution, so the null
 * distribution depends on n alone: by seeded Monte Carlo. Where values are equal it is that of these very ranks.
 */

#include <glib.h>

#define STATS_SCAN_SEGMENT 5u
#define STATS_SCAN_MAX 200u	  /* values at most */
#define STATS_SCAN_DRAWS 100000u  /* of the table of an n: the smallest p is 1 over this + 1 */
#define STATS_SCAN_TIED_DRAWS 20000u

typedef struct {
	gsize split;	  /* the first value of the second segment; 0: none, too few values or all equal */
	double r_squared; /* 0 if there is none */
} StatsScan;

StatsScan stats_scan(const double *ranks, gsize n);

/* The null distributions that were asked for so far. dir: files that an earlier process left (value-file.h); NULL: none. */
typedef struct StatsScanNull StatsScanNull;
StatsScanNull *stats_scan_null_new(const char *dir);
void stats_scan_null_free(StatsScanNull *null);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(StatsScanNull, stats_scan_null_free)

/* P of a scan at least as large without an effect, in (0, 1]; without ties never too small, and too large by at most 3 %.
 * ranks: the series', in any order. */
double stats_scan_p(StatsScanNull *null, const double *ranks, gsize n, double r_squared);
