/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A job's page, its report, and the buttons on the page. */
#include <string.h>
#include <unistd.h>

#include "daemon/access.h"
#include "daemon/answer.h"
#include "daemon/api.h"
#include "daemon/artifacts.h"
#include "daemon/queue.h"
#include "jobs/spec/peek.h"
#include "web/page-job.h"
#include "web/report-text.h"

#define LOG_TAIL_BYTES 6000

/* What a page of a job is made of. */
typedef struct {
	StoreJob *job;
	GPtrArray *boots, *looks;
	StoreReplicas *replicas;
	StatsResult *result;
	JsonNode *node;		/* of the result: holds the host's warnings too */
	JsonObject *counters;
	GBytes *configs[2];
	char *log_tail;
	char **artifacts;
	int position;
} Records;

static void records_clear(Records *records)
{
	store_job_free(records->job);
	g_clear_pointer(&records->boots, g_ptr_array_unref);
	g_clear_pointer(&records->looks, g_ptr_array_unref);
	stats_result_free(records->result);
	store_replicas_free(records->replicas);
	g_clear_pointer(&records->node, json_node_unref);
	g_clear_pointer(&records->counters, json_object_unref);
	g_clear_pointer(&records->configs[0], g_bytes_unref);
	g_clear_pointer(&records->configs[1], g_bytes_unref);
	g_free(records->log_tail);
	g_strfreev(records->artifacts);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Records, records_clear)

static gboolean load_result(const Lab *lab, Records *records, GError **error)
{
	g_autofree char *json = NULL;

	if (!store_result(lab->db, records->job->id, &json, error))
		return FALSE;
	if (!json)
		return TRUE;
	records->node = json_from_string(json, error);
	if (records->node)
		records->result = stats_result_from_json(records->node, error);
	return records->result != NULL;
}

/* The last lines of a log that grows; NULL: none. The caller's. */
static char *read_log_tail(const Lab *lab, gint64 job)
{
	guint64 size;
	int fd = artifact_open(lab, job, NULL, "log", &size);
	g_autofree char *text = g_malloc(LOG_TAIL_BYTES + 1);
	const char *line;
	ssize_t got;

	if (fd < 0)
		return NULL;
	got = pread(fd, text, LOG_TAIL_BYTES, size > LOG_TAIL_BYTES ? (off_t)(size - LOG_TAIL_BYTES) : 0);
	close(fd);
	text[MAX(got, 0)] = '\0';
	line = size > LOG_TAIL_BYTES ? strchr(text, '\n') : NULL;
	return line ? g_strdup(line + 1) : g_steal_pointer(&text);
}

/* Only where they are not the same, which is seldom. */
static void load_configs(const Lab *lab, Records *records)
{
	const StoreJob *job = records->job;

	if (!job->arms[0] || !job->arms[1] ||
	    g_str_equal(peek_string(job->arms[0], "config_sha256"), peek_string(job->arms[1], "config_sha256")))
		return;
	records->configs[0] = api_read_artifact(lab, job->id, "config-base");
	records->configs[1] = api_read_artifact(lab, job->id, "config-patched");
}

static gboolean load(const Lab *lab, Records *records, GError **error)
{
	const StoreJob *job = records->job;

	if (!store_boots(lab->db, job->id, &records->boots, error) || !load_result(lab, records, error) ||
	    !store_replicas(lab->db, job, &records->replicas, error) ||
	    !store_counters(lab->db, job->id, &records->counters, error) ||
	    !queue_position(lab->queue, job, &records->position, error))
		return FALSE;
	if (!job_state_is_final(job->state)) {
		if (!store_looks(lab->db, job->id, &records->looks, error))
			return FALSE;
		records->log_tail = read_log_tail(lab, job->id);
	}
	records->artifacts = artifacts_list(lab, job->id);
	load_configs(lab, records);
	return TRUE;
}

typedef char *(*JobRenderer)(const JobView *view, gsize *ret_size);

static void answer_job(HttpRequest *request, Lab *lab, const RouteMatch *match, JobRenderer render)
{
	g_auto(Records) records = { .job = api_find_job(request, lab, match) };
	GError *error = NULL;
	gsize size;
	char *text;

	if (!records.job)
		return;
	if (!load(lab, &records, &error)) {
		answer_trouble(request, records.job->id, error);
		return;
	}

	JobView view = {
		.job = records.job,
		.boots = records.boots,
		.result = records.result,
		.host_warnings = records.node ? peek_array(json_node_get_object(records.node), "host_warnings") : NULL,
		.replicas = records.replicas,
		.artifacts = (const char *const *)records.artifacts,
		.url = lab->config->url,
		.tree_url = api_tree_url(lab, records.job->spec->tree),
		.configs = { records.configs[0], records.configs[1] },
		.counters = records.counters,
		.looks = records.looks,
		.log_tail = records.log_tail,
		.open = match->caller && !match->caller->token && match->caller->role == ROLE_ADMIN,
		.queue_position = records.position,
		.now_ns = lab->now_ns(),
	};
	text = render(&view, &size);
	answer_text(request, match->route->produces, text, size);
}

void pages_job(HttpRequest *request, Lab *lab, const RouteMatch *match)
{
	answer_job(request, lab, match, page_job);
}

void pages_report(HttpRequest *request, Lab *lab, const RouteMatch *match)
{
	answer_job(request, lab, match, report_text);
}

/* What the API does, and then the job's page again: for buttons. */
static void change_job(HttpRequest *request, Lab *lab, const RouteMatch *match, RouteFunc change)
{
	g_autofree char *page = g_strdup_printf("/jobs/%" G_GINT64_FORMAT, match->id);
	unsigned status;

	change(request, lab, match);
	status = http_answer_status(request);
	if (status < 200 || status >= 300)
		return;
	http_answer_discard(request);
	http_answer(request, 303, NULL, NULL, 0);
	http_answer_header(request, "Location", page);
}

void pages_cancel(HttpRequest *request, Lab *lab, const RouteMatch *match)
{
	change_job(request, lab, match, api_cancel);
}

void pages_more(HttpRequest *request, Lab *lab, const RouteMatch *match)
{
	change_job(request, lab, match, api_more);
}
