/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/queue.h"

#include "daemon/runner.h"

#define LOOK_AT		50	/* jobs of a line; those behind wait for their turn */
#define TROUBLE_WAIT_MS	5000	/* the database cannot be used */

struct Queue {
	Lab *lab;
	Runner *build;		/* NULL: none runs */
	GHashTable *measuring;	/* host name -> Runner */
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

static Runner *find_runner(const Queue *queue, gint64 job)
{
	GHashTableIter iter;
	gpointer value;

	if (queue->build && runner_job(queue->build) == job)
		return queue->build;
	g_hash_table_iter_init(&iter, queue->measuring);
	while (g_hash_table_iter_next(&iter, NULL, &value))
		if (runner_job(value) == job)
			return value;
	return NULL;
}

/* ---- what may run beside what ---- */

static const char *text_member(JsonObject *object, const char *name)
{
	JsonNode *node = object ? json_object_get_member(object, name) : NULL;
	const char *text = node && JSON_NODE_HOLDS_VALUE(node) ? json_node_get_string(node) : NULL;

	return text ? text : "";
}

/* A count of instructions does not change when the machine is busy; a time does. */
static gboolean can_be_disturbed(const StoreJob *job)
{
	if (job->spec->clock == CLOCK_AUTO)
		return !g_str_equal(text_member(job->accelerator, "clock"), job_clock_name(CLOCK_ICOUNT));
	return job->spec->clock != CLOCK_ICOUNT;
}

static gboolean build_would_disturb(Queue *queue, gboolean *ret_would, GError **error)
{
	*ret_would = FALSE;
	for (guint i = 0; i < queue->lab->config->hosts->len; i++) {
		const ConfigHost *host = g_ptr_array_index(queue->lab->config->hosts, i);
		Runner *runner = g_hash_table_lookup(queue->measuring, host->name);
		g_autoptr(StoreJob) job = NULL;

		if (!runner || !config_build_disturbs(queue->lab->config, host))
			continue;
		if (!store_job_get(queue->lab->db, runner_job(runner), &job, error))
			return FALSE;
		*ret_would |= can_be_disturbed(job);
	}
	return TRUE;
}

/* ---- starting ---- */

static void take_out(Queue *queue, Runner *runner)
{
	GHashTableIter iter;
	gpointer value;

	if (queue->build == runner)
		queue->build = NULL;
	g_hash_table_iter_init(&iter, queue->measuring);
	while (g_hash_table_iter_next(&iter, NULL, &value))
		if (value == runner)
			g_hash_table_iter_remove(&iter);
	runner_free(runner);
}

static gboolean is_idle(const Queue *queue)
{
	return !queue->build && !g_hash_table_size(queue->measuring);
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
	case RUNNER_CHANGED:
		queue_kick(queue);
		break;
	case RUNNER_DONE:
		take_out(queue, runner);
		queue_kick(queue);
		if (queue->stopping && is_idle(queue))
			queue->stopped(queue->stopped_data);
		break;
	}
}

static gboolean start_stage(Queue *queue, const StoreJob *job, Stage stage, const ConfigHost *host, GError **error)
{
	Lab *lab = queue->lab;
	JobState state = stage == STAGE_BUILD ? JOB_BUILDING : JOB_MEASURING;
	Runner *runner;

	if (job->cancel_asked)
		return store_job_finish(lab->db, job->id, JOB_CANCELLED, "cancelled",
					"cancelled before it came to an end", lab->now_ns(), error);
	if (job->state != state &&
	    !store_job_set_state(lab->db, job->id, state, host ? host->name : NULL, lab->now_ns(), error))
		return FALSE;
	runner = runner_new(lab, job->id, stage, host, on_news, queue);
	if (host)
		g_hash_table_insert(queue->measuring, host->name, runner);
	else
		queue->build = runner;
	return TRUE;
}

/* The jobs of a state that nobody works on, in the order of their turns. */
static gboolean waiting(Queue *queue, JobState state, GPtrArray **ret_jobs, GError **error)
{
	g_autoptr(GPtrArray) jobs = NULL;

	if (!store_queue(queue->lab->db, state, LOOK_AT, &jobs, error))
		return FALSE;
	for (guint i = jobs->len; i-- > 0;)
		if (find_runner(queue, ((StoreJob *)g_ptr_array_index(jobs, i))->id))
			g_ptr_array_remove_index(jobs, i);
	*ret_jobs = g_steal_pointer(&jobs);
	return TRUE;
}

static gboolean start_measurement(Queue *queue, const ConfigHost *host, const GPtrArray *resumed,
				  const GPtrArray *jobs, GError **error)
{
	gboolean disturbed = queue->build && config_build_disturbs(queue->lab->config, host);

	for (guint i = 0; i < resumed->len; i++) {
		const StoreJob *job = g_ptr_array_index(resumed, i);

		if (g_str_equal(job->host, host->name) && !find_runner(queue, job->id) &&
		    !(disturbed && can_be_disturbed(job)))
			return start_stage(queue, job, STAGE_MEASURE, host, error);
	}
	for (guint i = 0; i < jobs->len; i++) {
		const StoreJob *job = g_ptr_array_index(jobs, i);

		if (!find_runner(queue, job->id) && !(disturbed && can_be_disturbed(job)))
			return start_stage(queue, job, STAGE_MEASURE, host, error);
	}
	return TRUE;
}

