/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "jobs/stats/compare.h"

#include <math.h>

#include "jobs/stats/components.h"
#include "jobs/stats/descriptive.h"
#include "jobs/stats/permutation.h"
#include "jobs/stats/rank.h"

/* The boots as columns: all in the order of their start, and those of each arm. */
typedef struct {
	gsize n;
	double *y;
	SampleArm *arm;
	gint64 *start_ns;
	gsize arm_n[SAMPLE_ARM_COUNT];
	double *arm_y[SAMPLE_ARM_COUNT];
} Columns;

static const StatsBoot *boot_at(const StatsSummary *summary, gsize i)
{
	return &g_array_index(summary->boots, StatsBoot, i);
}

/* Of the boots of pairs below `pairs` (0 = of all). */
static Columns columns_of(const StatsSummary *summary, guint pairs)
{
	gsize n = summary->boots->len;
	Columns columns = { .y = g_new(double, n), .arm = g_new(SampleArm, n), .start_ns = g_new(gint64, n) };

	for (int a = 0; a < SAMPLE_ARM_COUNT; a++)
		columns.arm_y[a] = g_new(double, n);
	for (gsize i = 0; i < n; i++) {
		const StatsBoot *boot = boot_at(summary, i);
		double y = log(boot->value);

		if (pairs && (guint)boot->pair >= pairs)
			continue;
		columns.y[columns.n] = y;
		columns.arm[columns.n] = boot->arm;
		columns.start_ns[columns.n++] = boot->start_ns;
		columns.arm_y[boot->arm][columns.arm_n[boot->arm]++] = y;
	}
	return columns;
}

static void columns_clear(Columns *columns)
{
	g_free(columns->y);
	g_free(columns->arm);
	g_free(columns->start_ns);
	for (int a = 0; a < SAMPLE_ARM_COUNT; a++)
		g_free(columns->arm_y[a]);
}

StatsTrend stats_fit_boots(const StatsSummary *summary, guint pairs)
{
	Columns columns = columns_of(summary, pairs);
	StatsTrend fit = stats_trend_fit(columns.y, columns.arm, columns.start_ns, columns.n);

	columns_clear(&columns);
	return fit;
}

static StatsPermutation permute(const Columns *columns, gint64 seed)
{
	return stats_permutation_test(columns->arm_y[SAMPLE_ARM_BASE], columns->arm_n[SAMPLE_ARM_BASE],
				      columns->arm_y[SAMPLE_ARM_PATCHED], columns->arm_n[SAMPLE_ARM_PATCHED], seed);
}

double stats_permutation_p(const StatsSummary *summary, guint pairs, gint64 seed)
{
	Columns columns = columns_of(summary, pairs);
	StatsPermutation permutation = permute(&columns, seed);

	columns_clear(&columns);
	return permutation.p;
}

double stats_percent(double log_difference)
{
	double percent = 100 * expm1(log_difference);

	return isfinite(percent) ? percent : NAN;
}

/* The geometric mean; exactly the value where all are equal. */
static void set_means(const StatsSummary *summary, const Columns *columns, StatsComparison *comparison)
{
	for (int a = 0; a < SAMPLE_ARM_COUNT; a++) {
		const GArray *values = comparison->boot_values[a];
		gboolean equal = values->len > 0;

		for (guint i = 1; i < values->len; i++)
			equal &= g_array_index(values, double, i) == g_array_index(values, double, 0);
		if (equal)
			comparison->mean[a] = g_array_index(values, double, 0);
		else if (columns->arm_n[a] && !summary->invalid)
			comparison->mean[a] = exp(stats_mean(columns->arm_y[a], columns->arm_n[a]));
	}
}

/* Marks the outliers; returns which boots are none. */
static gboolean *find_outliers(const StatsSummary *summary, const Columns *columns, StatsComparison *comparison)
{
	gboolean *keep = g_new(gboolean, columns->n);
	double median[SAMPLE_ARM_COUNT], limit[SAMPLE_ARM_COUNT];

	for (int a = 0; a < SAMPLE_ARM_COUNT; a++) {
		median[a] = stats_median(columns->arm_y[a], columns->arm_n[a]);
		limit[a] = INFINITY;
		if (columns->arm_n[a] >= STATS_MIN_BOOTS)
			limit[a] = STATS_OUTLIER_MAD * stats_mad(columns->arm_y[a], columns->arm_n[a]) +
				   STATS_ZERO_RESIDUAL * MAX(1, fabs(median[a]));
	}
	for (gsize i = 0; i < columns->n; i++) {
		SampleArm arm = columns->arm[i];

		keep[i] = fabs(columns->y[i] - median[arm]) <= limit[arm];
		if (!keep[i]) {
			const StatsBoot *boot = boot_at(summary, i);
			StatsOutlier outlier = { .arm = arm, .boot = boot->boot, .value = boot->value };

			g_array_append_val(comparison->outliers, outlier);
		}
	}
	return keep;
}

