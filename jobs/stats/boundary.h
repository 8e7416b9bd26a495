/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* The boundary of a group-sequential test (sequential.h): a nominal p for each look, by Monte Carlo over the schedule of
 * boots really run, under no effect. The t-test does not depend on level, spread or drift, so standard normal summaries do.
 *
 * What a path draws up to a look does not depend on the looks after it: a boundary found when only the first looks were
 * made is, to the bit, the beginning of the boundary found when all were.
 */

#include "jobs/stats/sequential.h"

#define STATS_BOUNDARY_PATHS 10000000u

/* ret_p[j·looks->count + k] is the nominal p of look k for alphas[j] (each at most .5). The arms and start times are of
 * all boots up to the last look; a look sees the first looks->boots[k] of them, both arms and at least 4 boots. Costs about
 * 20 ns for each path and boot. */
void stats_boundary(const SampleArm *arm, const gint64 *start_ns, const StatsLooks *looks, const double *alphas,
		    gsize alpha_count, guint paths, gint64 seed, double *ret_p);

/* The same from a file in dir that an earlier call left, or computed, and left there for later ones. The file's name is a
 * digest of all that goes in; one that is cut off, changed or not readable is as none, and a folder that cannot be written
 * costs only the time. dir NULL: no files. */
void stats_boundary_cached(const char *dir, const SampleArm *arm, const gint64 *start_ns, const StatsLooks *looks,
			   const double *alphas, gsize alpha_count, guint paths, gint64 seed, double *ret_p);
