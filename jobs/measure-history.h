/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a run directory already holds when the measure stage begins, or begins again. */
#pragma once

#include "jobs/host-warnings.h"
#include "jobs/measure-plan.h"
#include "jobs/schedule.h"
#include "jobs/spec/event.h"
#include "jobs/vm-xml.h"

#define MEASURE_DISTURBED SCHEDULE_DISTURBED	/* the reason of a boot that the host disturbed */

typedef struct {
	char *kernel[SAMPLE_ARM_COUNT];		/* paths in the cache; NULL: no arm event yet */
	char *release[SAMPLE_ARM_COUNT];	/* kernel_release */

	char *host;		/* where it is measured; NULL: nowhere yet */
	int set_aside;		/* boots before those below, on hosts that the job has left */
	gint64 set_aside_samples;	/* theirs, the first lines of samples.jsonl */
	gboolean has_accelerator;
	VmAccelerator accelerator;
	JobClock clock;

	MeasurePlan *plan;	/* NULL: no plan event yet */
	guint looks;		/* the last look event; 0: none yet */
	GArray *boots;		/* of ScheduleBoot; reasons are of the history */
	GStringChunk *text;
	gint64 samples;		/* lines of samples.jsonl that the boot events count */
	gint64 boots_ns;	/* all boots' time together */
	guint failed_without_samples[SAMPLE_ARMS];
	gboolean last_failed_silently;	/* the last boot is one of these */
	gboolean has_result;

	char *host_state;	/* id of the last host-state event; empty: none yet */
	guint disturbed;	/* boots that were replaced for it */
	HostWarnings *warnings;

	/* boots added to a job that was done */
	int more_boots;		/* of the last more event; 0: none */
	int more_pairs;		/* in all, that it wants complete */
	char *more_order;
	int more_told;		/* more_boots of the last more-result event */
} MeasureHistory;

/* An event that is not as ARCHITECTURE.md has it is an error. */
gboolean measure_history_load(const char *dir, MeasureHistory **ret_history, GError **error);
void measure_history_free(MeasureHistory *history);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(MeasureHistory, measure_history_free)

/* The job begins anew on another host: what there is so far is kept, and counts no longer. */
void measure_history_set_aside(MeasureHistory *history, const char *host);

int measure_history_next_boot(const MeasureHistory *history);	/* the number of the boot to come */

/* One boot more. reason is copied. */
void measure_history_add_boot(MeasureHistory *history, int pair, SampleArm arm, const char *reason, gint64 samples,
			      gint64 duration_ns);
