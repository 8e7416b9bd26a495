/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "web/job-list.h"

#include <string.h>

#include "web/page.h"
#include "web/words.h"

void job_list_link(Html *html, gint64 id, const char *subject)
{
	html_raw(html, "<a href=\"/jobs/");
	html_attrf(html, "%" G_GINT64_FORMAT, id);
	html_raw(html, "\">");
	/* what is nothing but blanks could not be seen, nor clicked on */
	if (strspn(subject, " \t") < strlen(subject))
		html_text(html, subject);
	else
		html_textf(html, "job %" G_GINT64_FORMAT, id);
	html_raw(html, "</a>");
}

/* The one of its verdicts that says most: what is worse before what is better, what is decided before what is open. */
static const WordsVerdict *leading_verdict(const char *verdicts)
{
	static const StatsVerdict order[] = { STATS_VERDICT_REGRESSION, STATS_VERDICT_IMPROVEMENT, STATS_VERDICT_INCONCLUSIVE,
					      STATS_VERDICT_INSUFFICIENT, STATS_VERDICT_INVALID, STATS_VERDICT_EQUIVALENT };
	g_auto(GStrv) names = g_strsplit(verdicts, ",", -1);

	for (gsize i = 0; i < G_N_ELEMENTS(order); i++)
		if (g_strv_contains((const char *const *)names, stats_verdict_to_string(order[i])))
			return words_verdict(order[i]);
	return NULL;
}

static void answer(Html *html, const StoreBrief *brief)
{
	const WordsVerdict *verdict = leading_verdict(brief->verdicts);

	if (verdict) {
		html_raw(html, "<strong class=\"verdict ");
		html_attr(html, verdict->css);
		html_raw(html, "\"><span aria-hidden=\"true\">");
		html_text(html, verdict->mark);
		html_raw(html, "</span> ");
		html_text(html, verdict->name);
		html_raw(html, "</strong> ");
	}
	if (!job_state_is_final(brief->state))
		html_text(html, brief->cancel_asked ? "being cancelled" : words_state(brief->state));
	else if (brief->state == JOB_DONE)
		html_text(html, *brief->summary ? brief->summary : "Measured, but there is no result");
	else
		html_text(html, words_end(brief->state, brief->failed_arm, brief->reason));
}

static void row(Html *html, const StoreBrief *brief)
{
	html_raw(html, "<tr><td class=\"n\">");
	html_textf(html, "%" G_GINT64_FORMAT, brief->id);
	html_raw(html, "</td><th scope=\"row\">");
	job_list_link(html, brief->id, brief->subject);
	if (brief->version > 1)
		html_textf(html, " v%d", brief->version);
	if (*brief->author) {
		html_raw(html, " <span class=\"quiet\">");
		html_text(html, brief->author);
		html_raw(html, "</span>");
	}
	html_raw(html, "</th><td class=\"answer\">");
	answer(html, brief);
	html_raw(html, "</td>");
	page_cell(html, brief->benchmarks);
	page_cell(html, brief->tree);
	html_raw(html, "<td>");
	page_time(html, brief->finished_ns ? brief->finished_ns : brief->created_ns);
	if (!brief->finished_ns)
		html_raw(html, " (submitted)");
	html_raw(html, "</td></tr>\n");
}

void job_list_table(Html *html, const GPtrArray *briefs)
{
	static const char *const columns[] = { "job", "subject", "answer", "benchmarks", "tree", "ended", NULL };

	html_raw(html, "<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"jobs\"><table class=\"jobs\">\n<thead><tr>");
	page_columns(html, columns);
	html_raw(html, "</tr></thead>\n<tbody>\n");
	for (guint i = 0; i < briefs->len; i++)
		row(html, g_ptr_array_index(briefs, i));
	html_raw(html, "</tbody>\n</table></div>\n");
}
