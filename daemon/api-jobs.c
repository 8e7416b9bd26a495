/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "daemon/answer.h"
#include "daemon/api.h"
#include "daemon/artifacts.h"
#include "daemon/job-filter.h"
#include "daemon/job-json.h"
#include "daemon/queue.h"
#include "jobs/spec/file.h"

StoreJob *api_find_job(HttpRequest *request, Lab *lab, const RouteMatch *match)
{
	StoreJob *job = NULL;
	GError *error = NULL;

	if (!store_job_get(lab->db, match->id, &job, &error))
		answer_trouble(request, match->id, error);
	else if (!job)
		answer_error(request, 404, "not-found", NULL, "there is no job %" G_GINT64_FORMAT, match->id);
	return job;
}

/* ---- the list ---- */

gboolean api_int_query(HttpRequest *request, const char *name, gint64 min, gint64 max, gint64 *value)
{
	const char *text = http_request_query(request, name);

	if (!text || g_ascii_string_to_signed(text, 10, min, max, value, NULL))
		return TRUE;
	answer_error(request, 400, "malformed", name,
		     "'%.40s' is not a whole number from %" G_GINT64_FORMAT " to %" G_GINT64_FORMAT, text, min, max);
	return FALSE;
}

void api_jobs(HttpRequest *request, Lab *lab, const RouteMatch *match G_GNUC_UNUSED)
{
	g_autoptr(GPtrArray) jobs = NULL;
	JsonObject *object;
	JsonArray *array;
	StoreFilter filter;
	gint64 cursor;
	GError *error = NULL;

	if (!job_filter_read(request, FALSE, &filter))
		return;
	if (!store_job_list(lab->db, &filter, &jobs, &cursor, &error)) {
		answer_trouble(request, 0, error);
		return;
	}
	object = json_object_new();
	array = json_array_new();
	for (guint i = 0; i < jobs->len; i++)
		json_array_add_object_element(array, job_json_brief(g_ptr_array_index(jobs, i)));
	json_object_set_array_member(object, "jobs", array);
	if (cursor) {
		g_autofree char *text = g_strdup_printf("%" G_GINT64_FORMAT, cursor);

		json_object_set_string_member(object, "cursor", text);
	} else {
		json_object_set_null_member(object, "cursor");
	}
	answer_json(request, 200, object);
}

/* ---- one ---- */

void api_answer_job(HttpRequest *request, Lab *lab, const StoreJob *job, unsigned status)
{
	g_autoptr(GPtrArray) boots = NULL;
	g_autoptr(StoreReplicas) replicas = NULL;
	g_auto(GStrv) artifacts = artifacts_list(lab, job->id);
	GError *error = NULL;
	JsonObject *object;
	int position;

	if (!store_boots(lab->db, job->id, &boots, &error) || !store_replicas(lab->db, job, &replicas, &error) ||
	    !queue_position(lab->queue, job, &position, &error)) {
		answer_trouble(request, job->id, error);
		return;
	}
	object = job_json(job, boots, (const char *const *)artifacts, position);
	if (replicas)
		json_object_set_object_member(object, "replicas", job_json_replicas(replicas));
	else
		json_object_set_null_member(object, "replicas");
	answer_json(request, status, object);
}

void api_job(HttpRequest *request, Lab *lab, const RouteMatch *match)
{
	g_autoptr(StoreJob) job = api_find_job(request, lab, match);

	if (job)
		api_answer_job(request, lab, job, 200);
}

/* 200: it has ended as cancelled; 202: its stage is being ended; 409: it had ended before. */
void api_cancel(HttpRequest *request, Lab *lab, const RouteMatch *match)
{
	g_autoptr(StoreJob) before = api_find_job(request, lab, match);
	g_autoptr(StoreJob) job = NULL;
	JobState state;
	GError *error = NULL;

	if (!before)
		return;
	if (!caller_owns(match->caller, before->submitter)) {
		answer_error(request, 403, "not-yours", NULL, "job %" G_GINT64_FORMAT " was submitted by somebody else",
			     before->id);
		return;
	}
	if (job_state_is_final(before->state) && before->state != JOB_CANCELLED) {
		answer_error(request, 409, "ended", NULL, "job %" G_GINT64_FORMAT " has ended already: %s", before->id,
			     job_state_name(before->state));
		return;
	}
	if (!queue_cancel(lab->queue, before->id, &state, &error)) {
		answer_trouble(request, before->id, error);
		return;
	}
	job = api_find_job(request, lab, match);
	if (job)
		api_answer_job(request, lab, job, job_state_is_final(state) ? 200 : 202);
}

/* The result as the stage wrote it, and beside its members how fit the host was. */
static void answer_result(HttpRequest *request, const StoreJob *job, const char *json)
{
	g_autoptr(JsonObject) result = NULL;
	GError *error = NULL;
	char *line;

	if (!json_object_from_data(json, strlen(json), &result, &error)) {
		answer_trouble(request, job->id, error);
		return;
	}
	if (job->trust)
		json_object_set_object_member(result, "trust", json_object_ref(job->trust));
	line = json_object_to_line(result);
	answer_text(request, JSON_TYPE, line, strlen(line));
}

void api_result(HttpRequest *request, Lab *lab, const RouteMatch *match)
{
	g_autoptr(StoreJob) job = api_find_job(request, lab, match);
	g_autofree char *json = NULL;
	GError *error = NULL;

	if (!job)
		return;
	if (!store_result(lab->db, job->id, &json, &error)) {
		answer_trouble(request, job->id, error);
	} else if (!json && job_state_is_final(job->state)) {
		answer_error(request, 404, job_state_name(job->state), NULL,
			     "job %" G_GINT64_FORMAT " ended without a result: %s%s%s", job->id,
			     job_state_name(job->state), *job->message ? ": " : "", job->message);
	} else if (!json) {
		answer_error(request, 409, job_state_name(job->state), NULL,
			     "job %" G_GINT64_FORMAT " has no result yet, it is %s", job->id, job_state_name(job->state));
		http_answer_header(request, "Retry-After", "5");
	} else {
		answer_result(request, job, json);
	}
}
