/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "jobs/stats/decide.h"

#include <math.h>

#include "jobs/stats/figure.h"
#include "jobs/stats/permutation.h"
#include "jobs/stats/power.h"

/* A drift with a p below this is worth a word, if it is as large as a change that matters. */
#define DRIFT_P .01

/* Units whose size in nanoseconds we know: every clock of ours ticks in them. */
static const struct {
	const char *unit;
	double ns;
} time_units[] = {
	{ "ns", 1 },	    { "us", 1e3 },	     { "usecs", 1e3 },	 { "ms", 1e6 },	     { "s", 1e9 },
	{ "ns/call", 1 },   { "us/call", 1e3 },	     { "usecs/call", 1e3 },
};

gboolean stats_is_testable(const StatsSummary *summary, const StatsComparison *comparison)
{
	return !summary->invalid && comparison->boots[SAMPLE_ARM_BASE] >= STATS_MIN_BOOTS &&
	       comparison->boots[SAMPLE_ARM_PATCHED] >= STATS_MIN_BOOTS;
}

double stats_deciding_p(const StatsSummary *summary, const StatsFits *fits, const StatsComparison *comparison)
{
	if (!stats_is_testable(summary, comparison))
		return 1;
	return fits->fit.zero_residual ? comparison->p_permutation : fits->fit.p;
}

StatsDecision stats_decision(const StatsTrend *fit, double level, gboolean found)
{
	double half = stats_trend_half_width(fit, level);

	if (isinf(half))
		half = NAN;
	return (StatsDecision){ .level = level, .found = found, .low = fit->beta - half, .high = fit->beta + half };
}

StatsVerdict stats_classify(const StatsTrend *fit, const StatsDecision *decision, double min_effect_pct, SampleBetter better)
{
	double change = stats_percent(fit->beta), low = stats_percent(decision->low), high = stats_percent(decision->high);
	gboolean grew = change > 0;

	if (fit->zero_residual ? fit->all_equal || fabs(change) < min_effect_pct :
				 low >= -min_effect_pct && high <= min_effect_pct)
		return STATS_VERDICT_EQUIVALENT;
	if (!fit->zero_residual && !(low > 0 || high < 0))
		return STATS_VERDICT_INCONCLUSIVE;
	if (fit->zero_residual && !decision->found)
		return STATS_VERDICT_INCONCLUSIVE;
	return grew == (better == SAMPLE_BETTER_LOWER) ? STATS_VERDICT_REGRESSION : STATS_VERDICT_IMPROVEMENT;
}

static guint smaller_arm(const StatsComparison *comparison)
{
	return MIN(comparison->boots[SAMPLE_ARM_BASE], comparison->boots[SAMPLE_ARM_PATCHED]);
}

static void say_insufficient(const StatsComparison *comparison, GString *reason)
{
	guint have = smaller_arm(comparison), more = STATS_MIN_BOOTS - have;

	g_string_append_printf(reason, "%u base and %u patched boots count: a verdict needs at least %u of each, %u more",
			       comparison->boots[SAMPLE_ARM_BASE], comparison->boots[SAMPLE_ARM_PATCHED], STATS_MIN_BOOTS,
			       more);
}

/* Whether base and patched differ by less than a tick of any clock. */
static gboolean below_resolution(const StatsComparison *comparison)
{
	double difference = fabs(comparison->mean[SAMPLE_ARM_PATCHED] - comparison->mean[SAMPLE_ARM_BASE]);

	for (gsize i = 0; i < G_N_ELEMENTS(time_units); i++)
		if (g_str_equal(comparison->unit, time_units[i].unit))
			return difference * time_units[i].ns < 1;
	return FALSE;
}

static void explain_without_residual(const StatsTrend *fit, const StatsDecision *decision, double min_effect_pct,
				     StatsComparison *comparison, GString *reason)
{
	if (fit->all_equal) {
		g_string_append(reason, "every boot of both arms gave the same value");
		return;
	}
	g_string_append(reason, "the boots of an arm do not differ: their spread is below the clock's resolution, and the "
				"exact permutation test decides");
	if (below_resolution(comparison))
		g_string_append(reason, "; the change is below the clock's resolution as well");
	if (fabs(comparison->change_pct) < min_effect_pct) {
		g_string_append(reason, "; a change too small to matter");
	} else if (comparison->verdict == STATS_VERDICT_INCONCLUSIVE) {
		guint needed = stats_permutation_min_boots(decision->level);

		comparison->boots_needed = needed > smaller_arm(comparison) ? needed : 0;
		if (comparison->boots_needed)
			g_string_append_printf(reason, ", which needs %u boots an arm for this many parameter sets", needed);
		else
			g_string_append(reason, ", which does not tell the arms apart");
	}
}

