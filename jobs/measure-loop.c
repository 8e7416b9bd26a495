/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "jobs/measure-loop.h"

#include <string.h>

#include "jobs/measure-counters.h"
#include "jobs/measure-samples.h"
#include "jobs/measure-trust.h"
#include "jobs/spec/file.h"

/* ---- boots ---- */

/* The end of the console of the arm's last failed boot, from its artifact: a stage started again has nothing else. */
static char *failed_console(const MeasureLoop *loop, SampleArm arm)
{
	const GArray *boots = loop->history->boots;
	g_autofree char *text = NULL;
	gsize size;

	for (guint i = boots->len; i-- > 0;) {
		const ScheduleBoot *boot = &g_array_index(boots, ScheduleBoot, i);
		if (boot->arm != arm || !*boot->reason)
			continue;
		g_autofree char *path = g_strdup_printf("%s/boot-%u-console.txt", loop->stage->artifacts,
							(guint)loop->history->set_aside + i);
		if (!file_read(path, 16 * 1024 * 1024, &text, &size, NULL))
			break;
		return g_strdup(size > BOOT_CONSOLE_TAIL ? text + size - BOOT_CONSOLE_TAIL : text);
	}
	return g_strdup("");
}

/* What a failed arm means. */
static gboolean fail_arm(const MeasureLoop *loop, SampleArm arm, const char *reason)
{
	StageContext *stage = loop->stage;
	const char *name = sample_arm_to_string(arm);
	g_autofree char *console = failed_console(loop, arm);
	JsonObject *detail = json_object_new();

	json_object_set_string_member(detail, "kind", reason);
	json_object_set_string_member(detail, "console", console);
	if (g_str_equal(reason, SCHEDULE_MISPLACED))
		return stage_fail(stage, "infra-failed", SCHEDULE_MISPLACED, "", detail,
				  "threads of virtual machines on host '%s' were not on the CPUs that they were given, again and again: "
				  "the boots say which, and what else moves them there has to stop", stage->place->host);
	if (g_str_equal(reason, SCHEDULE_LOST))
		return stage_fail(stage, "infra-failed", "guest-lost", "", detail,
				  "virtual machines on host '%s' ended by themselves again and again: look at QEMU's log and at "
				  "the memory of the host", stage->place->host);
	if (arm == SAMPLE_ARM_PATCHED)
		return stage_fail(stage, "boot-failed", reason, name, detail,
				  "the patched kernel fails (%s) where the base kernel runs: this is a finding about the series",
				  reason);
	return stage_fail(stage, "boot-failed", reason, name, detail,
			  "the base kernel fails (%s), so nothing can be compared: this says nothing about the series", reason);
}

/* Until the first pairs of the order are complete. next: what is known of the look; at_most: pairs that there may be. */
static gboolean boot_until(const MeasureLoop *loop, const char *order, int pairs, int at_most, MeasureNext next)
{
	const GArray *boots = loop->history->boots;
	const char *reason;
	SampleArm arm;

	for (;;) {
		if (schedule_failed(boots, loop->stage->place->max_failed_boots, &arm, &reason))
			return fail_arm(loop, arm, reason);
		if (!schedule_next(order, pairs, boots, &next.pair, &next.arm))
			return TRUE;
		next.left = schedule_left(order, pairs, boots);
		next.left_at_most = schedule_left(order, at_most, boots);
		if (stage_stopping(loop->stage) || !loop->boot(loop->user, &next))
			return FALSE;
	}
}

/* ---- looks ---- */

static StatsResult *analyse(const MeasureLoop *loop, StatsRule rule, int max_boots)
{
	StageContext *stage = loop->stage;
	const MeasurePlan *plan = loop->history->plan;
	g_autofree char *cache = g_build_filename(stage->place->cache_dir, "boundaries", NULL);
	StatsOptions options = {
		.alpha = plan->alpha,
		.min_effect_pct = plan->min_effect_pct,
		.max_boots = (guint)max_boots,
		.rule = rule,
		.seed = 0,	/* of the job's number, which samples.csv has: anyone who has it gets the same numbers */
		.primary = loop->primary,
		.cache_dir = cache,
		.paths = loop->paths,
	};
	GError *error = NULL;

	stage_progress(stage, "comparing", 0, 0, -1);
	for (int arm = 0; arm < SAMPLE_ARM_COUNT; arm++)
		options.failed_boots[arm] = loop->history->failed_without_samples[arm];
	g_autoptr(SampleTable) table = measure_samples_load(stage->dir, loop->history->set_aside_samples, &error);
	StatsResult *result = table ? stats_analyse(table, &options, &error) : NULL;
	if (!result)
		stage_fail_error(stage, "analysis", error);
	return result;
}

/* What a reader wants to know of a comparison while others still need boots. */
static JsonArray *brief(JsonObject *result)
{
	static const char *const names[] = { "benchmark", "params", "metric", "boots", "change_pct", "ci_low_pct", "ci_high_pct",
					     "p", "p_holm", "look", "stop", "verdict" };
	JsonArray *comparisons = json_object_get_array_member(result, "comparisons"), *array = json_array_new();

	for (guint i = 0; i < json_array_get_length(comparisons); i++) {
		JsonObject *from = json_array_get_object_element(comparisons, i), *to = json_object_new();
		for (gsize j = 0; json_object_get_boolean_member(from, "primary") && j < G_N_ELEMENTS(names); j++)
			json_object_set_member(to, names[j], json_node_copy(json_object_get_member(from, names[j])));
		if (json_object_get_size(to))
			json_array_add_object_element(array, g_steal_pointer(&to));
		g_clear_pointer(&to, json_object_unref);
	}
	return array;
}

