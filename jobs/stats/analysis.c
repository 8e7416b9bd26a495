/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "jobs/stats/analysis.h"

#include <math.h>
#include <string.h>

#include "jobs/spec/spec.h"
#include "jobs/stats/compare.h"
#include "jobs/stats/fisher.h"
#include "jobs/stats/looks.h"
#include "jobs/stats/multiple.h"
#include "jobs/stats/open-ended.h"
#include "jobs/stats/seed.h"
#include "jobs/stats/sentence.h"

#define ALPHA_MIN 1e-6
#define ALPHA_MAX .5

G_DEFINE_QUARK(regrlab-stats-analysis-error-quark, stats_analysis_error)

/* One comparison on its way to its verdict. */
typedef struct {
	const StatsGroup *group;
	StatsSummary *summary;
	StatsFits fits;
	StatsComparison *comparison; /* owned by the result */
} Case;

typedef struct {
	const StatsSurvey *survey;
	const StatsOptions *options;
	StatsResult *result;
	GPtrArray *primary, *others; /* StatsGroup */
} Analysis;

static Case *case_new(const Analysis *analysis, const StatsGroup *group, guint pairs)
{
	Case *one = g_new0(Case, 1);
	StatsComparison *comparison = one->comparison = stats_comparison_new();
	const Sample *first = g_ptr_array_index(group->samples, 0);

	one->group = group;
	comparison->benchmark = g_strdup(group->benchmark);
	comparison->params = g_strdup(group->params);
	comparison->metric = g_strdup(group->metric);
	comparison->unit = g_strdup(first->unit);
	comparison->better = first->better;
	comparison->primary = group->primary;
	comparison->seed = stats_comparison_seed(analysis->result->seed, group->benchmark, group->params, group->metric);
	comparison->method = g_strdup_printf("%s, %s", STATS_METHOD, group->primary ?
					     stats_rule_to_string(analysis->result->rule) : "exploration");
	one->summary = stats_group_summary(group, pairs);
	one->fits = stats_compare(one->summary, analysis->options->alpha, comparison);
	g_ptr_array_add(analysis->result->comparisons, comparison);
	return one;
}

static void case_free(void *data)
{
	Case *one = data;

	stats_summary_free(one->summary);
	g_free(one);
}

static void decide(const Analysis *analysis, Case *one, const StatsDecision *decision)
{
	stats_decide(one->summary, &one->fits, decision, analysis->options->min_effect_pct, analysis->result->max_boots,
		     one->comparison);
}

static void note(StatsComparison *comparison, const char *format, ...) G_GNUC_PRINTF(2, 3);

static void note(StatsComparison *comparison, const char *format, ...)
{
	g_autofree char *reason = comparison->reason, *words = NULL;
	va_list args;

	va_start(args, format);
	words = g_strdup_vprintf(format, args);
	va_end(args);
	comparison->reason = g_strconcat(reason, "; ", words, NULL);
}

/* ---- looked at once ---- */

/* By Holm if they are primary, else by Benjamini and Hochberg. */
static void decide_family(const Analysis *analysis, const GPtrArray *groups, gboolean primary, guint pairs)
{
	g_autoptr(GPtrArray) cases = g_ptr_array_new_with_free_func(case_free);
	g_autofree double *p = g_new(double, groups->len), *adjusted = g_new(double, groups->len);
	g_autofree double *level = g_new(double, groups->len);
	double alpha = analysis->options->alpha;

	for (guint i = 0; i < groups->len; i++) {
		Case *one = case_new(analysis, g_ptr_array_index(groups, i), pairs);

		p[i] = stats_deciding_p(one->summary, &one->fits, one->comparison);
		g_ptr_array_add(cases, one);
	}
	if (primary) {
		stats_holm(p, groups->len, alpha, adjusted, level);
	} else {
		double all = stats_benjamini_hochberg(p, groups->len, alpha, adjusted);

		for (guint i = 0; i < groups->len; i++)
			level[i] = all;
	}
	for (guint i = 0; i < groups->len; i++) {
		Case *one = g_ptr_array_index(cases, i);
		StatsDecision decision = stats_decision(&one->fits.fit, level[i], adjusted[i] <= alpha);

		if (stats_is_testable(one->summary, one->comparison))
			*(primary ? &one->comparison->p_holm : &one->comparison->p_bh) = adjusted[i];
		decide(analysis, one, &decision);
	}
}

