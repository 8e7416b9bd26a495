/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "jobs/measure-trust.h"

#include "jobs/measure-samples.h"
#include "jobs/stats/calibration.h"
#include "jobs/stats/control.h"

#define NS_PER_S 1e9

/* ---- calibration ---- */

/* Of the boots that counted, in nanoseconds, and whose kernel it was. */
typedef struct {
	double to_first_sample, after;
	guint boots;
	char *config_sha256;
} Boots;

static gboolean take_event(gint64 seq G_GNUC_UNUSED, const char *type, JsonObject *object, gpointer data,
			   GError **error G_GNUC_UNUSED)
{
	Boots *boots = data;

	if (g_str_equal(type, "arm") &&
	    g_str_equal(json_object_get_string_member_with_default(object, "arm", ""), sample_arm_to_string(SAMPLE_ARM_BASE))) {
		g_free(boots->config_sha256);
		boots->config_sha256 = g_strdup(json_object_get_string_member_with_default(object, "config_sha256", ""));
	}
	if (g_str_equal(type, "boot") && json_object_get_boolean_member_with_default(object, "valid", FALSE)) {
		gint64 start_ns = json_object_get_int_member_with_default(object, "start_ns", 0);
		gint64 first_ns = json_object_get_int_member_with_default(object, "first_sample_ns", 0);

		boots->to_first_sample += (double)(first_ns - start_ns);
		boots->after += (double)(json_object_get_int_member_with_default(object, "end_ns", 0) - first_ns);
		boots->boots++;
	}
	return TRUE;
}

/* Runs of all benchmarks in one boot: they come one after the other. */
static guint count_runs(const SampleTable *table)
{
	const Sample *last = NULL;
	guint runs = 0;

	for (gsize i = 0; i < sample_table_length(table); i++) {
		const Sample *sample = sample_table_get(table, i);

		if (sample->boot != sample_table_get(table, 0)->boot)
			break;
		runs += !last || sample->run != last->run || sample->params != last->params ||
			sample->benchmark != last->benchmark;
		last = sample;
	}
	return runs;
}

static gboolean tell_calibration(StageContext *stage, const SampleTable *table, const char *const *primary)
{
	g_autofree char *config_sha256 = NULL;
	Boots boots = { 0 };
	StatsCosts costs = { 0 };
	guint runs = count_runs(table);
	gint64 offset = 0;
	GError *error = NULL;
	gboolean read = event_read(stage->dir, &offset, 0, take_event, &boots, &error);

	config_sha256 = boots.config_sha256;
	if (!read)
		return stage_fail_error(stage, "run-directory", error);
	if (boots.boots && runs) {
		costs.boot_s = boots.to_first_sample / boots.boots / NS_PER_S;
		costs.run_s = boots.after / boots.boots / runs / NS_PER_S;
	}
	g_autoptr(GPtrArray) calibrations = stats_calibrate(table, primary, &costs, stage->spec->job);
	JsonArray *rows = json_array_new();
	JsonObject *members = json_object_new();
	for (guint i = 0; i < calibrations->len; i++)
		json_array_add_object_element(rows, stats_calibration_to_json(g_ptr_array_index(calibrations, i)));
	json_object_set_string_member(members, "config_sha256", config_sha256 ? config_sha256 : "");
	json_object_set_array_member(members, "rows", rows);
	return stage_event(stage, "calibration", members, TRUE);
}

/* ---- the control arm ---- */

static gboolean tell_control(StageContext *stage, const SampleTable *table, const char *const *primary)
{
	StatsOptions options = STATS_OPTIONS_DEFAULT;
	GError *error = NULL;
	JsonObject *members;

	options.primary = primary;
	g_autoptr(StatsResult) result = stats_analyse_control(table, &options, &error);
	if (!result)
		return stage_fail_error(stage, "analysis", error);
	members = json_object_new();
	json_object_set_member(members, "result", stats_result_to_json(result));
	return stage_event(stage, "control", members, TRUE);
}

gboolean measure_trust(StageContext *stage, const MeasureHistory *history, const char *const *primary)
{
	gboolean calibrates = job_spec_is_calibration(stage->spec), has_control = measure_plan_has_control(history->plan);
	g_autoptr(SampleTable) table = NULL;
	GError *error = NULL;

	if (!calibrates && !has_control)
		return TRUE;
	table = measure_samples_load(stage->dir, history->set_aside_samples, &error);
	if (!table)
		return stage_fail_error(stage, "run-directory", error);
	return calibrates ? tell_calibration(stage, table, primary) : tell_control(stage, table, primary);
}
