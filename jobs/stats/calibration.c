/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "jobs/stats/calibration.h"

#include <math.h>
#include <string.h>

#include "jobs/spec/json-text.h"
#include "jobs/stats/compare.h"
#include "jobs/stats/components.h"
#include "jobs/stats/descriptive.h"
#include "jobs/stats/permutation.h"
#include "jobs/stats/power.h"
#include "jobs/stats/summary.h"

#define TREND_FITTED 3 /* level, change and drift: trend.h */
#define ALPHA .05

const guint stats_calibration_boots[STATS_CALIBRATION_EFFECTS] = { 4, 10, 20 };

void stats_calibration_free(StatsCalibration *calibration)
{
	if (!calibration)
		return;
	g_free(calibration->benchmark);
	g_free(calibration->params);
	g_free(calibration->metric);
	g_free(calibration->unit);
	g_free(calibration->clock);
	g_free(calibration);
}

double stats_visible_effect_pct(double sd, guint boots, double alpha)
{
	if (sd <= 0)
		return boots >= stats_permutation_min_boots(alpha) ? 0 : NAN;
	return stats_percent(sd * stats_effect_for(boots, alpha, STATS_POWER, TREND_FITTED));
}

static gboolean is_primary(const char *const *primary, const Sample *sample)
{
	gsize length = strlen(sample->benchmark);

	for (; *primary; primary++)
		if (g_str_has_prefix(*primary, sample->benchmark) && (*primary)[length] == '=' &&
		    g_str_equal(*primary + length + 1, sample->metric))
			return TRUE;
	return FALSE;
}

static void calibrate_boots(StatsCalibration *calibration, const StatsSummary *summary, gint64 seed)
{
	gsize n = summary->boots->len;
	g_autofree double *y = g_new(double, n);
	g_autofree gint64 *start_ns = g_new(gint64, n);

	for (gsize i = 0; i < n; i++) {
		const StatsBoot *boot = &g_array_index(summary->boots, StatsBoot, i);

		y[i] = log(boot->value);
		start_ns[i] = boot->start_ns;
	}
	calibration->mean = exp(stats_mean(y, n));
	calibration->steadiness = stats_steadiness(y, start_ns, n, seed);
	for (gsize i = 0; i < STATS_CALIBRATION_EFFECTS; i++)
		calibration->effect_pct[i] = stats_visible_effect_pct(calibration->steadiness.sd, stats_calibration_boots[i],
								      ALPHA);
}

static void calibrate_components(StatsCalibration *calibration, const StatsSummary *summary, const StatsCosts *costs)
{
	StatsComponents components;

	calibration->boot_var = calibration->run_var = calibration->pass_var = NAN;
	if (!summary->passes_log)
		return;
	components = stats_components(summary->passes_log, NULL, summary->boots->len, summary->runs, summary->passes);
	calibration->boot_var = components.boot_var;
	calibration->run_var = components.run_var;
	calibration->pass_var = components.pass_var;
	calibration->truncated = components.truncated;
	/* what is not known to vary costs no runs */
	if (costs->boot_s > 0 && costs->run_s > 0)
		calibration->best_runs = stats_best_runs(costs->boot_s, costs->run_s, components.boot_var,
							 isnan(components.run_var) ? 0 : components.run_var,
							 isnan(components.pass_var) ? 0 : components.pass_var, summary->passes);
}

/* NULL: these samples cannot be used. */
static StatsCalibration *calibrate(const GPtrArray *samples, const StatsCosts *costs, gint64 seed)
{
	g_autoptr(StatsSummary) summary = stats_summary_new((const Sample *const *)samples->pdata, samples->len);
	const Sample *first = g_ptr_array_index(samples, 0);
	StatsCalibration *calibration;

	if (summary->invalid || !summary->boots->len)
		return NULL;
	calibration = g_new0(StatsCalibration, 1);
	calibration->benchmark = g_strdup(first->benchmark);
	calibration->params = g_strdup(first->params);
	calibration->metric = g_strdup(first->metric);
	calibration->unit = g_strdup(first->unit);
	calibration->clock = g_strdup(summary->clock);
	calibration->boots = summary->boots->len;
	calibration->runs = summary->runs;
	calibration->passes = summary->passes;
	calibrate_boots(calibration, summary, seed);
	calibrate_components(calibration, summary, costs);
	return calibration;
}

static int compare_names(const void *a, const void *b)
{
	const StatsCalibration *left = *(StatsCalibration *const *)a, *right = *(StatsCalibration *const *)b;
	int order = strcmp(left->benchmark, right->benchmark);

	return order ? order : strcmp(left->params, right->params);
}

