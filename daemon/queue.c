/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/queue.h"

#include "daemon/hosts.h"
#include "daemon/line.h"
#include "daemon/health.h"
#include "daemon/runner.h"

#define TROUBLE_WAIT_MS	5000	/* the database cannot be used */
#define OVER_WAIT_MS	60000	/* until those whose machine time is used are looked at again */
#define WAIT_STEP_MS	5000	/* while jobs wait for a host that is away */

struct Queue {
	Lab *lab;
	Line *line;
	Hosts *hosts;
	Runner *build;		/* NULL: none runs */
	guint64 passes;		/* of dispatch() */
	guint kick_id;
	gboolean stopping;
	GSourceFunc stopped;
	gpointer stopped_data;
	guint64 started, crashed;
};

static gboolean schedule(gpointer data);

static void kick_later(Queue *queue, guint delay_ms)
{
	if (!queue->kick_id && !queue->stopping)
		queue->kick_id = g_timeout_add(delay_ms, schedule, queue);
}

void queue_kick(Queue *queue)
{
	g_clear_handle_id(&queue->kick_id, g_source_remove);
	kick_later(queue, 0);
}

void queue_changed(Queue *queue, gint64 job)
{
	line_mark(queue->line, job);
	queue_kick(queue);
}

static Runner *find_runner(const Queue *queue, gint64 job)
{
	if (queue->build && runner_job(queue->build) == job)
		return queue->build;
	return hosts_runner(queue->hosts, job);
}

/* ---- starting ---- */

static void take_out(Queue *queue, Runner *runner)
{
	if (queue->build == runner)
		g_clear_pointer(&queue->build, runner_free);
	else
		hosts_remove(queue->hosts, runner);
}

static gboolean is_idle(const Queue *queue)
{
	return !queue->build && hosts_idle(queue->hosts);
}

static void host_down(Queue *queue, Runner *runner)
{
	Host *host = hosts_host(queue->hosts, runner);

	if (host)
		host_set_down(host, runner_host_trouble(runner));
}

static void on_news(Runner *runner, RunnerNews news, gpointer data)
{
	Queue *queue = data;

	switch (news) {
	case RUNNER_STARTED:
		queue->started++;
		break;
	case RUNNER_CRASHED:
		queue->crashed++;
		break;
	case RUNNER_HOST_DOWN:
		host_down(queue, runner);
		break;
	case RUNNER_CHANGED:
		queue_changed(queue, runner_job(runner));
		break;
	case RUNNER_DONE:
		queue_changed(queue, runner_job(runner));
		take_out(queue, runner);
		if (queue->stopping && is_idle(queue))
			queue->stopped(queue->stopped_data);
		break;
	}
}

/* The job is in the state of the stage from here on; host NULL: the build. */
static gboolean start_stage(Queue *queue, LineJob *job, Host *host, GError **error)
{
	Lab *lab = queue->lab;
	JobState state = host ? JOB_MEASURING : JOB_BUILDING;
	Runner *runner;

	line_mark(queue->line, job->id);
	if (job->cancel_asked)
		return store_job_finish(lab->db, job->id, JOB_CANCELLED, "cancelled",
					"cancelled before it came to an end", lab->now_ns(), error);
	if ((job->state != state || (host && !g_str_equal(job->host, host->config->name))) &&
	    !store_job_set_state(lab->db, job->id, state, host ? host->config->name : NULL, lab->now_ns(), error))
		return FALSE;
	runner = runner_new(lab, job->id, host ? STAGE_MEASURE : STAGE_BUILD, host ? host->config : NULL, on_news, queue);
	if (host)
		host_add(host, runner, job->need);
	else
		queue->build = runner;
	return TRUE;
}

/*
 * A job with boots on a host waits there while that is worth it; then it
 * begins anew wherever it fits, so that its arms share a host again.
 */
static void choose_need(Queue *queue, LineJob *job)
{
	Host *home = job->home ? hosts_find(queue->hosts, job->host) : NULL;

	job->need = home && host_worth_waiting(home) ? job->home : job->anywhere;
	if (home && !home->place.usable && job->need == job->home)
		kick_later(queue, WAIT_STEP_MS);
}

