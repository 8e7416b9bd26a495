/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/trust.h"

#include <math.h>

#include "jobs/spec/error.h"
#include "jobs/spec/peek.h"
#include "jobs/stats/result.h"

#define MAX_CALIBRATIONS STATS_COMPARISONS_MAX

/* ---- a kernel compared with itself ---- */

/* Whether the comparison says that the arms differ, however little: its interval excludes 0, or, where nothing varies and
 * there is no interval, its p is small enough (jobs/stats/verdict.h). */
static gboolean is_alarm(const StatsComparison *comparison, double alpha)
{
	if (!isnan(comparison->ci_low_pct))
		return comparison->ci_low_pct > 0 || comparison->ci_high_pct < 0;
	return comparison->p_holm <= alpha;
}

/* One line for each benchmark whose comparisons could raise an alarm. */
static GArray *find_alarms(const StatsResult *result)
{
	GArray *alarms = g_array_new(FALSE, FALSE, sizeof(StoreAlarm));
	StoreAlarm *alarm = NULL;

	for (guint i = 0; i < result->comparisons->len; i++) {
		const StatsComparison *comparison = g_ptr_array_index(result->comparisons, i);

		if (!comparison->primary || comparison->verdict == STATS_VERDICT_INVALID ||
		    comparison->verdict == STATS_VERDICT_INSUFFICIENT)
			continue;
		/* a result is sorted by benchmark */
		if (!alarm || !g_str_equal(alarm->benchmark, comparison->benchmark)) {
			StoreAlarm next = { .benchmark = comparison->benchmark, .p = NAN };

			g_array_append_val(alarms, next);
			alarm = &g_array_index(alarms, StoreAlarm, alarms->len - 1);
		}
		alarm->sets++;
		alarm->p = fmin(alarm->p, comparison->p_holm);
		alarm->alarm |= is_alarm(comparison, result->alpha);
	}
	return alarms;
}

/* The ledger counts false alarms at one rate. */
static gboolean may_count(const StatsResult *result)
{
	return result->alpha <= STATS_LEDGER_ALPHA && result->clock;
}

static gboolean count_alarms(StoreIngest *ingest, const GArray *alarms, const char *clock, gint64 now_ns, GError **error)
{
	for (guint i = 0; i < alarms->len; i++)
		if (!store_ingest_alarm(ingest, &g_array_index(alarms, StoreAlarm, i), clock, now_ns, error))
			return FALSE;
	return TRUE;
}

static gboolean take_same_source(StoreIngest *ingest, const StatsResult *result, gint64 now_ns, GError **error)
{
	g_autoptr(GArray) alarms = NULL;
	gboolean same;

	if (!may_count(result))
		return TRUE;
	if (!store_ingest_same_source(ingest, &same, error))
		return FALSE;
	if (!same)
		return TRUE;
	alarms = find_alarms(result);
	return count_alarms(ingest, alarms, result->clock, now_ns, error);
}

/* ---- the control arm ---- */

static JsonObject *control_json(const StatsResult *result, const GArray *alarms, gboolean counts)
{
	JsonObject *object = json_object_new();
	JsonArray *lines = json_array_new();

	for (guint i = 0; i < alarms->len; i++) {
		const StoreAlarm *alarm = &g_array_index(alarms, StoreAlarm, i);
		JsonObject *line = json_object_new();

		json_object_set_string_member(line, "benchmark", alarm->benchmark);
		json_object_set_int_member(line, "sets", alarm->sets);
		if (isnan(alarm->p))
			json_object_set_null_member(line, "p");
		else
			json_object_set_double_member(line, "p", alarm->p);
		json_object_set_boolean_member(line, "alarm", alarm->alarm);
		json_array_add_object_element(lines, line);
	}
	json_object_set_int_member(object, "boots", result->max_boots);
	json_object_set_boolean_member(object, "counts", counts);
	json_object_set_array_member(object, "comparisons", lines);
	json_object_set_string_member(object, "arguments", result->arguments ? result->arguments : "");
	return object;
}

gboolean trust_take_control(StoreIngest *ingest, JsonObject *object, gint64 now_ns, GError **error)
{
	g_autoptr(JsonNode) node = json_node_init_object(json_node_alloc(), object);
	g_autoptr(StatsResult) result = stats_result_from_json(node, error);
	g_autoptr(JsonObject) control = NULL;
	g_autoptr(GArray) alarms = NULL;
	gboolean same, counts;

	if (!result || !store_ingest_same_source(ingest, &same, error))
		return FALSE;
	alarms = find_alarms(result);
	for (guint i = 0; i < alarms->len; i++)
		g_array_index(alarms, StoreAlarm, i).control = TRUE;
	counts = alarms->len && !same && may_count(result);
	if (counts && !count_alarms(ingest, alarms, result->clock, now_ns, error))
		return FALSE;
	control = control_json(result, alarms, counts);
	return store_ingest_document(ingest, "control", control, error);
}

