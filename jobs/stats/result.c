/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "jobs/stats/result.h"

#include <math.h>

G_DEFINE_QUARK(regrlab-stats-result-error-quark, stats_result_error)

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
	g_ptr_array_unref(result->comparisons);
	g_free(result);
}
