/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "web/page-index.h"

#include "web/page.h"
#include "web/words.h"

static void job_link(Html *html, const StoreJob *job)
{
	html_raw(html, "<a href=\"/jobs/");
	html_attrf(html, "%" G_GINT64_FORMAT, job->id);
	html_raw(html, "\">");
	if (*job->spec->subject)
		html_text(html, job->spec->subject);
	else
		html_textf(html, "job %" G_GINT64_FORMAT, job->id);
	html_raw(html, "</a>");
}

static void benchmarks_of(Html *html, const StoreJob *job)
{
	g_autofree char *names = g_strjoinv(", ", job->spec->benchmarks);

	html_text(html, names);
}

/* What a live job is at: "building base kernel, 3 of 8 boots, 4 min 10 s left". */
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

static void table_begin(Html *html, const char *const *columns)
{
	html_raw(html, "<div class=\"wide\"><table>\n<thead><tr>");
	page_columns(html, columns);
	html_raw(html, "</tr></thead>\n<tbody>\n");
}

static void row_begin(Html *html, const StoreJob *job)
{
	html_raw(html, "<tr><td>");
	html_textf(html, "%" G_GINT64_FORMAT, job->id);
	html_raw(html, "</td><td>");
	job_link(html, job);
	html_raw(html, "</td><td>");
}

static void live(Html *html, const GArray *rows)
{
	static const char *const columns[] = { "job", "subject", "state", "benchmarks", "tree", "submitted", NULL };

	table_begin(html, columns);
	for (guint i = 0; i < rows->len; i++) {
		const StoreJob *job = g_array_index(rows, IndexRow, i).job;

		row_begin(html, job);
		progress(html, job);
		html_raw(html, "</td><td>");
		benchmarks_of(html, job);
		html_raw(html, "</td>");
		page_cell(html, job->spec->tree);
		html_raw(html, "<td>");
		page_time(html, job->created_ns);
		html_raw(html, "</td></tr>\n");
	}
	html_raw(html, "</tbody>\n</table></div>\n");
}

static void recent(Html *html, const GArray *rows)
{
	static const char *const columns[] = { "job", "subject", "answer", "benchmarks", "tree", "ended", NULL };

	table_begin(html, columns);
	for (guint i = 0; i < rows->len; i++) {
		const IndexRow *row = &g_array_index(rows, IndexRow, i);
		const StoreJob *job = row->job;

		row_begin(html, job);
		if (job->state == JOB_DONE && row->summary && *row->summary) {
			html_text(html, row->summary);
		} else {
			g_autofree char *headline = words_headline(job, NULL);

			html_text(html, headline);
		}
		html_raw(html, "</td><td>");
		benchmarks_of(html, job);
		html_raw(html, "</td>");
		page_cell(html, job->spec->tree);
		html_raw(html, "<td>");
		page_time(html, job->finished_ns);
		html_raw(html, "</td></tr>\n");
	}
	html_raw(html, "</tbody>\n</table></div>\n");
}

static void submit(Html *html, const IndexView *view)
{
	g_autofree char *benchmarks = g_strjoinv(",", (char **)view->benchmarks);
	g_autofree char *trees = g_strjoinv(", ", (char **)view->trees);

	html_raw(html, "<section aria-labelledby=\"submit\">\n<h2 id=\"submit\">Submit</h2>\n"
		       "<p>A patch series as <code>git format-patch --stdout</code> or <code>b4 am</code> write it, on the "
		       "base that its <code>base-commit:</code> trailer names:</p>\n<pre><code>curl -F series=@my.mbox "
		       "-F benchmarks=");
	html_text(html, benchmarks);
	html_raw(html, " ");
	html_text(html, view->url);
	html_raw(html, "/api/v1/jobs</code></pre>\n<p>Two commits of a tree:</p>\n<pre><code>curl -F base=v6.12 "
		       "-F head=my-topic -F benchmarks=");
	html_text(html, benchmarks);
	html_raw(html, " ");
	html_text(html, view->url);
	html_raw(html, "/api/v1/jobs</code></pre>\n<p>The answer has the number of the job and its links.</p>\n<dl>\n");
	page_fact(html, "trees", trees);
	page_fact(html, "benchmarks", benchmarks);
	html_raw(html, "</dl>\n</section>\n");
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
	gboolean moves = view->running->len > 0 || view->queued->len > 0;

	page_begin(html, &(PageFrame){ .title = "lab", .refresh_s = moves ? 10 : 60 });
	html_raw(html, "<h1>Performance of memory management, measured</h1>\n"
		       "<p>Base and patched kernel are built, booted many times in virtual machines, and compared: slower or "
		       "faster, by how much, and how sure.</p>\n");
	troubles(html, view->troubles);
	html_raw(html, "<section aria-labelledby=\"now\">\n<h2 id=\"now\">Now</h2>\n");
	if (view->running->len)
		live(html, view->running);
	else
		html_raw(html, "<p>Nothing runs.</p>\n");
	if (view->queued->len) {
		html_raw(html, "<h3>In the queue, the next first</h3>\n");
		live(html, view->queued);
	}
	html_raw(html, "</section>\n<section aria-labelledby=\"recent\">\n<h2 id=\"recent\">Came out lately</h2>\n");
	if (view->recent->len)
		recent(html, view->recent);
	else
		html_raw(html, "<p>No job has ended yet.</p>\n");
	html_raw(html, "</section>\n");
	submit(html, view);
	page_end(html);
	return html_take(html, ret_size);
}