static void decide_fixed(const Analysis *analysis, guint pairs)
{
	decide_family(analysis, analysis->primary, TRUE, pairs);
	decide_family(analysis, analysis->others, FALSE, pairs);
}

/* ---- sequential ---- */

static void explain_stop(const StatsOutcome *outcome, const StatsWalk *walk, StatsComparison *comparison)
{
	guint look = (guint)outcome->look + 1, looks = (guint)walk->plan.count;

	comparison->look = look;
	comparison->stop = outcome->stop;
	comparison->early = outcome->stop == STATS_STOP_FOUND && look < looks;
	if (comparison->early)
		note(comparison, "found at look %u of %u: the estimate of a change found early leans away from 0", look, looks);
	else if (outcome->stop == STATS_STOP_EQUIVALENT && look < looks)
		note(comparison, "decided at look %u of %u", look, looks);
	else if (outcome->stop == STATS_STOP_FUTILE && walk->stop != STATS_STOP_NOT)
		note(comparison, "stopped at look %u of %u: more boots were not likely to decide it", look, looks);
	else if (walk->stop == STATS_STOP_NOT && outcome->stop != STATS_STOP_FOUND && outcome->stop != STATS_STOP_EQUIVALENT)
		note(comparison, "look %u of %u: measuring goes on", look, looks);
}

static void decide_sequential(const Analysis *analysis)
{
	StatsResult *result = analysis->result;
	g_autoptr(StatsWalk) walk = stats_walk_looks(analysis->survey, analysis->primary, analysis->options, result->max_boots,
						     result->seed);

	for (gsize k = 0; k < walk->plan.count; k++) {
		guint pairs = (guint)walk->plan.boots[k] / 2;

		g_array_append_val(result->looks, pairs);
	}
	result->look = (guint)walk->made;
	result->pairs = g_array_index(result->looks, guint, walk->made - 1);
	result->stop = walk->stop;
	for (guint i = 0; i < analysis->primary->len; i++) {
		const StatsOutcome *outcome = &walk->outcomes[i];
		g_autofree Case *one = case_new(analysis, g_ptr_array_index(analysis->primary, i),
						g_array_index(result->looks, guint, outcome->look));
		StatsDecision decision = stats_decision(&one->fits.fit, outcome->level, outcome->found);

		if (stats_is_testable(one->summary, one->comparison))
			one->comparison->p_holm = MIN(1, stats_deciding_p(one->summary, &one->fits, one->comparison) *
							 result->alpha / outcome->level);
		decide(analysis, one, &decision);
		explain_stop(outcome, walk, one->comparison);
		stats_summary_free(one->summary);
	}
	decide_family(analysis, analysis->others, FALSE, result->pairs);
}

/* ---- open-ended ---- */

static void decide_one_open(const Analysis *analysis, Case *one, const StatsOpenEnded *open, double level, double adjusted)
{
	StatsDecision decision = { .level = level, .low = NAN, .high = NAN };
	gboolean agree = stats_open_ended_decision(open, level, adjusted <= analysis->options->alpha, &decision);

	if (stats_is_testable(one->summary, one->comparison)) {
		one->comparison->p = open->p;
		one->comparison->p_holm = adjusted;
		one->fits.fit = open->whole;
		if (!agree)
			one->summary->invalid = g_strdup("earlier and later boots contradict one another beyond chance: "
							 "the host did not drift steadily");
	}
	decide(analysis, one, &decision);
	note(one->comparison, "p and interval hold however often boots are added");
}

static void decide_open_ended(const Analysis *analysis)
{
	guint pairs = MAX(analysis->survey->pairs, 1), m = analysis->primary->len;
	g_autoptr(GPtrArray) cases = g_ptr_array_new_with_free_func(case_free);
	g_autofree StatsOpenEnded *open = g_new(StatsOpenEnded, m);
	g_autofree double *p = g_new(double, m), *adjusted = g_new(double, m), *level = g_new(double, m);

	analysis->result->pairs = pairs;
	for (guint i = 0; i < m; i++) {
		Case *one = case_new(analysis, g_ptr_array_index(analysis->primary, i), pairs);

		open[i] = stats_open_ended(one->summary, pairs, one->comparison->seed);
		p[i] = stats_is_testable(one->summary, one->comparison) ? open[i].p : 1;
		g_ptr_array_add(cases, one);
	}
	stats_holm(p, m, analysis->options->alpha, adjusted, level);
	for (guint i = 0; i < m; i++) {
		decide_one_open(analysis, g_ptr_array_index(cases, i), &open[i], level[i], adjusted[i]);
		stats_open_ended_clear(&open[i]);
	}
	decide_family(analysis, analysis->others, FALSE, pairs);
}

