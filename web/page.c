/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "web/page.h"

#include "web/static.h"
#include "web/words.h"

/* The checksum makes a new file a new address. */
static void static_href(Html *html, const char *name)
{
	html_raw(html, "/static/");
	html_url(html, name);
	html_raw(html, "?v=");
	for (const char *c = static_file(name)->etag; *c; c++)
		if (*c != '"')
			html_attrf(html, "%c", *c);
}

static void navigation(Html *html, const char *here)
{
	static const struct {
		const char *path, *name;
	} entries[] = {
		{ "/", "regrlab" },
		{ "/jobs", "jobs" },
		{ "/compare", "compare" },
		{ "/hosts", "hosts" },
	};

	html_raw(html, "<nav aria-label=\"lab\">");
	for (gsize i = 0; i < G_N_ELEMENTS(entries); i++) {
		html_raw(html, "<a href=\"");
		html_attr(html, entries[i].path);
		html_raw(html, "\"");
		if (here && g_str_equal(here, entries[i].path))
			html_raw(html, " aria-current=\"page\"");
		html_raw(html, ">");
		html_text(html, entries[i].name);
		html_raw(html, "</a> ");
	}
	html_raw(html, "</nav>");
}

void page_begin(Html *html, const PageFrame *frame)
{
	html_raw(html, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\"/>\n<title>");
	html_text(html, frame->title);
	html_raw(html, " - regrlab</title>\n"
		       "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\"/>\n"
		       "<meta name=\"color-scheme\" content=\"light dark\"/>\n");
	if (frame->refresh_s > 0) {
		html_raw(html, "<noscript><meta http-equiv=\"refresh\" content=\"");
		html_attrf(html, "%d", frame->refresh_s);
		html_raw(html, "\"/></noscript>\n");
	}
	html_raw(html, "<link rel=\"stylesheet\" href=\"");
	static_href(html, "style.css");
	html_raw(html, "\"/>\n<script defer=\"defer\" data-renew=\"");
	html_attrf(html, "%d", frame->refresh_s);
	html_raw(html, "\" src=\"");
	static_href(html, "page.js");
	html_raw(html, "\"></script>\n<link rel=\"icon\" type=\"image/svg+xml\" href=\"");
	static_href(html, "icon.svg");
	html_raw(html, "\"/>\n<link rel=\"alternate\" type=\"application/atom+xml\" title=\"verdicts\" href=\"/feed.atom\"/>\n");
	if (frame->json) {
		html_raw(html, "<link rel=\"alternate\" type=\"application/json\" href=\"");
		html_attr(html, frame->json);
		html_raw(html, "\"/>\n");
	}
	html_raw(html, "</head>\n<body>\n<header><a class=\"skip\" href=\"#content\">to the content</a>\n");
	navigation(html, frame->path);
	html_raw(html, "</header>\n<main id=\"content\">\n");
}

void page_end(Html *html)
{
	html_raw(html, "</main>\n<footer><a href=\"/openapi.json\">API</a> <a href=\"/feed.atom\">feed of verdicts</a></footer>\n</body>\n</html>\n");
}

void page_time(Html *html, gint64 time_ns)
{
	g_autofree char *text = words_time(time_ns);

	if (!*text) {
		html_raw(html, "-");
		return;
	}
	/* as HTML wants it: 2026-11-30 22:05:01Z */
	html_raw(html, "<time datetime=\"");
	html_attrf(html, "%.19sZ", text);
	html_raw(html, "\">");
	html_text(html, text);
	html_raw(html, "</time>");
}

void page_duration(Html *html, gint64 ns)
{
	g_autofree char *text = text_duration(ns);

	html_text(html, text);
}

void page_fact(Html *html, const char *name, const char *value)
{
	if (!value || !*value)
		return;
	html_raw(html, "<dt>");
	html_text(html, name);
	html_raw(html, "</dt><dd>");
	html_text(html, value);
	html_raw(html, "</dd>\n");
}

void page_factf(Html *html, const char *name, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	g_autofree char *value = g_strdup_vprintf(format, args);
	va_end(args);
	page_fact(html, name, value);
}

void page_columns(Html *html, const char *const *names)
{
	for (; *names; names++) {
		html_raw(html, "<th scope=\"col\">");
		html_text(html, *names);
		html_raw(html, "</th>");
	}
}

void page_cell(Html *html, const char *text)
{
	html_raw(html, "<td>");
	html_text(html, text);
	html_raw(html, "</td>");
}
