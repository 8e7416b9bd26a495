/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The change of each parameter set with its interval, a row a set. */
#include <math.h>

#include "jobs/stats/figure.h"
#include "web/page-job-change.h"
#include "web/page-job-parts.h"
#include "web/page.h"
#include "web/plot.h"
#include "web/words.h"

#define NAME_MAX_CHARS 30
#define ROWS_MAX 60	/* of one picture */

enum { ROW = 84, HEAD = 20, FOOT = 150, NAME_RIGHT = 760, LEFT = 800, RIGHT = 2320, WORD = 2370, WIDTH = 2880 };

PlotKind job_change_kind(const StatsComparison *comparison)
{
	return comparison->verdict == STATS_VERDICT_REGRESSION ? PLOT_WORSE :
	       comparison->verdict == STATS_VERDICT_IMPROVEMENT ? PLOT_BETTER : PLOT_NEUTRAL;
}

static void include(double value, double *low, double *high)
{
	if (!isfinite(value))
		return;
	*low = MIN(*low, value);
	*high = MAX(*high, value);
}

gboolean job_has_interval(const StatsComparison *comparison)
{
	return isfinite(comparison->ci_low_pct) && isfinite(comparison->ci_high_pct);
}

PlotScale job_change_scale(const GPtrArray *sets, double min_effect_pct, int from, int to)
{
	double low = -min_effect_pct, high = min_effect_pct;

	for (guint i = 0; i < sets->len; i++) {
		const StatsComparison *comparison = g_ptr_array_index(sets, i);

		include(comparison->change_pct, &low, &high);
		if (job_has_interval(comparison)) {
			include(comparison->ci_low_pct, &low, &high);
			include(comparison->ci_high_pct, &low, &high);
		}
	}
	return plot_scale(low, high, from, to);
}

static char *set_name(const StatsComparison *comparison)
{
	g_autofree char *valid = g_utf8_make_valid(*comparison->params ? comparison->params : comparison->benchmark, -1);

	if (g_utf8_strlen(valid, -1) <= NAME_MAX_CHARS)
		return g_steal_pointer(&valid);

	g_autofree char *cut = g_utf8_substring(valid, 0, NAME_MAX_CHARS - 1);

	return g_strconcat(cut, "…", NULL);
}

char *job_change_words(const GPtrArray *sets)
{
	GString *text = g_string_new(NULL);

	for (guint i = 0; i < sets->len; i++) {
		const StatsComparison *comparison = g_ptr_array_index(sets, i);
		g_autofree char *interval = words_interval(comparison->ci_low_pct, comparison->ci_high_pct);

		g_string_append_printf(text, "%s%s: ", i ? "; " : "", comparison->params);
		stats_append_percent(text, comparison->change_pct);
		g_string_append_printf(text, " %s", interval);
	}
	return g_string_free(text, FALSE);
}

static int row_y(guint i)
{
	return HEAD + (int)i * ROW + ROW / 2;
}

/* The intervals of one kind, and their estimates. */
static void draw_kind(Html *html, const PlotScale *change, const GPtrArray *sets, guint rows, PlotKind kind)
{
	guint found = 0;

	for (guint i = 0; i < rows; i++)
		found += job_change_kind(g_ptr_array_index(sets, i)) == kind && isfinite(((const StatsComparison *)g_ptr_array_index(sets, i))->change_pct);
	if (!found)
		return;
	plot_lines_begin(html, kind);
	for (guint i = 0; i < rows; i++) {
		const StatsComparison *comparison = g_ptr_array_index(sets, i);

		if (job_change_kind(comparison) == kind && job_has_interval(comparison))
			plot_interval_across(html, row_y(i), plot_place(change, comparison->ci_low_pct),
					     plot_place(change, comparison->ci_high_pct));
	}
	plot_path_end(html);
	plot_dots_begin(html, kind);
	for (guint i = 0; i < rows; i++) {
		const StatsComparison *comparison = g_ptr_array_index(sets, i);

		if (job_change_kind(comparison) == kind && isfinite(comparison->change_pct))
			plot_dot(html, plot_place(change, comparison->change_pct), row_y(i));
	}
	plot_path_end(html);
}

static void draw_row_words(Html *html, const GPtrArray *sets, guint rows)
{
	plot_texts_begin(html, PLOT_END);
	for (guint i = 0; i < rows; i++) {
		g_autofree char *name = set_name(g_ptr_array_index(sets, i));

		plot_text(html, NAME_RIGHT, row_y(i) + 16, name);
	}
	plot_texts_end(html);
	plot_texts_begin(html, PLOT_START);
	for (guint i = 0; i < rows; i++) {
		const WordsVerdict *verdict = words_verdict(((const StatsComparison *)g_ptr_array_index(sets, i))->verdict);
		g_autofree char *word = g_strdup_printf("%s %s", verdict->mark, verdict->name);

		plot_text(html, WORD, row_y(i) + 16, word);
	}
	plot_texts_end(html);
}

static void draw_rows(Html *html, const GPtrArray *sets, double min_effect_pct, const char *id)
{
	const StatsComparison *first = g_ptr_array_index(sets, 0);
	guint rows = MIN(sets->len, ROWS_MAX);
	int bottom = HEAD + (int)rows * ROW;
	PlotScale change = job_change_scale(sets, min_effect_pct, LEFT, RIGHT);
	g_autofree char *title = g_strdup_printf("Change by parameter set: %s, %s", first->benchmark, first->metric);
	g_autofree char *description = job_change_words(sets);

	plot_begin(html, &(PlotFrame){ .id = id, .title = title, .description = description, .width = WIDTH, .height = bottom + FOOT });
	plot_area(html, PLOT_BAND, plot_place(&change, -min_effect_pct), HEAD, plot_place(&change, min_effect_pct), bottom);
	plot_axis_bottom(html, &change, HEAD, bottom);
	plot_lines_begin(html, PLOT_NEUTRAL);
	plot_move(html, plot_place(&change, 0), HEAD);
	plot_along(html, bottom);
	plot_path_end(html);
	draw_kind(html, &change, sets, rows, PLOT_NEUTRAL);
	draw_kind(html, &change, sets, rows, PLOT_BETTER);
	draw_kind(html, &change, sets, rows, PLOT_WORSE);
	draw_row_words(html, sets, rows);
	plot_texts_begin(html, PLOT_MIDDLE);
	plot_text(html, (LEFT + RIGHT) / 2, bottom + 120, first->better == SAMPLE_BETTER_LOWER ?
		  "change in %, less is better" : "change in %, more is better");
	plot_texts_end(html);
	plot_end(html);
}

void job_change_plots(Html *html, const GPtrArray *sets, double min_effect_pct, guint number)
{
	g_autofree char *id = g_strdup_printf("change-%u", number), *range_id = g_strdup_printf("range-%u", number);

	html_raw(html, "<div class=\"wide\" tabindex=\"0\">");
	draw_rows(html, sets, min_effect_pct, id);
	job_range_plot(html, sets, min_effect_pct, range_id);
	html_raw(html, "</div>\n");
}
