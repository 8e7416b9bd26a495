/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/line.h"

#include "daemon/turns.h"
#include "db/store-access.h"

struct Line {
	Needs *needs;
	GHashTable *jobs;	/* &LineJob.id -> LineJob, owned */
	GHashTable *marked;	/* ids */
	gint64 newest;		/* id that was seen */
	gboolean taken;		/* take() was called */
	GHashTable *shares;	/* submitter -> TurnShare */
	gint64 shares_ns;	/* when they were read */
	GPtrArray *states[JOB_N_STATES];	/* sorted; NULL: to be made */
};

static void job_free(gpointer data)
{
	LineJob *job = data;

	job_spec_free(job->spec);
	g_free(job->spec_text);
	g_free(job->host);
	g_free(job->submitter);
	g_free(job);
}

Line *line_new(const char *benchmarks_dir)
{
	Line *line = g_new0(Line, 1);

	line->needs = needs_new(benchmarks_dir);
	line->jobs = g_hash_table_new_full(g_int64_hash, g_int64_equal, NULL, job_free);
	line->shares = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
	line->marked = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
	return line;
}

static void forget_order(Line *line)
{
	for (int i = 0; i < JOB_N_STATES; i++)
		g_clear_pointer(&line->states[i], g_ptr_array_unref);
}

void line_free(Line *line)
{
	if (!line)
		return;
	forget_order(line);
	g_hash_table_destroy(line->jobs);
	g_hash_table_destroy(line->marked);
	g_hash_table_destroy(line->shares);
	needs_free(line->needs);
	g_free(line);
}

void line_mark(Line *line, gint64 job)
{
	g_hash_table_add(line->marked, g_memdup2(&job, sizeof(job)));
}

/* What it needs, asked for again only where something has changed. */
static void set_needs(Line *line, LineJob *job, const LineJob *old, gboolean at_home)
{
	gboolean same = old && job->spec == old->spec && job->clock == old->clock;

	job->anywhere = same ? old->anywhere : needs_get(line->needs, job->spec, NULL, job->clock);
	if (at_home)
		job->home = same && old->home && g_str_equal(job->host, old->host) ?
				    old->home : needs_get(line->needs, job->spec, job->host, job->clock);
	job->need = job->home ? job->home : job->anywhere;
}

static void take(StoreTurn *turn, gpointer data)
{
	Line *line = data;
	LineJob *job = g_new0(LineJob, 1), *old = g_hash_table_lookup(line->jobs, &turn->id);

	job->id = turn->id;
	job->state = turn->state;
	job->cancel_asked = turn->cancel_asked;
	job->created_ns = turn->created_ns;
	job->clock = turn->clock;
	job->spec = turn->spec ? g_steal_pointer(&turn->spec) : old->spec;
	job->spec_text = g_steal_pointer(&turn->spec_text);
	job->host = g_steal_pointer(&turn->host);
	job->submitter = g_steal_pointer(&turn->submitter);
	/* a job that is measured stays on its host: its arms must share one */
	set_needs(line, job, old, *job->host && (turn->has_boots || turn->state == JOB_MEASURING));
	if (old && old->spec == job->spec)
		old->spec = NULL;
	line->newest = MAX(line->newest, job->id);
	line->taken = TRUE;
	forget_order(line);
	g_hash_table_replace(line->jobs, &job->id, job);
}

static TurnShare *share_of(Line *line, const char *submitter)
{
	TurnShare *share = g_hash_table_lookup(line->shares, submitter);

	if (!share) {
		share = g_new0(TurnShare, 1);
		g_hash_table_insert(line->shares, g_strdup(submitter), share);
	}
	return share;
}

static void take_share(const char *submitter, gint64 used_ns, int hours_per_day, gpointer data)
{
	TurnShare *share = share_of(data, submitter);

	share->used_ns = used_ns;
	share->limit_ns = hours_per_day * 60 * TURN_MINUTE_NS;
}

/* A stage that ended marks its job, and an hour that is over is seen within a minute. */
static gboolean refresh_shares(Line *line, Db *db, gint64 now_ns, GError **error)
{
	gint64 age_ns = now_ns - line->shares_ns;

	if (!g_hash_table_size(line->marked) && age_ns >= 0 && age_ns < TURN_MINUTE_NS)
		return TRUE;
	forget_order(line);
	g_hash_table_remove_all(line->shares);
	if (!store_machine_times(db, now_ns, take_share, line, error))
		return FALSE;
	line->shares_ns = now_ns;
	return TRUE;
}

gboolean line_refresh(Line *line, Db *db, gint64 now_ns, GError **error)
{
	GHashTableIter iter;
	gpointer key;

	if (!refresh_shares(line, db, now_ns, error))
		return FALSE;
	g_hash_table_iter_init(&iter, line->marked);
	while (g_hash_table_iter_next(&iter, &key, NULL)) {
		const LineJob *old = g_hash_table_lookup(line->jobs, key);
		line->taken = FALSE;
		if (!store_turn(db, *(const gint64 *)key, old ? old->spec_text : NULL, take, line, error))
			return FALSE;
		if (!line->taken) {
			g_hash_table_remove(line->jobs, key);
			forget_order(line);
		}
		g_hash_table_iter_remove(&iter);
	}
	return store_turns(db, line->newest, take, line, error);
}

static void count_running(Line *line)
{
	GHashTableIter iter;
	gpointer value;

	g_hash_table_iter_init(&iter, line->shares);
	while (g_hash_table_iter_next(&iter, NULL, &value))
		((TurnShare *)value)->running = 0;
	g_hash_table_iter_init(&iter, line->jobs);
	while (g_hash_table_iter_next(&iter, NULL, &value)) {
		const LineJob *job = value;

		if (job->state == JOB_BUILDING || job->state == JOB_MEASURING)
			share_of(line, job->submitter)->running++;
	}
}

static void make_order(Line *line, JobState state)
{
	GPtrArray *jobs = g_ptr_array_new();
	GHashTableIter iter;
	gpointer value;

	g_hash_table_iter_init(&iter, line->jobs);
	while (g_hash_table_iter_next(&iter, NULL, &value))
		if (((LineJob *)value)->state == state)
			g_ptr_array_add(jobs, value);
	count_running(line);
	turns_sort(jobs, line->shares);
	for (guint i = 0; i < jobs->len; i++)
		((LineJob *)g_ptr_array_index(jobs, i))->position = (int)i + 1;
	line->states[state] = jobs;
}

const GPtrArray *line_jobs(Line *line, JobState state)
{
	if (!line->states[state])
		make_order(line, state);
	return line->states[state];
}

Need *line_need(Line *line, const JobSpec *spec)
{
	return needs_get(line->needs, spec, NULL, CLOCK_AUTO);
}

LineJob *line_find(Line *line, gint64 job)
{
	return g_hash_table_lookup(line->jobs, &job);
}
