/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "jobs/stats/survey.h"

#include <string.h>

/* What is known of a boot from its samples. */
typedef struct {
	int pair;
	SampleArm arm;
	gboolean fine; /* a sample of it is valid */
} SurveyBoot;

typedef struct {
	StatsSurvey *survey;
	GHashTable *by_name; /* StatsGroup, as a set */
	gboolean clocks_mixed;
} Walk;

static void group_free(void *data)
{
	StatsGroup *group = data;

	g_ptr_array_unref(group->samples);
	g_free(group);
}

static guint group_hash(const void *data)
{
	const StatsGroup *group = data;

	return g_direct_hash(group->benchmark) * 31 * 31 + g_direct_hash(group->params) * 31 + g_direct_hash(group->metric);
}

static gboolean group_equal(const void *a, const void *b)
{
	const StatsGroup *left = a, *right = b;

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
	const StatsGroup *left = *(StatsGroup *const *)a, *right = *(StatsGroup *const *)b;
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

static void *boot_key(const Sample *sample)
{
	return GUINT_TO_POINTER((guint)sample->boot * SAMPLE_ARM_COUNT + sample->arm);
}

static StatsGroup *group_of(Walk *walk, const Sample *sample)
{
	StatsGroup wanted = { .benchmark = sample->benchmark, .params = sample->params, .metric = sample->metric };
	StatsGroup *group = g_hash_table_lookup(walk->by_name, &wanted);

	if (!group) {
		group = g_memdup2(&wanted, sizeof wanted);
		group->samples = g_ptr_array_new();
		g_hash_table_add(walk->by_name, group);
		g_ptr_array_add(walk->survey->groups, group);
	}
	return group;
}

static void note_boot(StatsSurvey *survey, const Sample *sample)
{
	SurveyBoot *boot = g_hash_table_lookup(survey->boots, boot_key(sample));

	survey->pairs_seen = MAX(survey->pairs_seen, (guint)sample->pair + 1);
	/* the host was noisy, which is no kernel's failure */
	if (!sample->valid && g_str_equal(sample->reason, "disturbed"))
		return;
	if (!boot) {
		boot = g_new0(SurveyBoot, 1);
		boot->pair = sample->pair;
		boot->arm = sample->arm;
		g_hash_table_insert(survey->boots, boot_key(sample), boot);
	}
	boot->fine |= sample->valid;
}

/* Samples mostly come in runs of one boot and group, so what the last one told is not looked up again. */
static void walk_samples(Walk *walk, const SampleTable *table)
{
	StatsSurvey *survey = walk->survey;
	const Sample *last = NULL, *first = NULL;
	StatsGroup *group = NULL;

	for (gsize i = 0; i < sample_table_length(table); i++) {
		const Sample *sample = sample_table_get(table, i);

		if (sample->arm == SAMPLE_ARM_CONTROL)
			continue;
		if (!last || sample->benchmark != last->benchmark)
			first = g_hash_table_lookup(survey->first, sample->benchmark);
		if (!first || is_earlier(sample, first)) {
			first = sample;
			g_hash_table_insert(survey->first, (void *)sample->benchmark, (void *)sample);
		}
		if (!group || sample->benchmark != last->benchmark || sample->params != last->params ||
		    sample->metric != last->metric)
			group = group_of(walk, sample);
		g_ptr_array_add(group->samples, (void *)sample);
		if (!last || boot_key(sample) != boot_key(last) || sample->valid != last->valid)
			note_boot(survey, sample);
		walk->clocks_mixed |= survey->clock && survey->clock != sample->clock;
		survey->clock = sample->clock;
		survey->job = last ? MIN(survey->job, sample->job) : sample->job;
		last = sample;
	}
}

const char *stats_named_primary(const char *const *primary, const char *benchmark)
{
	gsize length = strlen(benchmark);

	for (gsize i = 0; primary && primary[i]; i++)
		if (g_str_has_prefix(primary[i], benchmark) && primary[i][length] == '=')
			return primary[i] + length + 1;
	return NULL;
}

static void mark_primary(StatsSurvey *survey, const char *const *primary)
{
	for (guint i = 0; i < survey->groups->len; i++) {
		StatsGroup *group = g_ptr_array_index(survey->groups, i);
		const char *named = stats_named_primary(primary, group->benchmark);
		const Sample *sample = g_hash_table_lookup(survey->first, group->benchmark);

		group->primary = g_str_equal(named ? named : sample->metric, group->metric);
	}
}

static void count_pairs(StatsSurvey *survey)
{
	g_autofree guint8 *halves = g_new0(guint8, survey->pairs_seen + 1); /* a bit an arm; none beyond the last pair */
	const guint8 whole = (1u << SAMPLE_ARM_BASE) | (1u << SAMPLE_ARM_PATCHED);
	GHashTableIter iter;
	gpointer value;

	g_hash_table_iter_init(&iter, survey->boots);
	while (g_hash_table_iter_next(&iter, NULL, &value)) {
		const SurveyBoot *boot = value;

		if (boot->fine)
			halves[boot->pair] |= (guint8)(1u << boot->arm);
	}
	while (halves[survey->pairs] == whole)
		survey->pairs++;
}

StatsSurvey *stats_survey_new(const SampleTable *table, const char *const *primary)
{
	StatsSurvey *survey = g_new0(StatsSurvey, 1);
	Walk walk = { .survey = survey, .by_name = g_hash_table_new(group_hash, group_equal) };

	survey->groups = g_ptr_array_new_with_free_func(group_free);
	survey->first = g_hash_table_new(NULL, NULL);
	survey->boots = g_hash_table_new_full(NULL, NULL, NULL, g_free);
	walk_samples(&walk, table);
	g_hash_table_unref(walk.by_name);
	if (walk.clocks_mixed)
		survey->clock = NULL;
	mark_primary(survey, primary);
	g_ptr_array_sort(survey->groups, compare_groups);
	count_pairs(survey);
	return survey;
}

void stats_survey_free(StatsSurvey *survey)
{
	if (!survey)
		return;
	g_ptr_array_unref(survey->groups);
	g_hash_table_unref(survey->first);
	g_hash_table_unref(survey->boots);
	g_free(survey);
}

void stats_survey_count(const StatsSurvey *survey, guint pairs, guint boots[SAMPLE_ARM_COUNT], guint failed[SAMPLE_ARM_COUNT])
{
	GHashTableIter iter;
	gpointer value;

	g_hash_table_iter_init(&iter, survey->boots);
	while (g_hash_table_iter_next(&iter, NULL, &value)) {
		const SurveyBoot *boot = value;

		if (pairs && (guint)boot->pair >= pairs)
			continue;
		boots[boot->arm]++;
		failed[boot->arm] += !boot->fine;
	}
}
