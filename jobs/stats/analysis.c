/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "jobs/stats/analysis.h"

#include <math.h>
#include <string.h>

#include "jobs/stats/compare.h"
#include "jobs/stats/decide.h"
#include "jobs/stats/fisher.h"
#include "jobs/stats/multiple.h"
#include "jobs/stats/sentence.h"

#define ALPHA_MIN 1e-6
#define ALPHA_MAX .5

G_DEFINE_QUARK(regrlab-stats-analysis-error-quark, stats_analysis_error)

/* The samples of one comparison. The strings are the table's own, so equal ones have equal addresses. */
typedef struct {
	const char *benchmark, *params, *metric;
	GPtrArray *samples; /* const Sample */
	gboolean primary;
	StatsSummary *summary;
	StatsFits fits;
	StatsComparison *comparison; /* owned by the result */
} Group;

static void group_free(void *data)
{
	Group *group = data;

	g_ptr_array_unref(group->samples);
	stats_summary_free(group->summary);
	g_free(group);
}

static guint group_hash(const void *data)
{
	const Group *group = data;

	return g_direct_hash(group->benchmark) * 31 * 31 + g_direct_hash(group->params) * 31 + g_direct_hash(group->metric);
}

static gboolean group_equal(const void *a, const void *b)
{
	const Group *left = a, *right = b;

	return left->benchmark == right->benchmark && left->params == right->params && left->metric == right->metric;
}

/* Compares text so that numbers in it count by their size: nproc=8 comes before nproc=32. */
static int compare_natural(const char *a, const char *b)
{
	while (*a && *b) {
		if (g_ascii_isdigit(*a) && g_ascii_isdigit(*b)) {
			gsize left, right;
			int order;

			a += strspn(a, "0");
			b += strspn(b, "0");
			left = strspn(a, "0123456789");
			right = strspn(b, "0123456789");
			order = left != right ? (left < right ? -1 : 1) : strncmp(a, b, left);
			if (order)
				return order;
			a += left;
			b += right;
		} else if (*a != *b) {
			break;
		} else {
			a++;
			b++;
		}
	}
	return (guchar)*a - (guchar)*b;
}

static int compare_groups(const void *a, const void *b)
{
	const Group *left = *(Group *const *)a, *right = *(Group *const *)b;
	int order = strcmp(left->benchmark, right->benchmark);

	if (!order)
		order = right->primary - left->primary;
	if (!order)
		order = strcmp(left->metric, right->metric);
	if (!order)
		order = compare_natural(left->params, right->params);
	return order ? order : strcmp(left->params, right->params);
}

/* Whether a comes before b in the order of measuring. */
static gboolean is_earlier(const Sample *a, const Sample *b)
{
	if (a->boot != b->boot)
		return a->boot < b->boot;
	if (a->arm != b->arm)
		return a->arm < b->arm;
	return a->run != b->run ? a->run < b->run : a->pass < b->pass;
}

/* What one look at every sample tells. */
typedef struct {
	GPtrArray *groups;     /* Group */
	GHashTable *by_name;   /* Group, as a set */
	GHashTable *first;     /* benchmark -> the Sample that comes first; the table's order decides within one pass */
	GHashTable *boots;     /* boot and arm -> FAILED or FINE */
	const char *clock;     /* of the last sample */
	gboolean clocks_mixed;
	gint64 job;            /* the lowest; 0 without samples */
} Survey;

enum { FAILED = 1, FINE };

static void survey_clear(Survey *survey)
{
	g_ptr_array_unref(survey->groups);
	g_hash_table_unref(survey->by_name);
	g_hash_table_unref(survey->first);
	g_hash_table_unref(survey->boots);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Survey, survey_clear)

static void *boot_key(const Sample *sample)
{
	return GUINT_TO_POINTER((guint)sample->boot * SAMPLE_ARM_COUNT + sample->arm);
}

static Group *group_of(Survey *survey, const Sample *sample)
{
	Group wanted = { .benchmark = sample->benchmark, .params = sample->params, .metric = sample->metric };
	Group *group = g_hash_table_lookup(survey->by_name, &wanted);

	if (!group) {
		group = g_memdup2(&wanted, sizeof wanted);
		group->samples = g_ptr_array_new();
		g_hash_table_add(survey->by_name, group);
		g_ptr_array_add(survey->groups, group);
	}
	return group;
}

