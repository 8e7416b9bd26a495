/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/answer.h"
#include "daemon/api.h"
#include "daemon/health.h"
#include "daemon/queue.h"
#include "daemon/waiting.h"
#include "jobs/spec/benchmark.h"
#include "web/page-index.h"

#define RUNNING_ROWS 50
#define WAITING_ROWS 20
#define RECENT_ROWS 20

/* Records, and the rows that point at them. */
typedef struct {
	GPtrArray *jobs;	/* of StoreJob */
	GPtrArray *whys;	/* of char *, one a row */
	GArray *rows;		/* of IndexRow */
	gint64 more;		/* that there are beside them */
} Rows;

static void rows_init(Rows *rows)
{
	rows->jobs = g_ptr_array_new_with_free_func((GDestroyNotify)store_job_free);
	rows->whys = g_ptr_array_new_with_free_func(g_free);
	rows->rows = g_array_new(FALSE, FALSE, sizeof(IndexRow));
}

static void rows_clear(Rows *rows)
{
	g_clear_pointer(&rows->jobs, g_ptr_array_unref);
	g_clear_pointer(&rows->whys, g_ptr_array_unref);
	g_clear_pointer(&rows->rows, g_array_unref);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Rows, rows_clear)

/* Takes the jobs. */
static void add_rows(Rows *rows, Lab *lab, GPtrArray *jobs)
{
	for (guint i = 0; i < jobs->len; i++) {
		const StoreJob *job = g_ptr_array_index(jobs, i);
		char *why = waiting_reason(lab, job);
		IndexRow row = { job, why };

		g_ptr_array_add(rows->whys, why);
		g_array_append_val(rows->rows, row);
	}
	g_ptr_array_extend_and_steal(rows->jobs, jobs);
}

static gboolean load_running(Rows *rows, Lab *lab, GError **error)
{
	static const JobState states[] = { JOB_MEASURING, JOB_BUILDING };

	rows_init(rows);
	for (gsize i = 0; i < G_N_ELEMENTS(states); i++) {
		StoreFilter filter = { .by_state = TRUE, .state = states[i], .limit = RUNNING_ROWS };
		GPtrArray *jobs;
		gint64 cursor;

		if (!store_job_list(lab->db, &filter, &jobs, &cursor, error))
			return FALSE;
		add_rows(rows, lab, jobs);
	}
	return TRUE;
}

static gboolean load_waiting(Rows *rows, Lab *lab, GError **error)
{
	static const JobState states[] = { JOB_WAITING_FOR_HOST, JOB_QUEUED };

	rows_init(rows);
	for (gsize i = 0; i < G_N_ELEMENTS(states); i++) {
		GPtrArray *jobs;
		guint all;

		if (!queue_next(lab->queue, states[i], WAITING_ROWS, &jobs, &all, error))
			return FALSE;
		rows->more += all - jobs->len;
		add_rows(rows, lab, jobs);
	}
	return TRUE;
}

static gboolean load_recent(GPtrArray **ret_briefs, Lab *lab, GError **error)
{
	StoreFilter filter = { .by_end = TRUE, .limit = RECENT_ROWS };
	gint64 cursor;

	return store_brief_list(lab->db, &filter, ret_briefs, &cursor, error);
}

static GArray *host_rows(Lab *lab)
{
	GArray *rows = g_array_new(FALSE, FALSE, sizeof(IndexHost));

	for (guint i = 0; i < lab->config->hosts->len; i++) {
		const ConfigHost *config = g_ptr_array_index(lab->config->hosts, i);
		const Host *host = queue_host(lab->queue, config->name);
		IndexHost row = { config->name, host_state(host), host->message, host_first_job(host) };

		g_array_append_val(rows, row);
	}
	return rows;
}

static char **trouble_sentences(Health *health)
{
	g_autoptr(GStrvBuilder) sentences = g_strv_builder_new();
	const GPtrArray *troubles = health_troubles(health);

	for (guint i = 0; i < troubles->len; i++) {
		const Trouble *trouble = g_ptr_array_index(troubles, i);
		g_autofree char *sentence = g_strdup_printf("%s: %s%s", trouble->name, trouble->message,
							    trouble->blocks ? ". Nothing is started until this is over." : "");

		g_strv_builder_add(sentences, sentence);
	}
	return g_strv_builder_end(sentences);
}

/* A browser sends no token with a change, so that of a page's reader does not count. */
static gboolean needs_token(const Caller *caller)
{
	return caller->token || caller->role < ROLE_SUBMIT;
}

void pages_index(HttpRequest *request, Lab *lab, const RouteMatch *match)
{
	g_auto(Rows) running = { 0 }, waiting = { 0 };
	g_autoptr(GPtrArray) recent = NULL;
	g_autoptr(GArray) hosts = host_rows(lab);
	g_auto(GStrv) trees = lab_tree_names(lab), benchmarks = NULL, troubles = trouble_sentences(lab->health);
	GError *error = NULL;
	gsize size;
	char *text;

	if (!load_running(&running, lab, &error) || !load_waiting(&waiting, lab, &error) ||
	    !load_recent(&recent, lab, &error) || !(benchmarks = benchmark_list(lab->config->benchmarks_dir, &error))) {
		answer_trouble(request, 0, error);
		return;
	}

	IndexView view = {
		.running = running.rows,
		.waiting = waiting.rows,
		.waiting_more = waiting.more,
		.recent = recent,
		.hosts = hosts,
		.submit = {
			.url = lab->config->url,
			.trees = (const char *const *)trees,
			.benchmarks = (const char *const *)benchmarks,
			.needs_token = needs_token(match->caller),
		},
		.troubles = (const char *const *)troubles,
		.now_ns = lab->now_ns(),
	};
	text = page_index(&view, &size);
	answer_text(request, match->route->produces, text, size);
}
