/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "web/page-job-parts.h"
#include "web/page.h"
#include "web/words.h"

static void excerpt(Html *html, const char *title, const char *text)
{
	if (!*text)
		return;
	html_raw(html, "<h3>");
	html_text(html, title);
	html_raw(html, "</h3>\n<pre tabindex=\"0\">");
	html_text(html, text);
	html_raw(html, "</pre>\n");
}

static void apply_failed(Html *html, JsonObject *detail)
{
	html_raw(html, "<dl>\n");
	if (peek_int(detail, "patch", 0) > 0)
		page_factf(html, "patch", "%" G_GINT64_FORMAT " %s", peek_int(detail, "patch", 0),
			   peek_string(detail, "subject"));
	page_fact(html, "file", peek_string(detail, "file"));
	page_fact(html, "hunk", peek_string(detail, "hunk"));
	if (*peek_string(detail, "base"))
		page_factf(html, "base", "%.12s (%s)", peek_string(detail, "base"), peek_string(detail, "base_chosen_by"));
	html_raw(html, "</dl>\n");
	excerpt(html, "What git says", peek_string(detail, "git"));
}

static void build_failed(Html *html, JsonObject *detail)
{
	html_raw(html, "<dl>\n");
	if (peek_int(detail, "line", 0) > 0)
		page_factf(html, "file", "%s:%" G_GINT64_FORMAT, peek_string(detail, "file"), peek_int(detail, "line", 0));
	else
		page_fact(html, "file", peek_string(detail, "file"));
	page_fact(html, "first error", peek_string(detail, "error"));
	html_raw(html, "</dl>\n");
	excerpt(html, "Around it", peek_string(detail, "context"));
}

static void boot_failed(Html *html, JsonObject *detail)
{
	html_raw(html, "<dl>\n");
	page_fact(html, "kind", peek_string(detail, "kind"));
	html_raw(html, "</dl>\n");
	excerpt(html, "The end of its console", peek_string(detail, "console"));
}

void job_failure_section(Html *html, const JobView *view)
{
	const StoreJob *job = view->job;

	html_raw(html, "<section aria-labelledby=\"why\">\n<h2 id=\"why\">Why there is no verdict</h2>\n<p>");
	html_text(html, job->message);
	html_raw(html, "</p>\n<dl>\n");
	page_fact(html, "state", job_state_name(job->state));
	page_fact(html, "reason", job->reason);
	page_fact(html, "kernel", job->failed_arm);
	html_raw(html, "</dl>\n");
	if (job->state == JOB_APPLY_FAILED)
		apply_failed(html, job->detail);
	else if (job->state == JOB_BUILD_FAILED)
		build_failed(html, job->detail);
	else if (job->state == JOB_BOOT_FAILED)
		boot_failed(html, job->detail);
	html_raw(html, "</section>\n");
}
