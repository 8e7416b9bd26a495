/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Measures in looks: boots up to a look, analyses what there is, goes on or
 * stops as the plan's rule says, and writes the result. What is decided
 * follows from events.jsonl and samples.jsonl alone, so that a stage started
 * again decides the same; who makes the boots is asked from outside.
 */
#pragma once

#include "jobs/measure-history.h"
#include "jobs/stage.h"
#include "jobs/stats/analysis.h"

/* The boot to be made next. */
typedef struct {
	int pair;
	SampleArm arm;
	guint look, looks;	/* the look that it is for, from 1 on, and how many there may be */
	int left;		/* boots until that look, this one included, if none fails */
	int left_at_most;	/* and until there are no more */
} MeasureNext;

typedef struct {
	StageContext *stage;
	MeasureHistory *history;	/* with its plan */
	const char *const *primary;	/* as in StatsOptions */
	guint paths;			/* likewise */

	/* Makes a boot; adds it to events, samples and history. FALSE: the stage stops or has failed. */
	gboolean (*boot)(gpointer user, const MeasureNext *next);
	gpointer user;
} MeasureLoop;

/* To the result event, if there is none yet. FALSE: the stage stops or has failed. */
gboolean measure_loop(const MeasureLoop *loop);

/*
 * Boots added to a job that has its result: as many pairs as spec.more_boots
 * asks for, then a more-result event of the open-ended rule over all boots.
 * The result before is left as it was. Nothing to do: TRUE.
 */
gboolean measure_more(const MeasureLoop *loop);

/* Whether measure_loop() or measure_more() have something to do. */
gboolean measure_is_due(const MeasureHistory *history, const JobSpec *spec);