/* The jobs of a state that nobody works on, in the order of their turns; the caller's. */
static GPtrArray *waiting(Queue *queue, JobState state)
{
	const GPtrArray *jobs = line_jobs(queue->line, state);
	GPtrArray *free_jobs = g_ptr_array_sized_new(jobs->len);

	for (guint i = 0; i < jobs->len; i++) {
		LineJob *job = g_ptr_array_index(jobs, i);

		if (find_runner(queue, job->id))
			continue;
		choose_need(queue, job);
		/* what was begun is brought to its end */
		if (job->over && (state == JOB_QUEUED || (state == JOB_WAITING_FOR_HOST && !job->home)))
			kick_later(queue, OVER_WAIT_MS);
		else
			g_ptr_array_add(free_jobs, job);
	}
	return free_jobs;
}

typedef struct {
	LineJob *job;
	const char *host;
} Choice;

static void keep_choice(LineJob *job, DispatchHost *place, gpointer data)
{
	Choice choice = { job, place->name };

	g_array_append_val(data, choice);
}

/* What a daemon before this one began goes before what waits. */
static gboolean start_measurements(Queue *queue, GError **error)
{
	static const JobState states[] = { JOB_MEASURING, JOB_WAITING_FOR_HOST };

	for (gsize i = 0; i < G_N_ELEMENTS(states); i++) {
		g_autoptr(GPtrArray) jobs = waiting(queue, states[i]);
		g_autoptr(GArray) choices = g_array_new(FALSE, FALSE, sizeof(Choice));

		dispatch(jobs, hosts_places(queue->hosts, queue->build != NULL), ++queue->passes, keep_choice, choices);
		for (guint k = 0; k < choices->len; k++) {
			const Choice *choice = &g_array_index(choices, Choice, k);

			if (!start_stage(queue, choice->job, hosts_find(queue->hosts, choice->host), error))
				return FALSE;
		}
	}
	return TRUE;
}

static gboolean start_build(Queue *queue, GError **error)
{
	static const JobState states[] = { JOB_BUILDING, JOB_QUEUED };

	if (queue->build || hosts_build_disturbs(queue->hosts))
		return TRUE;
	for (gsize i = 0; i < G_N_ELEMENTS(states); i++) {
		g_autoptr(GPtrArray) jobs = waiting(queue, states[i]);

		if (jobs->len)
			return start_stage(queue, g_ptr_array_index(jobs, 0), NULL, error);
	}
	return TRUE;
}

static gboolean refresh(Queue *queue, GError **error)
{
	if (!line_refresh(queue->line, queue->lab->db, queue->lab->now_ns(), error))
		return FALSE;
	for (guint i = 0; i < hosts_count(queue->hosts); i++) {
		Host *host = hosts_get(queue->hosts, i);

		for (guint slot = 0; slot < host->running->len; slot++) {
			const LineJob *job = line_find(queue->line, host_job(host, slot));

			if (job)
				host_set_need(host, slot, job->need);
		}
	}
	return TRUE;
}

/* Measurements first: what is nearly through makes room for what begins. */
static gboolean schedule(gpointer data)
{
	Queue *queue = data;
	g_autoptr(GError) error = NULL;

	queue->kick_id = 0;
	if (queue->stopping)
		return G_SOURCE_REMOVE;
	if (health_blocks(queue->lab->health)) {
		kick_later(queue, TROUBLE_WAIT_MS);
		return G_SOURCE_REMOVE;
	}
	if (!refresh(queue, &error) || !start_measurements(queue, &error) ||
	    !start_build(queue, &error)) {
		lab_log(G_LOG_LEVEL_WARNING, 0, "the queue has to wait: %s", error->message);
		kick_later(queue, TROUBLE_WAIT_MS);
	}
	return G_SOURCE_REMOVE;
}

/* ---- outside ---- */

static void hosts_changed(gpointer data)
{
	queue_kick(data);
}

