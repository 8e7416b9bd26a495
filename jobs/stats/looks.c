/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "jobs/stats/looks.h"

#include <math.h>
#include <string.h>

#include "jobs/stats/boundary.h"
#include "jobs/stats/seed.h"

/* So many different schedules are simulated; a comparison that lost boots of its own has one of its own. */
#define SCHEDULES_MAX 16u

/* The boots that a comparison had at the looks up to one. */
typedef struct {
	StatsLooks looks;   /* those that it could be tested at */
	GArray *arm;        /* SampleArm, in the order of looks and starts */
	GArray *start_ns;   /* gint64 */
	double *boundary;   /* of the last of these looks, for alpha/1 … alpha/m */
} Schedule;

typedef struct {
	const GPtrArray *family; /* StatsGroup */
	const StatsOptions *options;
	gint64 seed;            /* the job's */
	StatsWalk *walk;
	double *alphas;         /* alpha/1 … alpha/m */
	GPtrArray *schedules;   /* Schedule: of the look at hand */
	/* of the look at hand, one a comparison */
	StatsSummary **summaries;
	StatsTrend *fits;
	double *p;
	const double **boundary;
	gboolean *found;
	double *level;
} Walker;

static void schedule_free(void *data)
{
	Schedule *schedule = data;

	g_array_unref(schedule->arm);
	g_array_unref(schedule->start_ns);
	g_free(schedule->boundary);
	g_free(schedule);
}

StatsSummary *stats_group_summary(const StatsGroup *group, guint pairs)
{
	g_autoptr(GPtrArray) samples = NULL;

	if (!pairs)
		return stats_summary_new((const Sample *const *)group->samples->pdata, group->samples->len);
	samples = g_ptr_array_sized_new(group->samples->len);
	for (guint i = 0; i < group->samples->len; i++) {
		const Sample *sample = g_ptr_array_index(group->samples, i);

		if ((guint)sample->pair < pairs)
			g_ptr_array_add(samples, (void *)sample);
	}
	return stats_summary_new((const Sample *const *)samples->pdata, samples->len);
}

static guint pairs_of(const Walker *walker, gsize look)
{
	return (guint)walker->walk->plan.boots[look] / 2;
}

/* ---- the boundary ---- */

/* Appends the boots that look k sees and the one before did not. */
static void append_boots(const StatsSummary *summary, guint from, guint to, Schedule *schedule, guint count[SAMPLE_ARM_COUNT])
{
	for (guint i = 0; i < summary->boots->len; i++) {
		const StatsBoot *boot = &g_array_index(summary->boots, StatsBoot, i);

		if ((guint)boot->pair < from || (guint)boot->pair >= to)
			continue;
		g_array_append_val(schedule->arm, boot->arm);
		g_array_append_val(schedule->start_ns, boot->start_ns);
		count[boot->arm]++;
	}
}

static Schedule *schedule_new(const Walker *walker, const StatsSummary *summary, gsize look)
{
	Schedule *schedule = g_new0(Schedule, 1);
	guint count[SAMPLE_ARM_COUNT] = { 0 };

	schedule->arm = g_array_new(FALSE, FALSE, sizeof(SampleArm));
	schedule->start_ns = g_array_new(FALSE, FALSE, sizeof(gint64));
	for (gsize k = 0; k <= look; k++) {
		append_boots(summary, k ? pairs_of(walker, k - 1) : 0, pairs_of(walker, k), schedule, count);
		if (count[SAMPLE_ARM_BASE] < STATS_MIN_BOOTS || count[SAMPLE_ARM_PATCHED] < STATS_MIN_BOOTS)
			continue;
		schedule->looks.boots[schedule->looks.count] = schedule->arm->len;
		schedule->looks.fraction[schedule->looks.count++] = walker->walk->plan.fraction[k];
	}
	return schedule;
}

static gboolean same_array(const GArray *a, const GArray *b)
{
	return a->len == b->len && memcmp(a->data, b->data, (gsize)a->len * g_array_get_element_size((GArray *)a)) == 0;
}

