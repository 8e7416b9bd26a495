/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Where the noise comes from: variance components of boots, runs in boots, and passes in runs, by the analysis of
 * variance of a balanced nested design. For planning only, never for a p-value. */

#include <glib.h>

#include "jobs/spec/sample.h"

typedef struct {
	double boot_ms, run_ms, pass_ms;       /* mean squares; NaN without degrees of freedom */
	double boot_df, run_df, pass_df;
	double boot_var, run_var, pass_var;    /* NaN where the level cannot be told apart */
	gboolean truncated;                    /* a negative estimate is given as 0 */
} StatsComponents;

/* y[(boot·runs + run)·passes + pass]; arm has one element a boot and its means are taken out first, NULL = one arm. A
 * level with one member a group adds its variance to the level above. */
StatsComponents stats_components(const double *y, const SampleArm *arm, gsize boots, gsize runs, gsize passes);

/* The cheapest number of runs a boot: R* = ceil(√((c_boot/c_run)·(σ²_run + σ²_pass/P)/σ²_boot)), costs in any one unit.
 * 0 where boots do not vary: as many as the boot has room for. */
guint stats_best_runs(double boot_cost, double run_cost, double boot_var, double run_var, double pass_var, gsize passes);
