/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <math.h>

#include "jobs/stats/figure.h"
#include "web/page-job-parts.h"
#include "web/page.h"
#include "web/words.h"

#define ROWS_MAX 20	/* the most certain ones; artifacts have all */

static void number_cell(Html *html, double value)
{
	g_autoptr(GString) text = g_string_new(NULL);

	stats_append_figure(text, value);
	html_raw(html, "<td class=\"n\">");
	html_text(html, text->str);
	html_raw(html, "</td>");
}

static void append_signed(GString *text, double value)
{
	if (value > 0)
		g_string_append_c(text, '+');
	stats_append_figure(text, value);
}

static void difference_cell(Html *html, JsonObject *row)
{
	double low = peek_double(row, "low", NAN), high = peek_double(row, "high", NAN);
	g_autoptr(GString) text = g_string_new(NULL);

	append_signed(text, peek_double(row, "difference", NAN));
	if (!isnan(low) && !isnan(high)) {
		g_string_append(text, " [");
		append_signed(text, low);
		g_string_append(text, ", ");
		append_signed(text, high);
		g_string_append_c(text, ']');
	}
	html_raw(html, "<td class=\"n\">");
	html_text(html, text->str);
	html_raw(html, "</td>");
}

/* Of the base's mean; a counter that did not move there has none. */
static void share_cell(Html *html, JsonObject *row)
{
	double base = peek_double(row, "base", NAN);
	g_autoptr(GString) text = g_string_new(NULL);

	stats_append_percent(text, base != 0 ? 100 * peek_double(row, "difference", NAN) / fabs(base) : NAN);
	html_raw(html, "<td class=\"n\">");
	html_text(html, text->str);
	html_raw(html, "</td>");
}

static void counter_row(Html *html, JsonObject *row)
{
	g_autofree char *p = words_p(peek_double(row, "p_bh", NAN));

	html_raw(html, "<tr><th scope=\"row\"><code>");
	html_text(html, peek_string(row, "counter"));
	html_raw(html, "</code></th><td>");
	html_textf(html, "%s %s", peek_string(row, "benchmark"), peek_string(row, "params"));
	html_raw(html, "</td>");
	number_cell(html, peek_double(row, "base", NAN));
	number_cell(html, peek_double(row, "patched", NAN));
	difference_cell(html, row);
	share_cell(html, row);
	html_raw(html, "<td class=\"n\">");
	html_text(html, peek_bool(row, "exact") ? "repeats exactly" : p);
	html_raw(html, "</td></tr>\n");
}

void job_counters_section(Html *html, const JobView *view)
{
	static const char *const columns[] = { "counter", "benchmark and parameters", "base", "patched", "difference", "change", "p",
					       NULL };
	JsonArray *rows = peek_array(view->counters, "rows");
	gint64 tested = peek_int(view->counters, "tested", 0), selected = peek_int(view->counters, "selected", 0);

	if (!view->counters || tested < 1)
		return;
	html_raw(html, "<section aria-labelledby=\"counters\">\n<h2 id=\"counters\">Counters that moved</h2>\n<p class=\"quiet\">Exploration, "
		       "no part of the verdict: by how much the kernel's counters grew in the runs of a boot, on average. ");
	html_textf(html, "Of %" G_GINT64_FORMAT " counters that are not the same in every boot, %" G_GINT64_FORMAT " differ; p is adjusted "
			 "for their number (Benjamini and Hochberg, %g), and so are the intervals.", tested, selected,
		   peek_double(view->counters, "alpha", NAN));
	html_raw(html, " Where a counter repeats exactly in all boots of a kernel, there is no interval.</p>\n");
	if (peek_length(rows)) {
		html_raw(html, "<div class=\"wide\" tabindex=\"0\"><table>\n<thead><tr>");
		page_columns(html, columns);
		html_raw(html, "</tr></thead>\n<tbody>\n");
		for (guint i = 0; i < MIN(peek_length(rows), ROWS_MAX); i++)
			counter_row(html, peek_element(rows, i));
		html_raw(html, "</tbody>\n</table></div>\n");
	}
	html_raw(html, "</section>\n");
}