static gboolean tell_look(const MeasureLoop *loop, const StatsResult *result)
{
	const MeasurePlan *plan = loop->history->plan;
	g_autoptr(JsonNode) node = stats_result_to_json(result);
	const char *stop = stats_stop_to_string(result->stop);
	JsonObject *members = json_object_new();

	if (loop->history->looks >= result->look) {
		json_object_unref(members);
		return TRUE;	/* told before the stage was started again */
	}
	json_object_set_int_member(members, "look", result->look);
	json_object_set_int_member(members, "looks", (gint64)plan->looks.count);
	json_object_set_int_member(members, "pairs", result->pairs);
	json_object_set_int_member(members, "next_pairs",
				   stop ? 0 : measure_plan_pairs(plan, result->look));
	json_object_set_string_member(members, "stop", stop ? stop : "");
	json_object_set_array_member(members, "comparisons", brief(json_node_get_object(node)));
	stage_log(loop->stage, "look %u of %zu, after %u pairs of boots: %s", result->look, plan->looks.count, result->pairs,
		  stop ? stop : "goes on");
	loop->history->looks = result->look;
	return stage_event(loop->stage, "look", members, TRUE);
}

static gboolean tell_result(const MeasureLoop *loop, const char *type, const StatsResult *result)
{
	JsonObject *members = json_object_new();
	JsonNode *node = stats_result_to_json(result);

	stage_log(loop->stage, "%s", result->summary);
	json_object_set_array_member(json_node_get_object(node), "host_warnings",
				     host_warnings_to_json(loop->history->warnings));
	json_object_set_member(members, "result", node);
	return stage_event(loop->stage, type, members, TRUE);
}

/* The last look whose pairs are complete: a stage that is started again goes on there. */
static gsize begin_at(const MeasureHistory *history)
{
	gsize look = 0;

	while (look + 1 < history->plan->looks.count &&
	       schedule_left(history->plan->order, measure_plan_pairs(history->plan, look + 1), history->boots) == 0)
		look++;
	return look;
}

gboolean measure_loop(const MeasureLoop *loop)
{
	MeasureHistory *history = loop->history;
	const MeasurePlan *plan = history->plan;

	for (gsize look = begin_at(history); !history->has_result; look++) {
		MeasureNext next = { .look = (guint)look + 1, .looks = (guint)plan->looks.count };
		if (!boot_until(loop, plan->order, measure_plan_pairs(plan, look), plan->max_boots, next))
			return FALSE;
		g_autoptr(StatsResult) result = analyse(loop, plan->rule, plan->max_boots);
		if (!result || (result->rule == STATS_RULE_SEQUENTIAL && !tell_look(loop, result)))
			return FALSE;
		if (result->rule == STATS_RULE_SEQUENTIAL && result->stop == STATS_STOP_NOT && look + 1 < plan->looks.count)
			continue;
		if (!measure_trust(loop->stage, history, loop->primary) || !measure_counters_tell(loop->stage, plan->alpha) ||
		    !tell_result(loop, "result", result))
			return FALSE;
		history->has_result = TRUE;
	}
	return TRUE;
}

/* ---- boots added afterwards ---- */

gboolean measure_is_due(const MeasureHistory *history, const JobSpec *spec)
{
	return !history->has_result || history->more_told < spec->more_boots;
}

/* The pairs that the job had when it was done. */
static int planned_pairs(const MeasureHistory *history)
{
	return history->looks ? measure_plan_pairs(history->plan, history->looks - 1) : history->plan->max_boots;
}

static gboolean tell_more(const MeasureLoop *loop)
{
	MeasureHistory *history = loop->history;
	const MeasurePlan *plan = history->plan;
	JsonObject *members = json_object_new();

	history->more_boots = loop->stage->spec->more_boots;
	history->more_pairs = planned_pairs(history) + history->more_boots;
	g_free(history->more_order);
	history->more_order = schedule_extend(plan->order, history->more_pairs);
	json_object_set_int_member(members, "more_boots", history->more_boots);
	json_object_set_int_member(members, "boots_per_arm", history->more_pairs);
	json_object_set_string_member(members, "order", history->more_order);
	json_object_set_string_member(members, "rule", stats_rule_to_string(STATS_RULE_OPEN_ENDED));
	json_object_set_double_member(members, "alpha", plan->alpha);
	json_object_set_double_member(members, "min_effect_pct", plan->min_effect_pct);
	json_object_set_string_member(members, "method", STATS_METHOD);
	return stage_event(loop->stage, "more", members, TRUE);
}

gboolean measure_more(const MeasureLoop *loop)
{
	MeasureHistory *history = loop->history;

	if (!measure_is_due(history, loop->stage->spec))
		return TRUE;
	if (history->more_boots < loop->stage->spec->more_boots && !tell_more(loop))
		return FALSE;
	if (!boot_until(loop, history->more_order, history->more_pairs, history->more_pairs, (MeasureNext){ .looks = 1 }))
		return FALSE;
	g_autoptr(StatsResult) result = analyse(loop, STATS_RULE_OPEN_ENDED, history->more_pairs);
	if (!result || !measure_counters_tell(loop->stage, history->plan->alpha) || !tell_result(loop, "more-result", result))
		return FALSE;
	history->more_told = history->more_boots;
	return TRUE;
}