GPtrArray *stats_calibrate(const SampleTable *table, const char *const *primary, const StatsCosts *costs, gint64 seed)
{
	g_autoptr(GHashTable) groups = g_hash_table_new_full(g_str_hash, g_str_equal, g_free,
							     (GDestroyNotify)g_ptr_array_unref);
	GPtrArray *calibrations = g_ptr_array_new_with_free_func((GDestroyNotify)stats_calibration_free);
	GHashTableIter iter;
	gpointer value;

	for (gsize i = 0; i < sample_table_length(table); i++) {
		const Sample *sample = sample_table_get(table, i);
		g_autofree char *key = g_strjoin(" ", sample->benchmark, sample->params, NULL);
		GPtrArray *samples = g_hash_table_lookup(groups, key);

		if (!is_primary(primary, sample))
			continue;
		if (!samples) {
			samples = g_ptr_array_new();
			g_hash_table_insert(groups, g_steal_pointer(&key), samples);
		}
		g_ptr_array_add(samples, (gpointer)sample);
	}
	g_hash_table_iter_init(&iter, groups);
	while (g_hash_table_iter_next(&iter, NULL, &value)) {
		StatsCalibration *calibration = calibrate(value, costs, seed);

		if (calibration)
			g_ptr_array_add(calibrations, calibration);
	}
	g_ptr_array_sort(calibrations, compare_names);
	return calibrations;
}

/* ---- JSON ---- */

static double sd_pct(double variance)
{
	return isnan(variance) ? NAN : stats_percent(sqrt(variance));
}

static JsonArray *effects(const StatsCalibration *calibration)
{
	JsonArray *array = json_array_new();

	for (gsize i = 0; i < STATS_CALIBRATION_EFFECTS; i++) {
		JsonObject *effect = json_object_new();

		json_object_set_int_member(effect, "boots_per_arm", stats_calibration_boots[i]);
		json_set_double(effect, "effect_pct", calibration->effect_pct[i]);
		json_array_add_object_element(array, effect);
	}
	return array;
}

/* NaN is below nothing: what is not known raises no warning. */
static JsonArray *warnings(const StatsSteadiness *steadiness)
{
	const struct {
		const char *name;
		double p;
	} rows[] = {
		{ "drifts", steadiness->drift_p },
		{ "autocorrelated", steadiness->lag1_p },
		{ "several-humps", steadiness->dip_p },
	};
	JsonArray *array = json_array_new();

	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++)
		if (rows[i].p < STATS_STEADY_ALPHA)
			json_array_add_string_element(array, rows[i].name);
	return array;
}

JsonObject *stats_calibration_to_json(const StatsCalibration *calibration)
{
	const StatsSteadiness *steadiness = &calibration->steadiness;
	JsonObject *object = json_object_new();

	json_object_set_string_member(object, "benchmark", calibration->benchmark);
	json_object_set_string_member(object, "params", calibration->params);
	json_object_set_string_member(object, "metric", calibration->metric);
	json_object_set_string_member(object, "unit", calibration->unit);
	json_object_set_string_member(object, "clock", calibration->clock);
	json_object_set_int_member(object, "boots", calibration->boots);
	json_object_set_int_member(object, "runs", calibration->runs);
	json_object_set_int_member(object, "passes", calibration->passes);
	json_set_double(object, "mean", calibration->mean);
	json_set_double(object, "sd_log", steadiness->sd);
	json_set_double(object, "sd_pct", stats_percent(steadiness->sd));
	json_set_double(object, "boot_sd_pct", sd_pct(calibration->boot_var));
	json_set_double(object, "run_sd_pct", sd_pct(calibration->run_var));
	json_set_double(object, "pass_sd_pct", sd_pct(calibration->pass_var));
	json_object_set_boolean_member(object, "components_truncated", calibration->truncated);
	if (calibration->best_runs)
		json_object_set_int_member(object, "best_runs", calibration->best_runs);
	else
		json_object_set_null_member(object, "best_runs");
	json_set_double(object, "drift_pct", stats_percent(steadiness->drift));
	json_set_double(object, "drift_p", steadiness->drift_p);
	json_set_double(object, "lag1", steadiness->lag1);
	json_set_double(object, "lag1_p", steadiness->lag1_p);
	json_set_double(object, "dip", steadiness->dip);
	json_set_double(object, "dip_p", steadiness->dip_p);
	json_object_set_array_member(object, "warnings", warnings(steadiness));
	json_object_set_array_member(object, "effects", effects(calibration));
	return object;
}