static void note_boot(Survey *survey, const Sample *sample)
{
	/* the host was noisy, which is no kernel's failure */
	if (!sample->valid && g_str_equal(sample->reason, "disturbed"))
		return;
	if (sample->valid || !g_hash_table_contains(survey->boots, boot_key(sample)))
		g_hash_table_insert(survey->boots, boot_key(sample), GINT_TO_POINTER(sample->valid ? FINE : FAILED));
}

/* Samples mostly come in runs of one boot and group, so what the last one told is not looked up again. */
static void survey_samples(Survey *survey, const SampleTable *table)
{
	const Sample *last = NULL, *first = NULL;
	Group *group = NULL;

	for (gsize i = 0; i < sample_table_length(table); i++) {
		const Sample *sample = sample_table_get(table, i);

		if (!last || sample->benchmark != last->benchmark)
			first = g_hash_table_lookup(survey->first, sample->benchmark);
		if (!first || is_earlier(sample, first)) {
			first = sample;
			g_hash_table_insert(survey->first, (void *)sample->benchmark, (void *)sample);
		}
		if (!group || sample->benchmark != last->benchmark || sample->params != last->params ||
		    sample->metric != last->metric)
			group = group_of(survey, sample);
		g_ptr_array_add(group->samples, (void *)sample);
		if (!last || boot_key(sample) != boot_key(last) || sample->valid != last->valid)
			note_boot(survey, sample);
		survey->clocks_mixed |= survey->clock && survey->clock != sample->clock;
		survey->clock = sample->clock;
		survey->job = last ? MIN(survey->job, sample->job) : sample->job;
		last = sample;
	}
}

static Survey survey_new(const SampleTable *table)
{
	Survey survey = {
		.groups = g_ptr_array_new_with_free_func(group_free),
		.by_name = g_hash_table_new(group_hash, group_equal),
		.first = g_hash_table_new(NULL, NULL),
		.boots = g_hash_table_new(NULL, NULL),
	};

	survey_samples(&survey, table);
	return survey;
}

/* The metric that the options name for the benchmark; NULL = none. */
static const char *named_primary(const StatsOptions *options, const char *benchmark)
{
	gsize length = strlen(benchmark);

	for (gsize i = 0; options->primary && options->primary[i]; i++)
		if (g_str_has_prefix(options->primary[i], benchmark) && options->primary[i][length] == '=')
			return options->primary[i] + length + 1;
	return NULL;
}

static void mark_primary(const Survey *survey, const StatsOptions *options)
{
	for (guint i = 0; i < survey->groups->len; i++) {
		Group *group = g_ptr_array_index(survey->groups, i);
		const char *named = named_primary(options, group->benchmark);
		const Sample *sample = g_hash_table_lookup(survey->first, group->benchmark);

		group->primary = g_str_equal(named ? named : sample->metric, group->metric);
	}
}

static guint64 scramble(guint64 x)
{
	x += G_GUINT64_CONSTANT(0x9e3779b97f4a7c15);
	x = (x ^ (x >> 30)) * G_GUINT64_CONSTANT(0xbf58476d1ce4e5b9);
	x = (x ^ (x >> 27)) * G_GUINT64_CONSTANT(0x94d049bb133111eb);
	return x ^ (x >> 31);
}

static guint64 scramble_text(guint64 seed, const char *text)
{
	for (; *text; text++)
		seed = scramble(seed ^ (guchar)*text);
	return scramble(seed ^ 0x100);
}

/* A seed of 31 bits and not 0, all of which the generator uses. */
static gint64 to_seed(guint64 x)
{
	return (gint64)(x % 0x7fffffff) + 1;
}

/* The comparison's own seed does not depend on which other comparisons there are. */
static gint64 comparison_seed(gint64 seed, const Group *group)
{
	guint64 x = scramble_text((guint64)seed, group->benchmark);

	x = scramble_text(x, group->params);
	return to_seed(scramble_text(x, group->metric));
}

