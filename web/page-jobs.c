/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "web/page-jobs.h"

#include "web/job-list.h"
#include "web/job-query.h"
#include "web/page.h"
#include "web/words.h"

static void field(Html *html, const char *name, const char *label, const char *value)
{
	html_raw(html, "<p><label for=\"");
	html_attr(html, name);
	html_raw(html, "\">");
	html_text(html, label);
	html_raw(html, "</label>\n<input id=\"");
	html_attr(html, name);
	html_raw(html, "\" name=\"");
	html_attr(html, name);
	html_raw(html, "\" type=\"search\" value=\"");
	html_attr(html, value);
	html_raw(html, "\"/></p>\n");
}

static void option(Html *html, const char *value, const char *text, const char *chosen)
{
	html_raw(html, "<option value=\"");
	html_attr(html, value);
	html_raw(html, "\"");
	if (g_strcmp0(value, chosen) == 0)
		html_raw(html, " selected=\"selected\"");
	html_raw(html, ">");
	html_text(html, text);
	html_raw(html, "</option>\n");
}

/* names: NULL-terminated. What was asked for stays chosen, even if the lab no longer has it. */
static void choice(Html *html, const char *name, const char *const *names, const char *chosen)
{
	html_raw(html, "<p><label for=\"");
	html_attr(html, name);
	html_raw(html, "\">");
	html_text(html, name);
	html_raw(html, "</label>\n<select id=\"");
	html_attr(html, name);
	html_raw(html, "\" name=\"");
	html_attr(html, name);
	html_raw(html, "\">\n");
	option(html, "", "any", chosen ? chosen : "");
	for (const char *const *one = names; *one; one++)
		option(html, *one, *one, chosen);
	if (chosen && !g_strv_contains(names, chosen))
		option(html, chosen, chosen, chosen);
	html_raw(html, "</select></p>\n");
}

static void search(Html *html, const JobsView *view)
{
	const char *verdicts[STATS_VERDICT_COUNT + 1] = { NULL }, *states[JOB_N_STATES + 3] = { "live", "ended" };
	const StoreFilter *filter = view->filter;

	for (int i = 0; i < STATS_VERDICT_COUNT; i++)
		verdicts[i] = stats_verdict_to_string((StatsVerdict)i);
	for (int i = 0; i < JOB_N_STATES; i++)
		states[i + 2] = job_state_name((JobState)i);
	html_raw(html, "<form class=\"search\" role=\"search\" action=\"/jobs\" method=\"get\">\n");
	field(html, "subject", "words of the subject", filter->subject);
	field(html, "author", "author", filter->author);
	field(html, "commit", "commit", filter->commit);
	choice(html, "tree", view->trees, filter->tree);
	choice(html, "benchmark", view->benchmarks, filter->benchmark);
	choice(html, "verdict", verdicts, filter->verdict);
	choice(html, "state", states, job_query_state(filter));
	html_raw(html, "<p><button type=\"submit\">Search</button></p>\n</form>\n");
}

static void found(Html *html, const JobsView *view)
{
	g_autofree char *query = job_query(view->filter, 0);

	if (!view->briefs->len) {
		html_raw(html, "<p>");
		html_text(html, *query ? "No job is like that." : "There is no job yet.");
		html_raw(html, "</p>\n");
		return;
	}
	job_list_table(html, view->briefs);
	if (view->cursor) {
		g_autofree char *next = job_query(view->filter, view->cursor);

		html_raw(html, "<p><a rel=\"next\" href=\"/jobs");
		html_attr(html, next);
		html_raw(html, "\">Older ones</a></p>\n");
	}
	html_raw(html, "<p class=\"quiet\">What ends from now on and is like that: <a href=\"/feed.atom");
	html_attr(html, query);
	html_raw(html, "\">feed</a>.</p>\n");
}

char *page_jobs(const JobsView *view, gsize *ret_size)
{
	g_autoptr(Html) html = html_new();
	g_autofree char *query = job_query(view->filter, view->filter->before_id);
	g_autofree char *json = g_strconcat("/api/v1/jobs", query, NULL);

	page_begin(html, &(PageFrame){ .title = "jobs", .path = "/jobs", .json = json });
	html_raw(html, "<h1>Jobs</h1>\n");
	search(html, view);
	found(html, view);
	page_end(html);
	return html_take(html, ret_size);
}