/* ---- JSON ---- */

static JsonObject *ledger_json(const StoreLedger *ledger)
{
	JsonObject *object = json_object_new();

	json_object_set_string_member(object, "benchmark", ledger->benchmark);
	json_object_set_string_member(object, "clock", ledger->clock);
	json_object_set_int_member(object, "comparisons", ledger->comparisons);
	json_object_set_int_member(object, "of_control_arms", ledger->of_controls);
	json_object_set_int_member(object, "alarms", ledger->alarms);
	json_object_set_double_member(object, "alarms_expected", STATS_LEDGER_ALPHA * ledger->comparisons);
	json_object_set_int_member(object, "limit", ledger->limit);
	json_object_set_string_member(object, "fitness", stats_fitness_to_string(ledger->fitness));
	json_object_set_int_member(object, "last_job", ledger->last_job);
	return object;
}

static JsonObject *calibration_json(const StoreCalibration *calibration)
{
	JsonObject *object = json_object_ref(calibration->row);

	json_object_set_int_member(object, "job", calibration->job);
	json_object_set_int_member(object, "time_ns", calibration->time_ns);
	json_object_set_string_member(object, "config_sha256", calibration->config_sha256);
	return object;
}

gboolean trust_add_host(Db *db, const char *host, JsonObject *object, GError **error)
{
	g_autoptr(GPtrArray) ledger = NULL, calibrations = NULL;
	JsonArray *lines, *rows;

	if (!store_ledger(db, host, &ledger, error) || !store_calibrations(db, host, &calibrations, error))
		return FALSE;
	lines = json_array_new();
	rows = json_array_new();
	for (guint i = 0; i < ledger->len; i++)
		json_array_add_object_element(lines, ledger_json(g_ptr_array_index(ledger, i)));
	for (guint i = 0; i < calibrations->len; i++)
		json_array_add_object_element(rows, calibration_json(g_ptr_array_index(calibrations, i)));
	json_object_set_array_member(object, "false_alarms", lines);
	json_object_set_array_member(object, "calibrations", rows);
	return TRUE;
}

/* ---- how fit the host is ---- */

static gboolean is_measured(const StatsResult *result, const StoreLedger *ledger)
{
	if (g_strcmp0(result->clock, ledger->clock) != 0)
		return FALSE;
	for (guint i = 0; i < result->comparisons->len; i++)
		if (g_str_equal(((StatsComparison *)g_ptr_array_index(result->comparisons, i))->benchmark, ledger->benchmark))
			return TRUE;
	return FALSE;
}

/* The ledger's lines that concern the result; the host is as fit as the worst of them. */
static gboolean keep_trust(StoreIngest *ingest, const StatsResult *result, GError **error)
{
	g_autoptr(GPtrArray) ledger = NULL;
	g_autoptr(JsonObject) trust = json_object_new();
	JsonArray *lines = json_array_new();
	StatsFitness fitness = STATS_FITNESS_UNKNOWN;

	json_object_set_array_member(trust, "false_alarms", lines);
	if (!store_ingest_ledger(ingest, &ledger, error))
		return FALSE;
	for (guint i = 0; i < ledger->len; i++) {
		const StoreLedger *line = g_ptr_array_index(ledger, i);

		if (!is_measured(result, line))
			continue;
		fitness = MAX(fitness, line->fitness);
		json_array_add_object_element(lines, ledger_json(line));
	}
	json_object_set_string_member(trust, "fitness", stats_fitness_to_string(fitness));
	return store_ingest_document(ingest, "trust", trust, error);
}

/* ---- events ---- */

gboolean trust_take_result(StoreIngest *ingest, JsonObject *object, gint64 now_ns, GError **error)
{
	g_autoptr(JsonNode) node = json_node_init_object(json_node_alloc(), object);
	g_autoptr(StatsResult) result = stats_result_from_json(node, error);

	return result && take_same_source(ingest, result, now_ns, error) && keep_trust(ingest, result, error);
}

gboolean trust_take_calibration(StoreIngest *ingest, JsonObject *event, gint64 now_ns, GError **error)
{
	JsonArray *rows = peek_array(event, "rows");
	const char *config_sha256 = peek_string(event, "config_sha256");

	if (!*config_sha256 || peek_length(rows) > MAX_CALIBRATIONS)
		return spec_error_set(error, SPEC_ERROR_VALUE, "calibration", "does not say of which configuration, or is too long");
	for (guint i = 0; i < peek_length(rows); i++) {
		JsonObject *row = peek_element(rows, i);

		if (!*peek_string(row, "benchmark") || !*peek_string(row, "clock"))
			return spec_error_set(error, SPEC_ERROR_MISSING, "rows", "a calibration without benchmark or clock");
		if (!store_ingest_calibration(ingest, config_sha256, row, now_ns, error))
			return FALSE;
	}
	return TRUE;
}