/* ---- boots that failed ---- */

static void decide_failures(StatsFailures *failures, double alpha)
{
	guint base = failures->boots[SAMPLE_ARM_BASE], patched = failures->boots[SAMPLE_ARM_PATCHED];
	guint base_failed = failures->failed[SAMPLE_ARM_BASE], patched_failed = failures->failed[SAMPLE_ARM_PATCHED];
	const char *reason;

	failures->p = stats_fisher_p(base_failed, base, patched_failed, patched);
	if (base < STATS_MIN_BOOTS || patched < STATS_MIN_BOOTS) {
		failures->verdict = STATS_VERDICT_INSUFFICIENT;
		reason = "too few boots";
	} else if (failures->p > alpha) {
		failures->verdict = STATS_VERDICT_INCONCLUSIVE;
		reason = base_failed + patched_failed ? "the arms' failure rates may be the same" : "no boot failed";
	} else if ((guint64)patched_failed * base > (guint64)base_failed * patched) {
		failures->verdict = STATS_VERDICT_REGRESSION;
		reason = "boots of the patched kernel fail more often";
	} else {
		failures->verdict = STATS_VERDICT_IMPROVEMENT;
		reason = "boots of the patched kernel fail less often";
	}
	failures->reason = g_strdup(reason);
}

/* ---- the whole ---- */

static gboolean check_options(const StatsOptions *options, GError **error)
{
	const char *wrong = NULL;

	if (!(options->alpha >= ALPHA_MIN && options->alpha <= ALPHA_MAX))
		wrong = "alpha has to be from 0.000001 to 0.5";
	else if (!(options->min_effect_pct >= 0 && options->min_effect_pct < 100))
		wrong = "min-effect has to be a percentage from 0 to below 100";
	else if (options->max_boots > STATS_MAX_BOOTS_LIMIT)
		wrong = "max-boots has to be at most 10000";
	else if (options->seed < 0)
		wrong = "seed may not be negative";
	else if (options->failed_boots[0] > STATS_MAX_BOOTS_LIMIT || options->failed_boots[1] > STATS_MAX_BOOTS_LIMIT)
		wrong = "failed boots have to be at most 10000 an arm";
	if (wrong)
		g_set_error_literal(error, STATS_ANALYSIS_ERROR, STATS_ANALYSIS_ERROR_OPTION, wrong);
	return !wrong;
}

StatsRule stats_rule_for(StatsRule asked, guint max_boots)
{
	if (asked != STATS_RULE_AUTO)
		return asked;
	return max_boots > STATS_MIN_BOOTS ? STATS_RULE_SEQUENTIAL : STATS_RULE_FIXED;
}

/* A sequential test needs the boots of its first look. Without them too few boots count, or it is no job of ours, which
 * measured in pairs: a single look at all there is. */
static StatsRule rule_of(const StatsSurvey *survey, StatsRule asked, guint max_boots)
{
	StatsRule rule = stats_rule_for(asked, max_boots);

	return rule == STATS_RULE_SEQUENTIAL && survey->pairs < MIN(STATS_MIN_BOOTS, max_boots) ? STATS_RULE_FIXED : rule;
}

static void add_primary_arguments(const Analysis *analysis, GString *out)
{
	GHashTable *seen = g_hash_table_new(NULL, NULL);

	for (guint i = 0; i < analysis->primary->len; i++) {
		const StatsGroup *group = g_ptr_array_index(analysis->primary, i);
		const Sample *first = g_hash_table_lookup(analysis->survey->first, group->benchmark);

		if (first->metric != group->metric && g_hash_table_add(seen, (void *)group->benchmark))
			g_string_append_printf(out, " --primary %s=%s", group->benchmark, group->metric);
	}
	g_hash_table_unref(seen);
}

