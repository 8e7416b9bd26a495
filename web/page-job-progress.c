/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <math.h>

#include "jobs/stats/figure.h"
#include "web/page-job-parts.h"
#include "web/page.h"
#include "web/words.h"

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

static void facts(Html *html, const JobView *view, JsonObject *progress, gboolean works)
{
	const StoreJob *job = view->job;
	gint64 eta_s = peek_int(progress, "eta_s", -1);
	gboolean at_most = !job->more && g_str_equal(peek_string(job->plan, "rule"), "sequential");
	gint64 boots = 2 * peek_int(job->more ? job->more : job->plan, "boots_per_arm", job->spec->max_boots);

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
}

/* ---- the looks so far ---- */

static void estimate_cell(Html *html, JsonObject *comparison)
{
	g_autofree char *interval = words_interval(peek_double(comparison, "ci_low_pct", NAN),
						   peek_double(comparison, "ci_high_pct", NAN));
	g_autoptr(GString) text = g_string_new(NULL);

	stats_append_percent(text, peek_double(comparison, "change_pct", NAN));
	html_raw(html, "<td class=\"n\">");
	html_textf(html, "%s %s", text->str, interval);
	html_raw(html, "</td>");
}

static JsonObject *find_set(JsonObject *look, JsonObject *set)
{
	JsonArray *comparisons = peek_array(look, "comparisons");

	for (guint i = 0; i < peek_length(comparisons); i++) {
		JsonObject *comparison = peek_element(comparisons, i);

		if (g_str_equal(peek_string(comparison, "benchmark"), peek_string(set, "benchmark")) &&
		    g_str_equal(peek_string(comparison, "params"), peek_string(set, "params")))
			return comparison;
	}
	return NULL;
}

static void set_row(Html *html, const GPtrArray *looks, JsonObject *set)
{
	html_raw(html, "<tr><th scope=\"row\">");
	html_textf(html, "%s %s", peek_string(set, "benchmark"), peek_string(set, "params"));
	html_raw(html, "</th>");
	for (guint i = 0; i < looks->len; i++)
		estimate_cell(html, find_set(g_ptr_array_index(looks, i), set));
	html_raw(html, "</tr>\n");
}

/* How the estimates narrow, a column a look. */
static void looks_table(Html *html, const GPtrArray *looks)
{
	JsonArray *sets;

	if (!looks || !looks->len)
		return;
	sets = peek_array(g_ptr_array_index(looks, looks->len - 1), "comparisons");
	html_raw(html, "<h3>Estimates so far</h3>\n<p class=\"warning\">These are not the answer. Measuring goes on because they do not "
		       "decide yet; figures of an early look often move.</p>\n<div class=\"wide\" tabindex=\"0\"><table>\n<thead><tr>"
		       "<th scope=\"col\">parameters</th>");
	for (guint i = 0; i < looks->len; i++) {
		html_raw(html, "<th scope=\"col\">");
		html_textf(html, "after %" G_GINT64_FORMAT " boots a kernel", peek_int(g_ptr_array_index(looks, i), "pairs", 0));
		html_raw(html, "</th>");
	}
	html_raw(html, "</tr></thead>\n<tbody>\n");
	for (guint i = 0; i < peek_length(sets); i++)
		set_row(html, looks, peek_element(sets, i));
	html_raw(html, "</tbody>\n</table></div>\n");
}

static void log_tail(Html *html, const JobView *view)
{
	if (!view->log_tail || !*view->log_tail)
		return;
	html_raw(html, "<h3>The end of its log</h3>\n<pre class=\"log\" tabindex=\"0\">");
	html_text(html, view->log_tail);
	html_raw(html, "</pre>\n<p><a ");
	job_href(html, view, "log", FALSE);
	html_raw(html, ">All of it</a></p>\n");
}

void job_progress_section(Html *html, const JobView *view)
{
	const StoreJob *job = view->job;
	gboolean works = job->state == JOB_BUILDING || job->state == JOB_MEASURING;
	/* the last word of the stage before is no news */
	gboolean measures = g_str_equal(peek_string(job->progress, "stage"), "measure");
	JsonObject *progress = (job->state == JOB_MEASURING) == measures ? job->progress : NULL;

	html_raw(html, "<section aria-labelledby=\"progress\">\n<h2 id=\"progress\">Progress</h2>\n");
	if (works)
		bar(html, peek_int(progress, "done", 0), peek_int(progress, "total", 0));
	html_raw(html, "<dl>\n");
	facts(html, view, progress, works);
	html_raw(html, "</dl>\n<p class=\"quiet\">This page renews itself.</p>\n");
	job_cancel_paragraph(html, view);
	looks_table(html, view->looks);
	log_tail(html, view);
	html_raw(html, "</section>\n");
}
