/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "web/page-index.h"

#include "web/job-list.h"
#include "web/page.h"
#include "web/words.h"

/* What a job is at: "building base kernel, 3 boots done, about 4 min 10 s left". */
static void progress(Html *html, const StoreJob *job)
{
	const char *step = peek_string(job->progress, "step");
	gint64 eta_s = peek_int(job->progress, "eta_s", -1);
	int boots = job->boots_valid[0] + job->boots_valid[1];

	html_text(html, job->cancel_asked ? "being cancelled" : words_state(job->state));
	if (job->state != JOB_BUILDING && job->state != JOB_MEASURING)
		return;
	if (*step) {
		html_raw(html, ": ");
		html_text(html, step);
	}
	if (boots)
		html_textf(html, ", %d boots done", boots);
	if (eta_s >= 0) {
		html_raw(html, ", about ");
		page_duration(html, eta_s * G_GINT64_CONSTANT(1000000000));
		html_raw(html, " left");
	}
}

static void live_row(Html *html, const IndexRow *row)
{
	const StoreJob *job = row->job;
	g_autofree char *benchmarks = g_strjoinv(", ", job->spec->benchmarks);

	html_raw(html, "<tr><td class=\"n\">");
	html_textf(html, "%" G_GINT64_FORMAT, job->id);
	html_raw(html, "</td><th scope=\"row\">");
	job_list_link(html, job->id, job->spec->subject);
	html_raw(html, "</th><td class=\"answer\">");
	progress(html, job);
	if (row->why && *row->why) {
		html_raw(html, ": ");
		html_text(html, row->why);
	}
	html_raw(html, "</td>");
	page_cell(html, benchmarks);
	page_cell(html, job->spec->tree);
	html_raw(html, "<td>");
	page_time(html, job->created_ns);
	html_raw(html, "</td></tr>\n");
}

static void live(Html *html, const GArray *rows, const char *label)
{
	static const char *const columns[] = { "job", "subject", "state", "benchmarks", "tree", "submitted", NULL };

	html_raw(html, "<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"");
	html_attr(html, label);
	html_raw(html, "\"><table class=\"jobs\">\n<thead><tr>");
	page_columns(html, columns);
	html_raw(html, "</tr></thead>\n<tbody>\n");
	for (guint i = 0; i < rows->len; i++)
		live_row(html, &g_array_index(rows, IndexRow, i));
	html_raw(html, "</tbody>\n</table></div>\n");
}

static void now(Html *html, const IndexView *view)
{
	html_raw(html, "<section aria-labelledby=\"now\">\n<h2 id=\"now\">Now</h2>\n");
	if (view->running->len)
		live(html, view->running, "jobs that run");
	else
		html_raw(html, "<p>Nothing runs.</p>\n");
	if (view->waiting->len) {
		html_raw(html, "<h3>Waiting, the next first</h3>\n");
		live(html, view->waiting, "jobs that wait");
	}
	if (view->waiting_more > 0) {
		html_raw(html, "<p>And <a href=\"/jobs?state=live\">");
		html_textf(html, "%" G_GINT64_FORMAT " more", view->waiting_more);
		html_raw(html, "</a>.</p>\n");
	}
	html_raw(html, "</section>\n");
}

static void recent(Html *html, const GPtrArray *briefs)
{
	html_raw(html, "<section aria-labelledby=\"recent\">\n<h2 id=\"recent\">Came out lately</h2>\n");
	if (briefs->len) {
		job_list_table(html, briefs);
		html_raw(html, "<p><a href=\"/jobs\">Search all jobs</a></p>\n");
	} else {
		html_raw(html, "<p>No job has ended yet.</p>\n");
	}
	html_raw(html, "</section>\n");
}

static void hosts(Html *html, const GArray *rows)
{
	html_raw(html, "<section aria-labelledby=\"hosts\">\n<h2 id=\"hosts\">Hosts</h2>\n<ul class=\"hosts\">\n");
	for (guint i = 0; i < rows->len; i++) {
		const IndexHost *host = &g_array_index(rows, IndexHost, i);

		html_raw(html, "<li><a href=\"/hosts/");
		html_url(html, host->name);
		html_raw(html, "\">");
		html_text(html, host->name);
		html_raw(html, "</a>: ");
		if (host->job) {
			html_raw(html, "<a href=\"/jobs/");
			html_attrf(html, "%" G_GINT64_FORMAT, host->job);
			html_raw(html, "\">");
			html_textf(html, "%s job %" G_GINT64_FORMAT, g_str_equal(host->state, "draining") ? "draining, ends" : "measures",
				   host->job);
			html_raw(html, "</a>");
		} else {
			html_text(html, host->state);
		}
		if (*host->message) {
			html_raw(html, ": ");
			html_text(html, host->message);
		}
		html_raw(html, "</li>\n");
	}
	html_raw(html, "</ul>\n</section>\n");
}

static void troubles(Html *html, const char *const *sentences)
{
	if (!sentences || !*sentences)
		return;
	html_raw(html, "<section role=\"alert\" class=\"trouble\">\n<h2>The lab is in trouble</h2>\n<ul>\n");
	for (; *sentences; sentences++) {
		html_raw(html, "<li>");
		html_text(html, *sentences);
		html_raw(html, "</li>\n");
	}
	html_raw(html, "</ul>\n</section>\n");
}

char *page_index(const IndexView *view, gsize *ret_size)
{
	g_autoptr(Html) html = html_new();

	/* it does not renew itself: that would empty a form that is being filled in */
	page_begin(html, &(PageFrame){ .title = "lab", .path = "/", .json = "/api/v1/jobs" });
	html_raw(html, "<h1>Performance of memory management, measured</h1>\n"
		       "<p>Base and patched kernel are built, booted many times in virtual machines, and compared: slower or "
		       "faster, by how much, and how sure.</p>\n<p class=\"quiet\">As of ");
	page_time(html, view->now_ns);
	html_raw(html, ". <a href=\"/\">Renew</a>, or <a href=\"#submit\">submit</a>.</p>\n");
	troubles(html, view->troubles);
	now(html, view);
	recent(html, view->recent);
	hosts(html, view->hosts);
	submit_form_section(html, &view->submit);
	page_end(html);
	return html_take(html, ret_size);
}
