/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/job-filter.h"

#include "daemon/answer.h"
#include "daemon/api.h"
#include "jobs/stats/verdict.h"

static gboolean any_pair(const char *name G_GNUC_UNUSED, const char *value G_GNUC_UNUSED, gpointer data G_GNUC_UNUSED)
{
	return TRUE;
}

static const char *given(HttpRequest *request, gboolean is_page, const char *name)
{
	const char *value = http_request_query(request, name);

	return value && is_page && !*value ? NULL : value;
}

static gboolean read_state(HttpRequest *request, const char *state, StoreFilter *filter)
{
	if (!state)
		return TRUE;
	filter->live = g_str_equal(state, "live");
	filter->ended = g_str_equal(state, "ended");
	filter->by_state = !filter->live && !filter->ended;
	if (!filter->by_state || job_state_from_name(state, &filter->state))
		return TRUE;
	answer_error(request, 400, "malformed", "state", "there is no state '%.40s'", state);
	return FALSE;
}

static gboolean check_verdict(HttpRequest *request, const char *name)
{
	StatsVerdict verdict;

	if (!name || stats_verdict_from_string(name, &verdict))
		return TRUE;
	answer_error(request, 400, "malformed", "verdict", "there is no verdict '%.40s'", name);
	return FALSE;
}

gboolean job_filter_read(HttpRequest *request, gboolean is_page, StoreFilter *ret_filter)
{
	gint64 limit = JOB_FILTER_LIMIT, cursor = 0;
	StoreFilter filter = {
		.tree = given(request, is_page, "tree"),
		.benchmark = given(request, is_page, "benchmark"),
		.subject = given(request, is_page, "subject"),
		.author = given(request, is_page, "author"),
		.commit = given(request, is_page, "commit"),
		.verdict = given(request, is_page, "verdict"),
	};

	if (!http_request_each_query(request, any_pair, NULL)) {
		answer_error(request, 400, "malformed", NULL, "the query is not UTF-8 text");
		return FALSE;
	}
	if (!api_int_query(request, "limit", 1, STORE_LIST_MAX, &limit) ||
	    !api_int_query(request, "cursor", 1, G_MAXINT64, &cursor) ||
	    !read_state(request, given(request, is_page, "state"), &filter) || !check_verdict(request, filter.verdict))
		return FALSE;
	filter.limit = (int)limit;
	filter.before_id = cursor;
	*ret_filter = filter;
	return TRUE;
}
