/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* What many boots of one kernel tell of a host: how much its figures vary and from where, and so what a job can see on
 * it. For planning only: no figure of a calibration enters a p-value or a verdict. */

#include <json-glib/json-glib.h>

#include "jobs/spec/sample.h"
#include "jobs/stats/steady.h"

#define STATS_CALIBRATION_EFFECTS 3
extern const guint stats_calibration_boots[STATS_CALIBRATION_EFFECTS]; /* 4, 10, 20 boots an arm */

/* Below this p a host is said to drift, to remember its last boot, or to have several humps. */
#define STATS_STEADY_ALPHA .01

/* Of one boot on this host, in seconds. */
typedef struct {
	double boot_s; /* from its start to its first sample */
	double run_s;  /* of one run of a benchmark */
} StatsCosts;

/* One benchmark, parameter set and clock. Numbers that could not be computed are NaN. */
typedef struct {
	char *benchmark, *params, *metric, *unit, *clock;
	guint boots, runs, passes; /* boots that counted; runs a boot; counted passes a run */
	double mean;               /* geometric, of the boot summaries, in the unit */
	StatsSteadiness steadiness; /* of the boot summaries */
	double boot_var, run_var, pass_var; /* components.h, on the log scale */
	gboolean truncated;
	guint best_runs;           /* R*; 0: boots do not vary or nothing is known: as many as there is room for */
	double effect_pct[STATS_CALIBRATION_EFFECTS]; /* found with power .8 at alpha .05 in so many boots an arm */
} StatsCalibration;

void stats_calibration_free(StatsCalibration *calibration);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(StatsCalibration, stats_calibration_free)

/* The smallest effect in percent that `boots` boots an arm find with power STATS_POWER at `alpha`, where boots vary with
 * standard deviation sd on the log scale; 0 where they do not vary and the exact test can reach alpha; NaN where no
 * effect can be found. */
double stats_visible_effect_pct(double sd, guint boots, double alpha);

/* An array of StatsCalibration, by benchmark and parameter set, that owns them. All arms count as one kernel. primary:
 * "benchmark=metric" strings ended by NULL; benchmarks that it does not name are left out. A set of samples that cannot
 * be compared (summary.h) is left out as well. seed: of the draws. */
GPtrArray *stats_calibrate(const SampleTable *table, const char *const *primary, const StatsCosts *costs, gint64 seed);

JsonObject *stats_calibration_to_json(const StatsCalibration *calibration); /* transfer full; NaN is null */
