/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "web/feed.h"

#include "web/html.h"
#include "web/words.h"

/* As RFC 3339 wants it. */
static void updated(Html *html, gint64 time_ns)
{
	g_autofree char *text = words_time(MAX(time_ns, 1));

	html_raw(html, "<updated>");
	html_textf(html, "%.10sT%.8sZ", text, text + 11);
	html_raw(html, "</updated>\n");
}

static void job_address(Html *html, const FeedView *view, const StoreBrief *brief)
{
	html_text(html, view->url);
	html_textf(html, "/jobs/%" G_GINT64_FORMAT, brief->id);
}

static void entry(Html *html, const FeedView *view, const StoreBrief *brief)
{
	html_raw(html, "<entry>\n<id>");
	job_address(html, view, brief);
	html_raw(html, "</id>\n<link rel=\"alternate\" type=\"text/html\" href=\"");
	job_address(html, view, brief);
	html_raw(html, "\"/>\n<title>");
	html_textf(html, "%s%s%s", brief->verdicts, *brief->verdicts ? ": " : "", brief->subject);
	html_raw(html, "</title>\n");
	updated(html, brief->finished_ns);
	html_raw(html, "<author><name>");
	html_text(html, *brief->author ? brief->author : "regrlab");
	html_raw(html, "</name></author>\n<category term=\"");
	html_attr(html, job_state_name(brief->state));
	html_raw(html, "\"/>\n<summary>");
	if (brief->state == JOB_DONE)
		html_text(html, *brief->summary ? brief->summary : "Measured, but there is no result");
	else
		html_text(html, words_end(brief->state, brief->failed_arm, brief->reason));
	html_textf(html, " (%s on %s)", brief->benchmarks, brief->tree);
	html_raw(html, "</summary>\n</entry>\n");
}

char *feed_atom(const FeedView *view, gsize *ret_size)
{
	g_autoptr(Html) html = html_new();
	gint64 last_ns = view->briefs->len ? ((const StoreBrief *)g_ptr_array_index(view->briefs, 0))->finished_ns : 0;

	html_raw(html, "<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<feed xmlns=\"http://www.w3.org/2005/Atom\">\n"
		       "<title>regrlab: verdicts</title>\n<id>");
	html_textf(html, "%s/feed.atom%s", view->url, view->query);
	html_raw(html, "</id>\n<link rel=\"self\" type=\"application/atom+xml\" href=\"");
	html_attrf(html, "%s/feed.atom%s", view->url, view->query);
	html_raw(html, "\"/>\n<link rel=\"alternate\" type=\"text/html\" href=\"");
	html_attrf(html, "%s/jobs%s", view->url, view->query);
	html_raw(html, "\"/>\n");
	updated(html, last_ns);
	for (guint i = 0; i < view->briefs->len; i++)
		entry(html, view, g_ptr_array_index(view->briefs, i));
	html_raw(html, "</feed>\n");
	return html_take(html, ret_size);
}
