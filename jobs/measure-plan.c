/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "jobs/measure-plan.h"

#include <string.h>

#include "jobs/schedule.h"
#include "jobs/stats/analysis.h"

/* What follows from the other members. */
static void complete(MeasurePlan *plan)
{
	if (plan->rule == STATS_RULE_SEQUENTIAL)
		plan->looks = stats_looks_plan((guint)plan->max_boots);
	else
		plan->looks = (StatsLooks){ .count = 1, .boots = { 2 * (gsize)plan->max_boots }, .fraction = { 1 } };
}

/* Drawn, since what comes every N jobs, such as a nightly series, would else always have one or never. */
gboolean measure_plan_draws_control(gint64 job, int every)
{
	g_autoptr(GRand) draw = NULL;

	if (every < 1)
		return FALSE;
	draw = g_rand_new_with_seed((guint32)(job / every));
	return job % every == g_rand_int_range(draw, 0, every);
}

static gboolean wants_control(const JobSpec *spec, int control_every)
{
	return spec->max_boots >= (int)STATS_MIN_BOOTS && !job_spec_is_calibration(spec) &&
	       measure_plan_draws_control(spec->job, control_every);
}

MeasurePlan *measure_plan_new(const JobSpec *spec, int control_every)
{
	MeasurePlan *plan = g_new0(MeasurePlan, 1);
	g_autofree char *order = schedule_order(spec->seed, spec->max_boots);
	StatsRule asked = STATS_RULE_AUTO;

	stats_rule_from_string(spec->rule, &asked);
	plan->order = schedule_with_control(order, wants_control(spec, control_every) ? (int)STATS_MIN_BOOTS : 0);
	plan->max_boots = spec->max_boots;
	plan->rule = stats_rule_for(asked, (guint)spec->max_boots);
	plan->alpha = spec->alpha;
	plan->min_effect_pct = spec->min_effect_pct;
	complete(plan);
	return plan;
}

void measure_plan_free(MeasurePlan *plan)
{
	if (!plan)
		return;
	g_free(plan->order);
	g_free(plan);
}

JsonObject *measure_plan_to_json(const MeasurePlan *plan, guint64 seed)
{
	g_autofree char *seed_text = g_strdup_printf("%" G_GUINT64_FORMAT, seed);
	JsonObject *members = json_object_new();
	JsonArray *looks = json_array_new();

	for (gsize k = 0; plan->rule == STATS_RULE_SEQUENTIAL && k < plan->looks.count; k++)
		json_array_add_int_element(looks, measure_plan_pairs(plan, k));
	json_object_set_int_member(members, "boots_per_arm", plan->max_boots);
	json_object_set_string_member(members, "order", plan->order);
	json_object_set_string_member(members, "seed", seed_text);
	json_object_set_string_member(members, "rule", stats_rule_to_string(plan->rule));
	json_object_set_array_member(members, "looks", looks);
	json_object_set_double_member(members, "alpha", plan->alpha);
	json_object_set_double_member(members, "min_effect_pct", plan->min_effect_pct);
	json_object_set_string_member(members, "method", STATS_METHOD);
	json_object_set_string_member(members, "more", stats_rule_to_string(STATS_RULE_OPEN_ENDED));
	return members;
}

gboolean measure_plan_from_json(JsonObject *object, MeasurePlan **ret_plan, GError **error)
{
	g_autoptr(MeasurePlan) plan = g_new0(MeasurePlan, 1);
	const char *order = json_object_get_string_member_with_default(object, "order", "");
	const char *rule = json_object_get_string_member_with_default(object, "rule", "fixed");

	if (!schedule_order_is_sound(order, SPEC_MAX_BOOTS))
		return spec_error_set(error, SPEC_ERROR_VALUE, "order", "a plan event without an order");
	if (!stats_rule_from_string(rule, &plan->rule) ||
	    (plan->rule != STATS_RULE_FIXED && plan->rule != STATS_RULE_SEQUENTIAL))
		return spec_error_set(error, SPEC_ERROR_VALUE, "rule", "a plan event of the rule '%.20s'", rule);
	plan->order = g_strdup(order);
	plan->max_boots = schedule_pairs(order);
	plan->alpha = json_object_get_double_member_with_default(object, "alpha", .05);
	plan->min_effect_pct = json_object_get_double_member_with_default(object, "min_effect_pct", 1);
	complete(plan);
	*ret_plan = g_steal_pointer(&plan);
	return TRUE;
}

gboolean measure_plan_has_control(const MeasurePlan *plan)
{
	return strchr(plan->order, 'C') != NULL;
}

int measure_plan_pairs(const MeasurePlan *plan, gsize look)
{
	return (int)plan->looks.boots[look] / 2;
}
