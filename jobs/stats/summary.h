/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* From the raw samples of one comparison to one number a boot: the median over its runs of the mean over the passes of a
 * run. Pass 0, the warm-up, does not count.
 *
 * A run has to have every pass from 1 to the highest number that any run has, each with a value; else the run is
 * rejected. A boot has to keep at least half of the runs that there are; else the boot is rejected. Samples of boots that
 * are not valid are not looked at.
 */

#include <glib.h>

#include "jobs/spec/sample.h"

typedef struct {
	SampleArm arm;
	int boot, pair;
	gint64 start_ns;
	double value; /* in the metric's unit */
} StatsBoot;

typedef struct {
	GArray *boots; /* StatsBoot, in the order in which they started (boot number where times are equal) */
	guint rejected[SAMPLE_ARM_COUNT];
	guint runs;          /* different run numbers */
	guint passes;        /* counted passes a run */
	guint runs_rejected;
	char *rejection;     /* the first run or boot rejected, and why; NULL = none */
	char *invalid;       /* why these samples cannot be compared; NULL = they can */
	const char *clock;   /* NULL = none or several; owned by the samples' table */
	/* Logarithms of all passes, [boot][run][pass], with the boots' arms; NULL unless the data are balanced. */
	double *passes_log;
	SampleArm *passes_arm;
} StatsSummary;

/* samples: pointers to the samples of one benchmark, parameter set and metric, in any order. */
StatsSummary *stats_summary_new(const Sample *const *samples, gsize count);
void stats_summary_free(StatsSummary *summary);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(StatsSummary, stats_summary_free)