static void compare(Group *group, const StatsOptions *options, StatsResult *result)
{
	StatsComparison *comparison = stats_comparison_new();
	const Sample *first = g_ptr_array_index(group->samples, 0);

	comparison->benchmark = g_strdup(group->benchmark);
	comparison->params = g_strdup(group->params);
	comparison->metric = g_strdup(group->metric);
	comparison->unit = g_strdup(first->unit);
	comparison->better = first->better;
	comparison->primary = group->primary;
	comparison->seed = comparison_seed(result->seed, group);
	group->comparison = comparison;
	group->summary = stats_summary_new((const Sample *const *)group->samples->pdata, group->samples->len);
	group->fits = stats_compare(group->summary, options->alpha, comparison);
	g_ptr_array_add(result->comparisons, comparison);
}

/* Decides the primary comparisons, or the exploration, as one family. */
static void decide_family(GPtrArray *groups, gboolean primary, const StatsOptions *options)
{
	g_autoptr(GPtrArray) family = g_ptr_array_new();
	g_autofree double *p = g_new(double, groups->len), *adjusted = g_new(double, groups->len);
	g_autofree double *alpha = g_new(double, groups->len);

	for (guint i = 0; i < groups->len; i++) {
		Group *group = g_ptr_array_index(groups, i);

		if (group->primary != primary)
			continue;
		p[family->len] = stats_deciding_p(group->summary, &group->fits, group->comparison);
		g_ptr_array_add(family, group);
	}
	if (primary) {
		stats_holm(p, family->len, options->alpha, adjusted, alpha);
	} else {
		double level = stats_benjamini_hochberg(p, family->len, options->alpha, adjusted);

		for (guint i = 0; i < family->len; i++)
			alpha[i] = level;
	}
	for (guint i = 0; i < family->len; i++) {
		Group *group = g_ptr_array_index(family, i);

		if (stats_is_testable(group->summary, group->comparison))
			*(primary ? &group->comparison->p_holm : &group->comparison->p_bh) = adjusted[i];
		stats_decide(group->summary, &group->fits, options, alpha[i], adjusted[i], group->comparison);
	}
}

/* Counts boots, and those of which no sample is valid. */
static void count_failures(const Survey *survey, const StatsOptions *options, StatsFailures *failures)
{
	GHashTableIter iter;
	gpointer key, value;

	for (int a = 0; a < SAMPLE_ARM_COUNT; a++)
		failures->boots[a] = failures->failed[a] = options->failed_boots[a];
	g_hash_table_iter_init(&iter, survey->boots);
	while (g_hash_table_iter_next(&iter, &key, &value)) {
		failures->boots[GPOINTER_TO_UINT(key) % SAMPLE_ARM_COUNT]++;
		failures->failed[GPOINTER_TO_UINT(key) % SAMPLE_ARM_COUNT] += GPOINTER_TO_INT(value) == FAILED;
	}
}

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

StatsResult *stats_analyse(const SampleTable *table, const StatsOptions *options, GError **error)
{
	g_autoptr(StatsResult) result = NULL;
	g_auto(Survey) survey = survey_new(table);

	if (!check_options(options, error))
		return NULL;
	if (survey.groups->len > STATS_COMPARISONS_MAX) {
		g_set_error(error, STATS_ANALYSIS_ERROR, STATS_ANALYSIS_ERROR_LIMIT,
			    "more than %u combinations of benchmark, parameter set and metric", STATS_COMPARISONS_MAX);
		return NULL;
	}
	result = stats_result_new();
	result->method = g_strdup(STATS_METHOD);
	result->clock = g_strdup(survey.clocks_mixed ? NULL : survey.clock);
	result->alpha = options->alpha;
	result->min_effect_pct = options->min_effect_pct;
	result->max_boots = options->max_boots;
	result->seed = options->seed ? options->seed : to_seed(scramble((guint64)survey.job));
	mark_primary(&survey, options);
	g_ptr_array_sort(survey.groups, compare_groups);
	for (guint i = 0; i < survey.groups->len; i++)
		compare(g_ptr_array_index(survey.groups, i), options, result);
	decide_family(survey.groups, TRUE, options);
	decide_family(survey.groups, FALSE, options);
	count_failures(&survey, options, &result->failures);
	decide_failures(&result->failures, options->alpha);
	result->summary = stats_sentence(result);
	return g_steal_pointer(&result);
}