static StatsTrend fit_kept(const Columns *columns, const gboolean *keep)
{
	g_autofree double *y = g_new(double, columns->n);
	g_autofree SampleArm *arm = g_new(SampleArm, columns->n);
	g_autofree gint64 *start_ns = g_new(gint64, columns->n);
	gsize n = 0;

	for (gsize i = 0; i < columns->n; i++)
		if (keep[i]) {
			y[n] = columns->y[i];
			arm[n] = columns->arm[i];
			start_ns[n++] = columns->start_ns[i];
		}
	return stats_trend_fit(y, arm, start_ns, n);
}

static void set_components(const StatsSummary *summary, const StatsComparison *comparison, StatsComponents *ret)
{
	gsize boots = comparison->boots[SAMPLE_ARM_BASE] + comparison->boots[SAMPLE_ARM_PATCHED];

	if (summary->passes_log)
		*ret = stats_components(summary->passes_log, summary->passes_arm, boots, summary->runs, summary->passes);
}

static void set_fit(const StatsTrend *fit, StatsComparison *comparison)
{
	comparison->change_pct = stats_percent(fit->beta);
	comparison->p = fit->p;
	comparison->drift_adjusted = fit->drift_adjusted;
	comparison->drift_p = fit->drift_p;
	comparison->residual_sd_pct = stats_percent(fit->residual_sd);
}

static void set_distribution_free(const Columns *columns, double alpha, StatsComparison *comparison)
{
	const double *base = columns->arm_y[SAMPLE_ARM_BASE], *patched = columns->arm_y[SAMPLE_ARM_PATCHED];
	gsize base_n = columns->arm_n[SAMPLE_ARM_BASE], patched_n = columns->arm_n[SAMPLE_ARM_PATCHED];
	StatsPermutation permutation = permute(columns, comparison->seed);
	StatsShift shift = stats_hodges_lehmann(base, base_n, patched, patched_n, alpha);

	comparison->p_permutation = permutation.p;
	comparison->permutation_exact = permutation.exact;
	comparison->hl_shift_pct = stats_percent(shift.shift);
	comparison->hl_low_pct = stats_percent(shift.low);
	comparison->hl_high_pct = stats_percent(shift.high);
}

StatsFits stats_compare(const StatsSummary *summary, double alpha, StatsComparison *comparison)
{
	Columns columns = columns_of(summary, 0);
	StatsComponents components = { .boot_var = NAN, .run_var = NAN, .pass_var = NAN };
	StatsFits fits = { .fit = stats_trend_fit(NULL, NULL, NULL, 0), .without = stats_trend_fit(NULL, NULL, NULL, 0) };

	comparison->clock = g_strdup(summary->clock);
	comparison->runs = summary->runs;
	comparison->runs_rejected = summary->runs_rejected;
	comparison->passes = summary->passes;
	for (int a = 0; a < SAMPLE_ARM_COUNT; a++) {
		comparison->boots[a] = (guint)columns.arm_n[a];
		comparison->boots_rejected[a] = summary->rejected[a];
	}
	for (gsize i = 0; i < columns.n; i++)
		g_array_append_val(comparison->boot_values[columns.arm[i]], boot_at(summary, i)->value);
	set_means(summary, &columns, comparison);
	if (!summary->invalid) {
		g_autofree gboolean *keep = find_outliers(summary, &columns, comparison);

		fits.fit = stats_trend_fit(columns.y, columns.arm, columns.start_ns, columns.n);
		set_fit(&fits.fit, comparison);
		set_distribution_free(&columns, alpha, comparison);
		if (comparison->outliers->len) {
			fits.without = fit_kept(&columns, keep);
			comparison->without_change_pct = stats_percent(fits.without.beta);
		}
		set_components(summary, comparison, &components);
		comparison->boot_sd_pct = stats_percent(sqrt(components.boot_var));
		comparison->run_sd_pct = stats_percent(sqrt(components.run_var));
		comparison->pass_sd_pct = stats_percent(sqrt(components.pass_var));
		comparison->components_truncated = components.truncated;
	}
	columns_clear(&columns);
	return fits;
}