static gboolean same_schedule(const Schedule *a, const Schedule *b)
{
	gboolean same = a->looks.count == b->looks.count;

	for (gsize k = 0; same && k < a->looks.count; k++)
		same = a->looks.boots[k] == b->looks.boots[k] && a->looks.fraction[k] == b->looks.fraction[k];
	return same && same_array(a->arm, b->arm) && same_array(a->start_ns, b->start_ns);
}

/* What a look adds to the error rate spent is a level that holds whatever the schedule, if a low one. */
static double least_level(double alpha, const StatsLooks *looks, gsize look)
{
	double before = look ? stats_alpha_spent(alpha, looks->fraction[look - 1]) : 0;

	return stats_alpha_spent(alpha, looks->fraction[look]) - before;
}

static void find_boundary(const Walker *walker, Schedule *schedule)
{
	gsize count = schedule->looks.count, m = walker->family->len;
	g_autofree double *p = g_new0(double, m * count);
	guint paths = walker->options->paths ? walker->options->paths : STATS_BOUNDARY_PATHS;

	if (walker->schedules->len < SCHEDULES_MAX)
		stats_boundary_cached(walker->options->cache_dir, (const SampleArm *)schedule->arm->data,
				      (const gint64 *)schedule->start_ns->data, &schedule->looks, walker->alphas, m, paths,
				      stats_boundary_seed(walker->seed), p);
	schedule->boundary = g_new(double, m);
	for (gsize j = 0; j < m; j++)
		schedule->boundary[j] = MAX(p[j * count + count - 1], least_level(walker->alphas[j], &schedule->looks, count - 1));
}

/* The boundary of a testable comparison at this look; the walker's. */
static const double *boundary_of(Walker *walker, const StatsSummary *summary, gsize look)
{
	Schedule *schedule = schedule_new(walker, summary, look);

	for (guint i = 0; i < walker->schedules->len; i++) {
		Schedule *other = g_ptr_array_index(walker->schedules, i);

		if (same_schedule(other, schedule)) {
			schedule_free(schedule);
			return other->boundary;
		}
	}
	find_boundary(walker, schedule);
	g_ptr_array_add(walker->schedules, schedule);
	return schedule->boundary;
}

/* ---- a look ---- */

static gboolean is_testable(const StatsSummary *summary)
{
	guint count[SAMPLE_ARM_COUNT] = { 0 };

	for (guint i = 0; i < summary->boots->len; i++)
		count[g_array_index(summary->boots, StatsBoot, i).arm]++;
	return !summary->invalid && count[SAMPLE_ARM_BASE] >= STATS_MIN_BOOTS && count[SAMPLE_ARM_PATCHED] >= STATS_MIN_BOOTS;
}

/* Fits a comparison that is not decided yet. One that cannot be tested takes part with p = 1. */
static void fit_one(Walker *walker, gsize i, gsize look)
{
	const StatsGroup *group = g_ptr_array_index(walker->family, i);
	StatsSummary *summary = stats_group_summary(group, pairs_of(walker, look));

	walker->summaries[i] = summary;
	walker->p[i] = 1;
	walker->boundary[i] = walker->alphas; /* for the interval of one that cannot be tested */
	if (!is_testable(summary))
		return;
	walker->fits[i] = stats_fit_boots(summary, 0);
	walker->p[i] = walker->fits[i].zero_residual ?
			       stats_permutation_p(summary, 0, stats_comparison_seed(walker->seed, group->benchmark, group->params,
										  group->metric)) :
			       walker->fits[i].p;
	walker->boundary[i] = boundary_of(walker, summary, look);
}

