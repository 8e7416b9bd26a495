/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "jobs/stats/figure.h"
#include "web/page-job-parts.h"
#include "web/page.h"
#include "web/words.h"

static void host_row(Html *html, const StoreJob *job, gint64 shown)
{
	html_raw(html, "<tr><th scope=\"row\">");
	html_text(html, job->spec->host);
	html_raw(html, "</th><td>");
	if (job->id == shown) {
		html_raw(html, "this job");
	} else {
		html_raw(html, "<a href=\"/jobs/");
		html_attrf(html, "%" G_GINT64_FORMAT, job->id);
		html_raw(html, "\">job ");
		html_textf(html, "%" G_GINT64_FORMAT, job->id);
		html_raw(html, "</a>");
	}
	html_raw(html, "</td>");
	page_cell(html, words_state(job->state));
	html_raw(html, "</tr>\n");
}

static void agreement_row(Html *html, const StatsAgreement *agreement)
{
	g_autofree char *range = words_interval(agreement->low_pct, agreement->high_pct), *p = words_p(agreement->p_holm);

	html_raw(html, "<tr><th scope=\"row\">");
	html_text(html, agreement->benchmark);
	html_raw(html, " ");
	html_text(html, agreement->params);
	html_raw(html, "</th><td class=\"n\">");
	html_text(html, range);
	html_raw(html, "</td><td class=\"n\">");
	html_text(html, p);
	html_raw(html, "</td><td>");
	html_text(html, stats_agreement_to_string(agreement->kind));
	html_raw(html, ": ");
	html_text(html, agreement->reason);
	html_raw(html, "</td></tr>\n");
}

static void agreement_table(Html *html, const GPtrArray *agreements)
{
	static const char *const columns[] = { "comparison", "changes, from and to", "p", "the hosts", NULL };

	html_raw(html, "<div class=\"wide\" tabindex=\"0\"><table>\n<caption>Whether the hosts agree; p is that of equal changes</caption>\n<thead><tr>");
	page_columns(html, columns);
	html_raw(html, "</tr></thead><tbody>\n");
	for (guint i = 0; i < agreements->len; i++)
		agreement_row(html, g_ptr_array_index(agreements, i));
	html_raw(html, "</tbody></table></div>\n");
}

void job_replicas_section(Html *html, const JobView *view)
{
	static const char *const columns[] = { "host", "job", "state", NULL };
	const StoreReplicas *replicas = view->replicas;

	if (!replicas)
		return;
	html_raw(html, "<section aria-labelledby=\"replicas\"><h2 id=\"replicas\">The same on other hosts</h2>\n<p>");
	html_text(html, replicas->summary);
	html_raw(html, "</p>\n<table>\n<thead><tr>");
	page_columns(html, columns);
	html_raw(html, "</tr></thead><tbody>\n");
	for (guint i = 0; i < replicas->jobs->len; i++)
		host_row(html, g_ptr_array_index(replicas->jobs, i), view->job->id);
	html_raw(html, "</tbody></table>\n");
	if (replicas->agreements->len)
		agreement_table(html, replicas->agreements);
	html_raw(html, "</section>\n");
}