Queue *queue_new(Lab *lab)
{
	Queue *queue = g_new0(Queue, 1);

	queue->lab = lab;
	queue->line = line_new(lab->config->benchmarks_dir);
	queue->hosts = hosts_new(lab, hosts_changed, queue);
	queue_kick(queue);
	return queue;
}

void queue_free(Queue *queue)
{
	if (!queue)
		return;
	g_clear_handle_id(&queue->kick_id, g_source_remove);
	runner_free(queue->build);
	hosts_free(queue->hosts);
	line_free(queue->line);
	g_free(queue);
}

gboolean queue_cancel(Queue *queue, gint64 job, JobState *ret_state, GError **error)
{
	Runner *runner = find_runner(queue, job);

	if (!store_job_cancel(queue->lab->db, job, runner != NULL, queue->lab->now_ns(), ret_state, error))
		return FALSE;
	if (runner)
		runner_cancel(runner);
	queue_changed(queue, job);
	return TRUE;
}

void queue_stop(Queue *queue, GSourceFunc func, gpointer data)
{
	g_clear_handle_id(&queue->kick_id, g_source_remove);
	queue->stopping = TRUE;
	queue->stopped = func;
	queue->stopped_data = data;
	if (queue->build)
		runner_stop(queue->build);
	hosts_each_runner(queue->hosts, runner_stop);
	if (is_idle(queue))
		g_idle_add(func, data);
}

gboolean queue_idle(const Queue *queue)
{
	return is_idle(queue);
}

gint64 queue_building(const Queue *queue)
{
	return queue->build ? runner_job(queue->build) : 0;
}

Host *queue_host(const Queue *queue, const char *name)
{
	return hosts_find(queue->hosts, name);
}

gboolean queue_build_disturbs(const Queue *queue)
{
	return hosts_build_disturbs(queue->hosts);
}

const LineJob *queue_find(Queue *queue, gint64 job)
{
	return line_find(queue->line, job);
}

gboolean queue_has_host(Queue *queue, const JobSpec *spec)
{
	const Need *need = line_need(queue->line, spec);

	for (guint i = 0; i < hosts_count(queue->hosts); i++)
		if (dispatch_fits(need, &hosts_get(queue->hosts, i)->place))
			return TRUE;
	return FALSE;
}

char **queue_spread(Queue *queue, const JobSpec *spec, guint count)
{
	return dispatch_spread(line_need(queue->line, spec), hosts_places(queue->hosts, FALSE), count);
}

gboolean queue_next(Queue *queue, JobState state, guint limit, GPtrArray **ret_jobs, guint *ret_all, GError **error)
{
	g_autoptr(GPtrArray) jobs = g_ptr_array_new_with_free_func((GDestroyNotify)store_job_free);
	const GPtrArray *waits;

	if (!line_refresh(queue->line, queue->lab->db, queue->lab->now_ns(), error))
		return FALSE;
	waits = line_jobs(queue->line, state);
	*ret_all = waits->len;
	for (guint i = 0; i < MIN(waits->len, limit); i++) {
		StoreJob *job;

		if (!store_job_get(queue->lab->db, ((const LineJob *)g_ptr_array_index(waits, i))->id, &job, error))
			return FALSE;
		if (job)
			g_ptr_array_add(jobs, job);
	}
	*ret_jobs = g_steal_pointer(&jobs);
	return TRUE;
}

gboolean queue_position(Queue *queue, const StoreJob *job, int *ret_position, GError **error)
{
	const LineJob *waits;

	*ret_position = 0;
	if (job->state != JOB_QUEUED && job->state != JOB_WAITING_FOR_HOST)
		return TRUE;
	if (!line_refresh(queue->line, queue->lab->db, queue->lab->now_ns(), error))
		return FALSE;
	line_jobs(queue->line, job->state);
	waits = line_find(queue->line, job->id);
	*ret_position = waits && waits->state == job->state ? waits->position : 0;
	return TRUE;
}

guint64 queue_stages_started(const Queue *queue)
{
	return queue->started;
}

guint64 queue_stages_crashed(const Queue *queue)
{
	return queue->crashed;
}