static StatsStop stop_of(const Walker *walker, gsize i, gsize look)
{
	const StatsGroup *group = g_ptr_array_index(walker->family, i);
	const StatsTrend *fit = &walker->fits[i];
	const StatsSummary *summary = walker->summaries[i];
	double min_effect = walker->options->min_effect_pct;
	gsize boots = summary->boots->len, left = walker->walk->plan.boots[walker->walk->plan.count - 1] -
						  walker->walk->plan.boots[look];
	StatsDecision decision;
	StatsVerdict verdict;

	if (summary->invalid)
		return STATS_STOP_INVALID;
	if (!is_testable(summary))
		return left ? STATS_STOP_NOT : STATS_STOP_END;
	decision = stats_decision(fit, walker->level[i], walker->found[i]);
	verdict = stats_classify(fit, &decision, min_effect,
				 ((const Sample *)g_ptr_array_index(group->samples, 0))->better);
	if (verdict == STATS_VERDICT_EQUIVALENT)
		return STATS_STOP_EQUIVALENT;
	if (verdict != STATS_VERDICT_INCONCLUSIVE)
		return STATS_STOP_FOUND;
	if (!left)
		return STATS_STOP_END;
	/* the level of the last look is not known yet, and not above alpha */
	return stats_is_futile(fit, walker->options->alpha, boots, boots + left, log1p(-min_effect / 100),
			       log1p(min_effect / 100)) ? STATS_STOP_FUTILE : STATS_STOP_NOT;
}

static gboolean is_decided(const StatsOutcome *outcome)
{
	return outcome->stop == STATS_STOP_FOUND || outcome->stop == STATS_STOP_EQUIVALENT;
}

static void look_at(Walker *walker, gsize look)
{
	gsize m = walker->family->len;
	StatsOutcome *outcomes = walker->walk->outcomes;

	g_ptr_array_set_size(walker->schedules, 0);
	for (gsize i = 0; i < m; i++) {
		walker->p[i] = 1;
		walker->boundary[i] = walker->alphas;
		if (!is_decided(&outcomes[i]))
			fit_one(walker, i, look);
	}
	stats_sequential_holm(walker->p, m, walker->boundary, walker->found, walker->level);
	for (gsize i = 0; i < m; i++) {
		if (is_decided(&outcomes[i]))
			continue;
		outcomes[i] = (StatsOutcome){ .look = look, .level = walker->level[i], .found = walker->found[i],
					      .stop = stop_of(walker, i, look) };
		g_clear_pointer(&walker->summaries[i], stats_summary_free);
	}
}

/* Why the job stops now: what is worst of its comparisons. */
static StatsStop job_stop(const Walker *walker)
{
	StatsStop stop = STATS_STOP_EQUIVALENT;
	static const int rank[] = {
		[STATS_STOP_EQUIVALENT] = 0, [STATS_STOP_FOUND] = 1, [STATS_STOP_INVALID] = 2,
		[STATS_STOP_FUTILE] = 3, [STATS_STOP_END] = 4, [STATS_STOP_NOT] = 5,
	};

	for (guint i = 0; i < walker->family->len; i++)
		if (rank[walker->walk->outcomes[i].stop] > rank[stop])
			stop = walker->walk->outcomes[i].stop;
	return stop;
}

StatsWalk *stats_walk_looks(const StatsSurvey *survey, const GPtrArray *family, const StatsOptions *options, guint max_boots,
			    gint64 seed)
{
	gsize m = family->len;
	g_autofree double *alphas = g_new(double, m), *p = g_new(double, m), *level = g_new0(double, m);
	g_autofree StatsSummary **summaries = g_new0(StatsSummary *, m);
	g_autofree StatsTrend *fits = g_new0(StatsTrend, m);
	g_autofree const double **boundary = g_new0(const double *, m);
	g_autofree gboolean *found = g_new0(gboolean, m);
	g_autoptr(GPtrArray) schedules = g_ptr_array_new_with_free_func(schedule_free);
	StatsWalk *walk = g_new0(StatsWalk, 1);
	Walker walker = { family, options, seed, walk, alphas, schedules, summaries, fits, p, boundary, found, level };

	walk->plan = stats_looks_plan(max_boots);
	walk->outcomes = g_new0(StatsOutcome, m);
	for (gsize j = 0; j < m; j++)
		alphas[j] = options->alpha / (double)(j + 1);
	while (walk->stop == STATS_STOP_NOT && walk->made < walk->plan.count &&
	       2 * (gsize)survey->pairs >= walk->plan.boots[walk->made]) {
		look_at(&walker, walk->made++);
		walk->stop = job_stop(&walker);
	}
	return walk;
}

void stats_walk_free(StatsWalk *walk)
{
	if (!walk)
		return;
	g_free(walk->outcomes);
	g_free(walk);
}