static gboolean start_measurements(Queue *queue, GError **error)
{
	const GPtrArray *hosts = queue->lab->config->hosts;
	g_autoptr(GPtrArray) resumed = NULL, jobs = NULL;

	if (!waiting(queue, JOB_MEASURING, &resumed, error) || !waiting(queue, JOB_WAITING_FOR_HOST, &jobs, error))
		return FALSE;
	for (guint i = 0; i < hosts->len; i++) {
		const ConfigHost *host = g_ptr_array_index(hosts, i);

		if (!g_hash_table_contains(queue->measuring, host->name) &&
		    !start_measurement(queue, host, resumed, jobs, error))
			return FALSE;
	}
	return TRUE;
}

static gboolean start_build(Queue *queue, GError **error)
{
	static const JobState states[] = { JOB_BUILDING, JOB_QUEUED };
	gboolean would_disturb;

	if (queue->build)
		return TRUE;
	if (!build_would_disturb(queue, &would_disturb, error))
		return FALSE;
	for (gsize i = 0; i < G_N_ELEMENTS(states) && !would_disturb; i++) {
		g_autoptr(GPtrArray) jobs = NULL;

		if (!waiting(queue, states[i], &jobs, error))
			return FALSE;
		if (jobs->len)
			return start_stage(queue, g_ptr_array_index(jobs, 0), STAGE_BUILD, NULL, error);
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
	if (!start_measurements(queue, &error) || !start_build(queue, &error)) {
		lab_log(G_LOG_LEVEL_WARNING, 0, "the queue has to wait: %s", error->message);
		kick_later(queue, TROUBLE_WAIT_MS);
	}
	return G_SOURCE_REMOVE;
}

/* ---- outside ---- */

/* A host that the configuration has no longer: its job cannot be resumed, and its arms must share a host. */
static void end_homeless(Queue *queue)
{
	g_autoptr(GPtrArray) jobs = NULL;
	g_autoptr(GError) error = NULL;

	if (!store_queue(queue->lab->db, JOB_MEASURING, LOOK_AT, &jobs, &error)) {
		lab_log(G_LOG_LEVEL_WARNING, 0, "the queue: %s", error->message);
		return;
	}
	for (guint i = 0; i < jobs->len; i++) {
		const StoreJob *job = g_ptr_array_index(jobs, i);
		g_autofree char *message = g_strdup_printf("it was measured on host '%s', which is not configured any longer",
							   job->host);

		if (!config_host(queue->lab->config, job->host) &&
		    !store_job_finish(queue->lab->db, job->id, JOB_INFRA_FAILED, "host-gone", message,
				      queue->lab->now_ns(), &error)) {
			lab_log(G_LOG_LEVEL_WARNING, job->id, "%s", error->message);
			g_clear_error(&error);
		}
	}
}

Queue *queue_new(Lab *lab)
{
	Queue *queue = g_new0(Queue, 1);

	queue->lab = lab;
	queue->measuring = g_hash_table_new(g_str_hash, g_str_equal);
	end_homeless(queue);
	queue_kick(queue);
	return queue;
}

void queue_free(Queue *queue)
{
	GHashTableIter iter;
	gpointer value;

	if (!queue)
		return;
	g_clear_handle_id(&queue->kick_id, g_source_remove);
	runner_free(queue->build);
	g_hash_table_iter_init(&iter, queue->measuring);
	while (g_hash_table_iter_next(&iter, NULL, &value))
		runner_free(value);
	g_hash_table_destroy(queue->measuring);
	g_free(queue);
}

gboolean queue_cancel(Queue *queue, gint64 job, JobState *ret_state, GError **error)
{
	Runner *runner = find_runner(queue, job);

	if (!store_job_cancel(queue->lab->db, job, runner != NULL, queue->lab->now_ns(), ret_state, error))
		return FALSE;
	if (runner)
		runner_cancel(runner);
	else
		queue_kick(queue);
	return TRUE;
}

void queue_stop(Queue *queue, GSourceFunc func, gpointer data)
{
	GHashTableIter iter;
	gpointer value;

	g_clear_handle_id(&queue->kick_id, g_source_remove);
	queue->stopping = TRUE;
	queue->stopped = func;
	queue->stopped_data = data;
	if (queue->build)
		runner_stop(queue->build);
	g_hash_table_iter_init(&iter, queue->measuring);
	while (g_hash_table_iter_next(&iter, NULL, &value))
		runner_stop(value);
	if (is_idle(queue))
		g_idle_add(func, data);
}

gint64 queue_running(const Queue *queue, const char *host)
{
	Runner *runner = host ? g_hash_table_lookup(queue->measuring, host) : queue->build;

	return runner ? runner_job(runner) : 0;
}

gboolean queue_position(Queue *queue, const StoreJob *job, int *ret_position, GError **error)
{
	int before;

	*ret_position = 0;
	if (job->state != JOB_QUEUED && job->state != JOB_WAITING_FOR_HOST)
		return TRUE;
	if (!store_queue_before(queue->lab->db, job, &before, error))
		return FALSE;
	*ret_position = before + 1;
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
