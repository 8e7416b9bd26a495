/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "jobs/stats/result.h"

#include <math.h>

G_DEFINE_QUARK(regrlab-stats-result-error-quark, stats_result_error)

static const char *const rules[STATS_RULE_COUNT] = {
	[STATS_RULE_AUTO] = "auto",
	[STATS_RULE_FIXED] = "fixed",
	[STATS_RULE_SEQUENTIAL] = "sequential",
	[STATS_RULE_OPEN_ENDED] = "open-ended",
};

static const char *const stops[STATS_STOP_COUNT] = {
	[STATS_STOP_FOUND] = "found",	[STATS_STOP_EQUIVALENT] = "equivalent", [STATS_STOP_FUTILE] = "futile",
	[STATS_STOP_END] = "max-boots", [STATS_STOP_INVALID] = "invalid",
};

const char *stats_rule_to_string(StatsRule rule)
{
	g_assert(rule < STATS_RULE_COUNT);
	return rules[rule];
}

gboolean stats_rule_from_string(const char *text, StatsRule *ret_rule)
{
	for (int i = 0; i < STATS_RULE_COUNT; i++)
		if (g_str_equal(rules[i], text)) {
			*ret_rule = (StatsRule)i;
			return TRUE;
		}
	return FALSE;
}

const char *stats_stop_to_string(StatsStop stop)
{
	g_assert(stop < STATS_STOP_COUNT);
	return stops[stop];
}

gboolean stats_stop_from_string(const char *text, StatsStop *ret_stop)
{
	for (int i = 0; i < STATS_STOP_COUNT; i++)
		if (stops[i] && g_str_equal(stops[i], text)) {
			*ret_stop = (StatsStop)i;
			return TRUE;
		}
	return FALSE;
}

StatsComparison *stats_comparison_new(void)
{
	StatsComparison *comparison = g_new(StatsComparison, 1);

	*comparison = (StatsComparison){
		.mean = { NAN, NAN }, .change_pct = NAN, .ci_low_pct = NAN, .ci_high_pct = NAN, .ci_level = NAN, .p = NAN,
		.p_holm = NAN, .p_bh = NAN, .p_permutation = NAN, .drift_p = NAN, .hl_shift_pct = NAN, .hl_low_pct = NAN,
		.hl_high_pct = NAN, .residual_sd_pct = NAN, .without_change_pct = NAN, .without_ci_low_pct = NAN,
		.without_ci_high_pct = NAN, .boot_sd_pct = NAN, .run_sd_pct = NAN, .pass_sd_pct = NAN,
	};
	for (int a = 0; a < SAMPLE_ARM_COUNT; a++)
		comparison->boot_values[a] = g_array_new(FALSE, FALSE, sizeof(double));
	comparison->outliers = g_array_new(FALSE, FALSE, sizeof(StatsOutlier));
	return comparison;
}

void stats_comparison_free(StatsComparison *comparison)
{
	if (!comparison)
		return;
	g_free(comparison->benchmark);
	g_free(comparison->params);
	g_free(comparison->metric);
	g_free(comparison->unit);
	g_free(comparison->clock);
	g_free(comparison->reason);
	g_free(comparison->method);
	for (int a = 0; a < SAMPLE_ARM_COUNT; a++)
		g_array_unref(comparison->boot_values[a]);
	g_array_unref(comparison->outliers);
	g_free(comparison);
}

static void free_comparison(void *data)
{
	stats_comparison_free(data);
}

StatsResult *stats_result_new(void)
{
	StatsResult *result = g_new0(StatsResult, 1);

	result->comparisons = g_ptr_array_new_with_free_func(free_comparison);
	result->looks = g_array_new(FALSE, FALSE, sizeof(guint));
	result->rule = STATS_RULE_FIXED;
	result->alpha = result->min_effect_pct = result->failures.p = NAN;
	return result;
}

void stats_result_free(StatsResult *result)
{
	if (!result)
		return;
	g_free(result->method);
	g_free(result->clock);
	g_free(result->summary);
	g_free(result->failures.reason);
	g_free(result->arguments);
	g_array_unref(result->looks);
	g_ptr_array_unref(result->comparisons);
	stats_result_free(result->continuation);
	g_free(result);
}

const StatsResult *stats_result_latest(const StatsResult *result)
{
	return result->continuation ? result->continuation : result;
}

gboolean stats_result_is_open(const StatsResult *result)
{
	for (guint i = 0; i < result->comparisons->len; i++) {
		const StatsComparison *comparison = g_ptr_array_index(result->comparisons, i);

		if (comparison->primary && (comparison->verdict == STATS_VERDICT_INCONCLUSIVE ||
					    comparison->verdict == STATS_VERDICT_INSUFFICIENT))
			return TRUE;
	}
	return FALSE;
}
