/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "web/page-job.h"

#include "web/host-state.h"
#include "web/page-job-parts.h"
#include "web/page.h"
#include "web/trust.h"
#include "web/words.h"

#define REFRESH_S 5

/* The worst that a primary comparison says: the colour of the headline, beside its words. */
static const char *headline_class(const JobView *view)
{
	gboolean better = FALSE, open = FALSE;

	if (view->job->state != JOB_DONE || !view->result)
		return job_state_is_final(view->job->state) ? "failed" : "open";
	for (guint i = 0; i < view->result->comparisons->len; i++) {
		const StatsComparison *comparison = g_ptr_array_index(view->result->comparisons, i);

		if (!comparison->primary)
			continue;
		if (comparison->verdict == STATS_VERDICT_REGRESSION)
			return "worse";
		better |= comparison->verdict == STATS_VERDICT_IMPROVEMENT;
		open |= comparison->verdict != STATS_VERDICT_IMPROVEMENT && comparison->verdict != STATS_VERDICT_EQUIVALENT;
	}
	return better ? "better" : open ? "open" : "same";
}

static void head(Html *html, const JobView *view)
{
	const StoreJob *job = view->job;
	g_autofree char *headline = words_headline(job, view->result);

	html_raw(html, "<p class=\"quiet\">job ");
	html_textf(html, "%" G_GINT64_FORMAT, job->id);
	if (*job->spec->author) {
		html_raw(html, ", by ");
		html_text(html, job->spec->author);
	}
	html_raw(html, "</p>\n<h1>");
	if (*job->spec->subject)
		html_text(html, job->spec->subject);
	else
		html_textf(html, "Job %" G_GINT64_FORMAT, job->id);
	html_raw(html, "</h1>\n<p class=\"headline ");
	html_attr(html, headline_class(view));
	html_raw(html, "\">");
	html_text(html, headline);
	html_raw(html, "</p>\n");
}

static void bar(Html *html, gint64 done, gint64 total)
{
	html_raw(html, "<progress");
	if (total > 0) {
		html_raw(html, " max=\"");
		html_attrf(html, "%" G_GINT64_FORMAT, total);
		html_raw(html, "\" value=\"");
		html_attrf(html, "%" G_GINT64_FORMAT, CLAMP(done, 0, total));
		html_raw(html, "\"");
	}
	html_raw(html, " aria-label=\"progress of this step\"></progress>\n");
}

static void progress_section(Html *html, const JobView *view)
{
	const StoreJob *job = view->job;
	gboolean works = job->state == JOB_BUILDING || job->state == JOB_MEASURING;
	/* the last word of the stage before is no news */
	gboolean measures = g_str_equal(peek_string(job->progress, "stage"), "measure");
	JsonObject *progress = (job->state == JOB_MEASURING) == measures ? job->progress : NULL;
	gint64 eta_s = peek_int(progress, "eta_s", -1);
	gboolean at_most = !job->more && g_str_equal(peek_string(job->plan, "rule"), "sequential");
	gint64 boots = 2 * peek_int(job->more ? job->more : job->plan, "boots_per_arm", job->spec->max_boots);

	html_raw(html, "<section aria-labelledby=\"progress\">\n<h2 id=\"progress\">Progress</h2>\n");
	if (works)
		bar(html, peek_int(progress, "done", 0), peek_int(progress, "total", 0));
	html_raw(html, "<dl>\n");
	page_fact(html, "state", job->cancel_asked ? "being cancelled" : words_state(job->state));
	if (view->queue_position > 0)
		page_factf(html, "place in the queue", "%d", view->queue_position);
	if (works) {
		page_fact(html, "step", peek_string(progress, "step"));
		if (eta_s >= 0) {
			g_autofree char *left = text_duration(eta_s * G_GINT64_CONSTANT(1000000000));

			page_fact(html, at_most ? "time left, at most" : "time left, about", left);
		}
	}
	page_factf(html, "boots done", "%d of %" G_GINT64_FORMAT "%s", job->boots_valid[0] + job->boots_valid[1], boots,
		   at_most ? " at most" : "");
	if (job->look)
		page_factf(html, "last look", "%" G_GINT64_FORMAT " of %" G_GINT64_FORMAT ", after %" G_GINT64_FORMAT
			   " boots a kernel", peek_int(job->look, "look", 0), peek_int(job->look, "looks", 0),
			   peek_int(job->look, "pairs", 0));
	if (job->boots_failed[0] + job->boots_failed[1])
		page_factf(html, "boots failed", "%d base, %d patched", job->boots_failed[0], job->boots_failed[1]);
	if (job->boots_disturbed[0] + job->boots_disturbed[1])
		page_factf(html, "boots disturbed by the host and made again", "%d base, %d patched", job->boots_disturbed[0],
			   job->boots_disturbed[1]);
	html_raw(html, "</dl>\n<p class=\"quiet\">This page renews itself. To cancel: <code>curl -X DELETE ");
	html_text(html, view->url);
	html_textf(html, "/api/v1/jobs/%" G_GINT64_FORMAT, job->id);
	html_raw(html, "</code></p>\n</section>\n");
}