/* What would settle an open comparison. */
static void plan(const StatsTrend *fit, double level, double min_effect_pct, guint max_boots, StatsComparison *comparison,
		 GString *reason)
{
	guint fitted = fit->drift_adjusted ? 3 : 2, have = smaller_arm(comparison), needed, most;
	double effect = log1p(min_effect_pct / 100), size = fabs(fit->beta), visible;

	needed = stats_boots_for(effect / fit->residual_sd, level, STATS_POWER, fitted);
	if (needed && needed <= have) /* the power is there, the estimate lies too near to the limit */
		needed = stats_boots_for_width(MAX(size, effect - size) / fit->residual_sd, level, fitted);
	if (needed)
		needed = MAX(needed, have + 1);
	if (needed && needed <= max_boots) {
		comparison->boots_needed = needed;
		g_string_append_printf(reason, "; about %u boots an arm (%u more) would decide for a change of ", needed,
				       needed - have);
		stats_append_share(reason, min_effect_pct);
		return;
	}
	comparison->boots_needed = needed;
	most = MAX(max_boots, have);
	if (needed)
		g_string_append_printf(reason, "; about %u boots an arm would decide", needed);
	visible = stats_percent(fit->residual_sd * stats_effect_for(most, level, STATS_POWER, fitted));
	if (isnan(visible))
		return;
	g_string_append_printf(reason, "; the smallest change that %u boots an arm can see is ", most);
	stats_append_share(reason, visible);
}

static void explain_interval(const StatsTrend *fit, const StatsDecision *decision, double min_effect_pct, guint max_boots,
			     StatsComparison *comparison, GString *reason)
{
	gboolean excludes_0 = comparison->ci_low_pct > 0 || comparison->ci_high_pct < 0;

	if (comparison->verdict == STATS_VERDICT_EQUIVALENT) {
		g_string_append(reason, excludes_0 ? "a change too small to matter: the interval excludes 0 but lies within ±"
						   : "the interval lies within ±");
		stats_append_share(reason, min_effect_pct);
	} else if (excludes_0) {
		g_string_append(reason, "the interval excludes 0");
	} else {
		g_string_append(reason, "the interval includes both 0 and changes that matter");
		plan(fit, decision->level, min_effect_pct, max_boots, comparison, reason);
	}
}

/* What a reader should know beside the reason. */
static void append_notes(const StatsSummary *summary, const StatsTrend *fit, double min_effect_pct,
			 const StatsComparison *comparison, GString *reason)
{
	guint rejected = comparison->boots_rejected[SAMPLE_ARM_BASE] + comparison->boots_rejected[SAMPLE_ARM_PATCHED];

	if (summary->rejection)
		g_string_append_printf(reason, "; %u runs and %u boots were rejected, the first: %s", comparison->runs_rejected,
				       rejected, summary->rejection);
	if (summary->invalid)
		return;
	if (fit->df >= 1 && !fit->drift_adjusted)
		g_string_append(reason, "; not adjusted for drift: the boots' start times do not allow it");
	if (fit->drift_p < DRIFT_P && fabs(stats_percent(fit->drift)) >= min_effect_pct) {
		g_string_append(reason, "; the host drifted by ");
		stats_append_percent(reason, stats_percent(fit->drift));
		g_string_append(reason, " during the job, which the change is adjusted for");
	}
	for (guint i = 0; i < comparison->outliers->len; i++) {
		const StatsOutlier *outlier = &g_array_index(comparison->outliers, StatsOutlier, i);

		g_string_append_printf(reason, i ? ", %d (%s)" : "; outlying boots, counted all the same: %d (%s)", outlier->boot,
				       sample_arm_to_string(outlier->arm));
	}
	if (!isnan(comparison->without_change_pct)) {
		g_string_append(reason, "; without: ");
		stats_append_percent(reason, comparison->without_change_pct);
	}
}

static void set_interval(const StatsDecision *decision, double *ret_low_pct, double *ret_high_pct)
{
	*ret_low_pct = stats_percent(decision->low);
	*ret_high_pct = stats_percent(decision->high);
}

void stats_decide(const StatsSummary *summary, const StatsFits *fits, const StatsDecision *decision, double min_effect_pct,
		  guint max_boots, StatsComparison *comparison)
{
	g_autoptr(GString) reason = g_string_new(comparison->primary ? NULL : "exploration: ");
	StatsDecision without = stats_decision(&fits->without, decision->level, FALSE);

	comparison->ci_level = 1 - decision->level;
	set_interval(decision, &comparison->ci_low_pct, &comparison->ci_high_pct);
	set_interval(&without, &comparison->without_ci_low_pct, &comparison->without_ci_high_pct);
	if (summary->invalid) {
		comparison->verdict = STATS_VERDICT_INVALID;
		g_string_append(reason, summary->invalid);
	} else if (!stats_is_testable(summary, comparison)) {
		comparison->verdict = STATS_VERDICT_INSUFFICIENT;
		comparison->boots_needed = STATS_MIN_BOOTS;
		say_insufficient(comparison, reason);
	} else {
		comparison->verdict = stats_classify(&fits->fit, decision, min_effect_pct, comparison->better);
		if (fits->fit.zero_residual)
			explain_without_residual(&fits->fit, decision, min_effect_pct, comparison, reason);
		else
			explain_interval(&fits->fit, decision, min_effect_pct, max_boots, comparison, reason);
	}
	append_notes(summary, &fits->fit, min_effect_pct, comparison, reason);
	g_free(comparison->reason);
	comparison->reason = g_strdup(reason->str);
}
