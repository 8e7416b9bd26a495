/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Boots added to a job that is done and did not decide. */
#include "daemon/answer.h"
#include "daemon/api.h"
#include "daemon/queue.h"
#include "jobs/stats/result.h"

static gboolean read_result(Lab *lab, gint64 job, StatsResult **ret_result, GError **error)
{
	g_autofree char *json = NULL;
	g_autoptr(JsonNode) node = NULL;

	*ret_result = NULL;
	if (!store_result(lab->db, job, &json, error))
		return FALSE;
	node = json ? json_from_string(json, error) : NULL;
	if (node)
		*ret_result = stats_result_from_json(node, error);
	return !json || *ret_result;
}

/* Whether more boots can be made, and can tell more; FALSE: answered. */
static gboolean check(HttpRequest *request, Lab *lab, const RouteMatch *match, const StoreJob *job, gint64 boots)
{
	g_autoptr(StatsResult) result = NULL;
	GError *error = NULL;

	if (!caller_owns(match->caller, job->submitter)) {
		answer_error(request, 403, "not-yours", NULL, "job %" G_GINT64_FORMAT " was submitted by somebody else", job->id);
	} else if (!read_result(lab, job->id, &result, &error)) {
		answer_trouble(request, job->id, error);
	} else if (job->state != JOB_DONE || !result) {
		answer_error(request, 409, "not-done", NULL, "job %" G_GINT64_FORMAT " is %s: boots can be added to one that is "
			     "done", job->id, job_state_name(job->state));
	} else if (!stats_result_is_open(stats_result_latest(result))) {
		answer_error(request, 409, "decided", NULL, "job %" G_GINT64_FORMAT " is decided: there is nothing that more "
			     "boots could tell", job->id);
	} else if (job->spec->more_boots + boots > SPEC_MAX_MORE) {
		answer_error(request, 409, "too-many", "boots", "job %" G_GINT64_FORMAT " has %d boots of each kernel added, and "
			     "may have %d", job->id, job->spec->more_boots, SPEC_MAX_MORE);
	} else if (!config_host(lab->config, job->host)) {
		answer_error(request, 409, "host-gone", NULL, "job %" G_GINT64_FORMAT " was measured on host '%s', which is not "
			     "configured any longer", job->id, job->host);
	}
	return !http_answered(request) && api_check_limits(request, lab, match->caller, 1);
}

void api_more(HttpRequest *request, Lab *lab, const RouteMatch *match)
{
	g_autoptr(StoreJob) before = api_find_job(request, lab, match), job = NULL;
	GError *error = NULL;
	gint64 boots = 0;

	if (!before || !api_int_query(request, "boots", 1, SPEC_MAX_MORE, &boots))
		return;
	if (!boots) {
		answer_error(request, 400, "malformed", "boots", "boots= says how many boots of each kernel are to be added");
		return;
	}
	if (!check(request, lab, match, before, boots))
		return;
	if (!store_job_more(lab->db, before->id, (int)boots, &error)) {
		answer_trouble(request, before->id, error);
		return;
	}
	queue_changed(lab->queue, before->id);
	job = api_find_job(request, lab, match);
	if (job)
		api_answer_job(request, lab, job, 202);
}
