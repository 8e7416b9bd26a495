/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How a job is to be measured and decided: the plan event, stored before the
 * first boot and never changed. A stage that is started again goes by it,
 * whatever its program or spec.json say by then.
 */
#pragma once

#include "jobs/spec/spec.h"
#include "jobs/stats/result.h"
#include "jobs/stats/sequential.h"

typedef struct {
	char *order;		/* of jobs/schedule.h, for max_boots pairs, and control boots if there are any */
	int max_boots;		/* an arm */
	StatsRule rule;		/* fixed or sequential */
	double alpha, min_effect_pct;
	StatsLooks looks;	/* fixed: one, at max_boots pairs */
} MeasurePlan;

/* control_every: one of so many jobs in a row has a control arm, in its first STATS_MIN_BOOTS pairs; 0: none. */
MeasurePlan *measure_plan_new(const JobSpec *spec, int control_every);
gboolean measure_plan_draws_control(gint64 job, int every);
gboolean measure_plan_has_control(const MeasurePlan *plan);
void measure_plan_free(MeasurePlan *plan);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(MeasurePlan, measure_plan_free)

/* The members of the plan event; the caller's. */
JsonObject *measure_plan_to_json(const MeasurePlan *plan, guint64 seed);

/* An event without a rule is of a release that had only the fixed one. */
gboolean measure_plan_from_json(JsonObject *object, MeasurePlan **ret_plan, GError **error);

/* How many pairs look k (0 = the first) is after. */
int measure_plan_pairs(const MeasurePlan *plan, gsize look);
