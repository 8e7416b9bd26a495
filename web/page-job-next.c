/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "web/page-job-parts.h"
#include "web/page.h"
#include "web/words.h"

#define MORE_BOOTS 10	/* where nothing says how many would tell */

/* A button where the lab takes changes from everybody, who can press it; else the request that needs a token. */
static void change(Html *html, const JobView *view, const char *action, const char *query, const char *method, const char *path,
		   const char *label)
{
	gint64 id = view->job->id;

	if (view->open) {
		html_raw(html, "<form method=\"post\" action=\"");
		html_attrf(html, "/jobs/%" G_GINT64_FORMAT "/%s%s", id, action, query);
		html_raw(html, "\"><button>");
		html_text(html, label);
		html_raw(html, "</button></form>\n");
		return;
	}
	html_raw(html, "<p class=\"quiet\">");
	html_text(html, label);
	html_raw(html, ", with a token: <code>curl -H \"Authorization: Bearer $REGRLAB_TOKEN\" -X ");
	html_textf(html, "%s '%s/api/v1/jobs/%" G_GINT64_FORMAT "%s%s'", method, view->url, id, path, query);
	html_raw(html, "</code></p>\n");
}

/* Boots a kernel more, so that those that are open may be decided. */
static int boots_to_add(const StatsResult *result)
{
	int most = 0;

	for (guint i = 0; i < result->comparisons->len; i++) {
		const StatsComparison *comparison = g_ptr_array_index(result->comparisons, i);
		int have = (int)MIN(comparison->boots[SAMPLE_ARM_BASE], comparison->boots[SAMPLE_ARM_PATCHED]);

		if (comparison->primary && comparison->verdict == STATS_VERDICT_INCONCLUSIVE && comparison->boots_needed)
			most = MAX(most, (int)MIN(comparison->boots_needed, (guint)G_MAXINT) - have);
		if (comparison->primary && comparison->verdict == STATS_VERDICT_INSUFFICIENT)
			most = MAX(most, (int)STATS_MIN_BOOTS - have);
	}
	return most > 0 ? most : MORE_BOOTS;
}

static void added_boots_failed(Html *html, const StoreJob *job)
{
	if (!*job->reason)
		return;
	html_raw(html, "<p>The boots that were added could not all be made (");
	html_text(html, job->reason);
	html_raw(html, "): ");
	html_text(html, job->message);
	html_raw(html, "</p>\n");
}

void job_next_section(Html *html, const JobView *view)
{
	const StatsResult *result = view->result ? stats_result_latest(view->result) : NULL;
	int boots, left = SPEC_MAX_MORE - view->job->spec->more_boots;

	if (view->job->state != JOB_DONE || !result)
		return;
	added_boots_failed(html, view->job);
	if (!stats_result_is_open(result))
		return;
	boots = boots_to_add(result);
	html_raw(html, "<section aria-labelledby=\"next\">\n<h2 id=\"next\">What to do next</h2>\n<p>Not all is decided. ");
	if (left < 1) {
		html_raw(html, "No more boots can be added to this job: submit it anew with more boots, or ask for a larger smallest "
			       "change.</p>\n</section>\n");
		return;
	}
	if (boots > left)
		html_textf(html, "About %d boots more of each kernel would tell; this job can have %d more. ", boots, left);
	html_raw(html, "More boots may decide it: this result stays as it is, and a second one will stand beside it. If only a larger "
		       "change would matter to you, a larger smallest change (<code>min_effect</code>) is decided sooner.</p>\n");

	g_autofree char *query = g_strdup_printf("?boots=%d", MIN(boots, left));
	g_autofree char *label = g_strdup_printf("Add %d boots of each kernel", MIN(boots, left));

	change(html, view, "more", query, "POST", "/more", label);
	html_raw(html, "</section>\n");
}

void job_cancel_paragraph(Html *html, const JobView *view)
{
	if (!view->job->cancel_asked)
		change(html, view, "cancel", "", "DELETE", "", "Cancel this job");
}
