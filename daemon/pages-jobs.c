/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/answer.h"
#include "daemon/api.h"
#include "daemon/job-filter.h"
#include "jobs/spec/benchmark.h"
#include "web/feed.h"
#include "web/job-query.h"
#include "web/page-jobs.h"

void pages_jobs(HttpRequest *request, Lab *lab, const RouteMatch *match)
{
	g_autoptr(GPtrArray) briefs = NULL;
	g_auto(GStrv) trees = lab_tree_names(lab), benchmarks = NULL;
	StoreFilter filter;
	GError *error = NULL;
	gint64 cursor;
	gsize size;
	char *text;

	if (!job_filter_read(request, TRUE, &filter))
		return;
	if (!store_brief_list(lab->db, &filter, &briefs, &cursor, &error) ||
	    !(benchmarks = benchmark_list(lab->config->benchmarks_dir, &error))) {
		answer_trouble(request, 0, error);
		return;
	}

	JobsView view = {
		.briefs = briefs,
		.filter = &filter,
		.cursor = cursor,
		.trees = (const char *const *)trees,
		.benchmarks = (const char *const *)benchmarks,
	};
	text = page_jobs(&view, &size);
	answer_text(request, match->route->produces, text, size);
}

/* ---- the feed ---- */

static int later(gconstpointer a, gconstpointer b)
{
	const StoreBrief *left = *(StoreBrief *const *)a, *right = *(StoreBrief *const *)b;

	return (left->finished_ns < right->finished_ns) - (left->finished_ns > right->finished_ns);
}

/* What says nothing about a kernel is no news, unless it was asked for. */
static void drop_non_answers(GPtrArray *briefs)
{
	for (guint i = briefs->len; i > 0; i--) {
		const StoreBrief *brief = g_ptr_array_index(briefs, i - 1);

		if (brief->state == JOB_CANCELLED || brief->state == JOB_INFRA_FAILED)
			g_ptr_array_remove_index(briefs, i - 1);
	}
}

void pages_feed(HttpRequest *request, Lab *lab, const RouteMatch *match)
{
	g_autoptr(GPtrArray) briefs = NULL;
	g_autofree char *query = NULL;
	StoreFilter filter;
	GError *error = NULL;
	gint64 cursor;
	gsize size;
	char *text;

	if (!job_filter_read(request, TRUE, &filter))
		return;
	query = job_query(&filter, 0);
	filter.by_end = !*query;
	filter.ended = !filter.by_end;
	if (!store_brief_list(lab->db, &filter, &briefs, &cursor, &error)) {
		answer_trouble(request, 0, error);
		return;
	}
	if (!filter.by_state)
		drop_non_answers(briefs);
	g_ptr_array_sort(briefs, later);

	FeedView view = { .briefs = briefs, .url = lab->config->url, .query = query };
	text = feed_atom(&view, &size);
	answer_text(request, match->route->produces, text, size);
}
