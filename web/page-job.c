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
	html_raw(html, ", <a rel=\"bookmark\" href=\"");
	html_attrf(html, "%s/jobs/%" G_GINT64_FORMAT, view->url, job->id);
	html_raw(html, "\">");
	html_textf(html, "%s/jobs/%" G_GINT64_FORMAT, view->url, job->id);
	html_raw(html, "</a></p>\n<h1>");
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
		{ "reproduce.sh", "a script that runs all of this again, anywhere", TRUE },
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
		html_raw(html, "<details><summary>configurations, series, domain</summary>\n<ul>\n");
		for (const char *const *name = view->artifacts; *name; name++) {
			if (g_str_has_prefix(*name, "boot-"))	/* beside its boot */
				continue;
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

char *page_job(const JobView *view, gsize *ret_size)
{
	g_autoptr(Html) html = html_new();
	gboolean final = job_state_is_final(view->job->state);
	g_autofree char *json = g_strdup_printf("/api/v1/jobs/%" G_GINT64_FORMAT, view->job->id);
	g_autofree char *title = g_strdup_printf("job %" G_GINT64_FORMAT ": %s", view->job->id, view->job->spec->subject);

	page_begin(html, &(PageFrame){ .title = title, .refresh_s = final ? 0 : REFRESH_S, .path = "/jobs", .json = json });
	head(html, view);
	if (!final)
		job_progress_section(html, view);
	if (final && view->job->state != JOB_DONE)
		job_failure_section(html, view);
	if (view->result) {
		job_next_section(html, view);
		trust_warning_paragraph(html, view->job);
		job_result_section(html, view->result);
		host_warnings_list(html, view->host_warnings);
		trust_control_paragraph(html, view->job);
		job_table_section(html, view->result);
		job_change_section(html, view->result);
		job_boot_plots_section(html, view);
		job_counters_section(html, view);
	}
	job_replicas_section(html, view);
	job_how_section(html, view);
	job_boots_section(html, view);
	links_section(html, view);
	page_end(html);
	return html_take(html, ret_size);
}