static void links_section(Html *html, const JobView *view)
{
	static const struct {
		const char *name, *title;
		gboolean needs_result;
	} rows[] = {
		{ "report.txt", "report as plain text, its table ready for a changelog", FALSE },
		{ "result", "result as JSON", TRUE },
		{ "samples.csv", "raw samples as CSV", FALSE },
		{ "samples.json", "raw samples as JSON", FALSE },
		{ "log", "log", FALSE },
		{ "", "all about this job as JSON", FALSE },
	};

	html_raw(html, "<section aria-labelledby=\"files\">\n<h2 id=\"files\">Files</h2>\n<ul>\n");
	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
		if (rows[i].needs_result && !view->result)
			continue;
		html_raw(html, "<li><a ");
		job_href(html, view, rows[i].name, FALSE);
		html_raw(html, ">");
		html_text(html, rows[i].title);
		html_raw(html, "</a></li>\n");
	}
	html_raw(html, "</ul>\n");
	if (view->artifacts && *view->artifacts) {
		html_raw(html, "<details><summary>configurations, domains, consoles</summary>\n<ul>\n");
		for (const char *const *name = view->artifacts; *name; name++) {
			html_raw(html, "<li><a ");
			job_href(html, view, *name, TRUE);
			html_raw(html, ">");
			html_text(html, *name);
			html_raw(html, "</a></li>\n");
		}
		html_raw(html, "</ul></details>\n");
	}
	html_raw(html, "</section>\n");
}

/* What came of boots that were added, and how to add some. */
static void more_section(Html *html, const JobView *view)
{
	const StoreJob *job = view->job;

	if (job->state != JOB_DONE)
		return;
	if (*job->reason) {
		html_raw(html, "<p>The boots that were added could not all be made (");
		html_text(html, job->reason);
		html_raw(html, "): ");
		html_text(html, job->message);
		html_raw(html, "</p>\n");
	}
	if (!stats_result_is_open(stats_result_latest(view->result)))
		return;
	html_raw(html, "<p class=\"quiet\">Not all is decided. To add boots of each kernel: <code>curl -X POST '");
	html_text(html, view->url);
	html_textf(html, "/api/v1/jobs/%" G_GINT64_FORMAT "/more?boots=10", job->id);
	html_raw(html, "'</code>. This result stays as it is; a second one will stand beside it.</p>\n");
}

char *page_job(const JobView *view, gsize *ret_size)
{
	g_autoptr(Html) html = html_new();
	gboolean final = job_state_is_final(view->job->state);
	g_autofree char *title = g_strdup_printf("job %" G_GINT64_FORMAT ": %s", view->job->id, view->job->spec->subject);

	page_begin(html, &(PageFrame){ .title = title, .refresh_s = final ? 0 : REFRESH_S });
	head(html, view);
	if (!final)
		progress_section(html, view);
	if (final && view->job->state != JOB_DONE)
		job_failure_section(html, view);
	if (view->result) {
		trust_warning_paragraph(html, view->job);
		job_result_section(html, view->result);
		host_warnings_list(html, view->host_warnings);
		trust_control_paragraph(html, view->job);
		more_section(html, view);
	}
	job_replicas_section(html, view);
	job_how_section(html, view);
	job_boots_section(html, view);
	links_section(html, view);
	page_end(html);
	return html_take(html, ret_size);
}