static char *arguments_of(const Analysis *analysis)
{
	static const char *const failed[SAMPLE_ARM_COUNT] = { "--failed-base", "--failed-patched" };
	const StatsOptions *options = analysis->options, standard = STATS_OPTIONS_DEFAULT;
	const StatsResult *result = analysis->result;
	g_autoptr(GString) out = g_string_new(NULL);
	char number[G_ASCII_DTOSTR_BUF_SIZE];

	g_string_printf(out, "--max-boots %u", result->max_boots);
	if (result->rule != rule_of(analysis->survey, STATS_RULE_AUTO, result->max_boots))
		g_string_append_printf(out, " --rule %s", stats_rule_to_string(result->rule));
	if (options->alpha != standard.alpha)
		g_string_append_printf(out, " --alpha %s", sample_format_double(number, options->alpha));
	if (options->min_effect_pct != standard.min_effect_pct)
		g_string_append_printf(out, " --min-effect %s", sample_format_double(number, options->min_effect_pct));
	if (result->seed != stats_job_seed(analysis->survey->job))
		g_string_append_printf(out, " --seed %" G_GINT64_FORMAT, result->seed);
	for (int a = 0; a < SAMPLE_ARM_COUNT; a++)
		if (options->failed_boots[a])
			g_string_append_printf(out, " %s %u", failed[a], options->failed_boots[a]);
	add_primary_arguments(analysis, out);
	return g_string_free(g_steal_pointer(&out), FALSE);
}

/* What is known before a comparison is looked at. */
static StatsResult *begin(const StatsSurvey *survey, const StatsOptions *options)
{
	StatsResult *result = stats_result_new();
	guint seen = MIN(survey->pairs_seen, STATS_MAX_BOOTS_LIMIT);

	result->method = g_strdup(STATS_METHOD);
	result->clock = g_strdup(survey->clock);
	result->alpha = options->alpha;
	result->min_effect_pct = options->min_effect_pct;
	result->max_boots = options->max_boots ? options->max_boots : MAX(SPEC_DEFAULT_BOOTS, seen);
	result->rule = rule_of(survey, options->rule, result->max_boots);
	result->seed = options->seed ? options->seed : stats_job_seed(survey->job);
	return result;
}

static void finish(const Analysis *analysis, guint pairs)
{
	StatsResult *result = analysis->result;
	StatsFailures *failures = &result->failures;

	for (int a = 0; a < SAMPLE_ARM_COUNT; a++)
		failures->boots[a] = failures->failed[a] = analysis->options->failed_boots[a];
	stats_survey_count(analysis->survey, pairs, failures->boots, failures->failed);
	decide_failures(failures, analysis->options->alpha);
	result->arguments = arguments_of(analysis);
	result->summary = stats_sentence(result);
}

/* The primary ones came first, and the sort keeps the order of equals. */
static int compare_benchmarks(const void *a, const void *b)
{
	const StatsComparison *left = *(StatsComparison *const *)a, *right = *(StatsComparison *const *)b;

	return strcmp(left->benchmark, right->benchmark);
}

StatsResult *stats_analyse(const SampleTable *table, const StatsOptions *options, GError **error)
{
	g_autoptr(StatsSurvey) survey = stats_survey_new(table, options->primary);
	g_autoptr(GPtrArray) primary = g_ptr_array_new(), others = g_ptr_array_new();
	g_autoptr(StatsResult) result = NULL;

	if (!check_options(options, error))
		return NULL;
	if (survey->groups->len > STATS_COMPARISONS_MAX) {
		g_set_error(error, STATS_ANALYSIS_ERROR, STATS_ANALYSIS_ERROR_LIMIT,
			    "more than %u combinations of benchmark, parameter set and metric", STATS_COMPARISONS_MAX);
		return NULL;
	}
	for (guint i = 0; i < survey->groups->len; i++) {
		StatsGroup *group = g_ptr_array_index(survey->groups, i);

		g_ptr_array_add(group->primary ? primary : others, group);
	}
	result = begin(survey, options);

	Analysis analysis = { survey, options, result, primary, others };
	guint pairs = options->max_boots;

	switch (result->rule) {
	case STATS_RULE_SEQUENTIAL:
		decide_sequential(&analysis);
		pairs = result->pairs;
		break;
	case STATS_RULE_OPEN_ENDED:
		decide_open_ended(&analysis);
		pairs = 0;
		break;
	default:
		decide_fixed(&analysis, pairs);
		break;
	}
	g_ptr_array_sort(result->comparisons, compare_benchmarks);
	finish(&analysis, pairs);
	return g_steal_pointer(&result);
}
