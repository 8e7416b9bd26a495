/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The change over a parameter that is a number. */
#include <math.h>
#include <string.h>

#include "jobs/stats/figure.h"
#include "web/page-job-change.h"

enum { RANGE_TOP = 40, RANGE_BOTTOM = 720, RANGE_LEFT = 250, RANGE_RIGHT = 2200, RANGE_HEIGHT = 870, WIDTH = 2880 };
#define RANGE_LINES_MAX 4	/* more cannot be told apart */

typedef struct {
	double x;
	char *rest;	/* the set without the parameter */
	const StatsComparison *comparison;
} Point;

static void point_clear(gpointer data)
{
	g_free(((Point *)data)->rest);
}

/* The parameter's value in a set, and what else the set says; FALSE: it has no such number. */
static gboolean take_parameter(const char *params, const char *name, double *ret_x, char **ret_rest)
{
	g_auto(GStrv) items = g_strsplit(params, ";", -1);
	g_autoptr(GString) rest = g_string_new(NULL);
	gboolean found = FALSE;

	for (gsize i = 0; items[i]; i++) {
		char *value = strchr(items[i], '='), *end;

		if (value && (gsize)(value - items[i]) == strlen(name) && g_str_has_prefix(items[i], name)) {
			*ret_x = g_ascii_strtod(value + 1, &end);
			found = end != value + 1 && !*end && isfinite(*ret_x);
		} else {
			g_string_append_printf(rest, "%s%s", rest->len ? ";" : "", items[i]);
		}
	}
	if (found)
		*ret_rest = g_string_free(g_steal_pointer(&rest), FALSE);
	return found;
}

static int by_rest_and_x(gconstpointer a, gconstpointer b)
{
	const Point *left = a, *right = b;
	int rest = strcmp(left->rest, right->rest);

	return rest ? rest : (left->x > right->x) - (left->x < right->x);
}

static GArray *points_over(const GPtrArray *sets, const char *name)
{
	g_autoptr(GArray) points = g_array_new(FALSE, FALSE, sizeof(Point));

	g_array_set_clear_func(points, point_clear);
	for (guint i = 0; i < sets->len; i++) {
		Point point = { .comparison = g_ptr_array_index(sets, i) };

		if (!take_parameter(point.comparison->params, name, &point.x, &point.rest))
			return NULL;
		g_array_append_val(points, point);
	}
	g_array_sort(points, by_rest_and_x);
	return g_steal_pointer(&points);
}

static guint different_x(const GArray *points)
{
	guint count = 0;

	for (guint i = 0; i < points->len; i++) {
		gboolean seen = FALSE;

		for (guint j = 0; j < i; j++)
			seen |= g_array_index(points, Point, i).x == g_array_index(points, Point, j).x;
		count += !seen;
	}
	return count;
}

static guint lines_of(const GArray *points)
{
	guint lines = 1;

	for (guint i = 1; i < points->len; i++)
		lines += !g_str_equal(g_array_index(points, Point, i).rest, g_array_index(points, Point, i - 1).rest);
	return lines;
}

static PlotScale range_scale(const GArray *points)
{
	double low = g_array_index(points, Point, 0).x, high = low;

	for (guint i = 0; i < points->len; i++) {
		low = MIN(low, g_array_index(points, Point, i).x);
		high = MAX(high, g_array_index(points, Point, i).x);
	}
	if (low > 0 && high / low >= 8)
		return plot_scale_log(low, high, RANGE_LEFT + 60, RANGE_RIGHT - 60);
	return plot_scale(low, high, RANGE_LEFT, RANGE_RIGHT);
}

/* One line of points with their intervals, named at its right end; line 0, 1 … lie beside each other. */
static guint draw_line(Html *html, const GArray *points, guint from, const PlotScale *x, const PlotScale *y, guint line)
{
	const char *rest = g_array_index(points, Point, from).rest;
	int aside = (int)line * 16, last = 0;
	guint end = from;

	while (end < points->len && g_str_equal(g_array_index(points, Point, end).rest, rest))
		end++;
	plot_lines_begin(html, PLOT_NEUTRAL);
	for (guint i = from; i < end; i++) {
		const Point *point = &g_array_index(points, Point, i);

		last = plot_place(y, point->comparison->change_pct);
		(i == from ? plot_move : plot_to)(html, plot_place(x, point->x) + aside, last);
	}
	plot_path_end(html);
	for (guint i = from; i < end; i++) {
		const Point *point = &g_array_index(points, Point, i);
		PlotKind kind = job_change_kind(point->comparison);

		if (job_has_interval(point->comparison)) {
			plot_lines_begin(html, kind);
			plot_interval_along(html, plot_place(x, point->x) + aside, plot_place(y, point->comparison->ci_low_pct),
					    plot_place(y, point->comparison->ci_high_pct));
			plot_path_end(html);
		}
		plot_dots_begin(html, kind);
		plot_dot(html, plot_place(x, point->x) + aside, plot_place(y, point->comparison->change_pct));
		plot_path_end(html);
	}
	plot_texts_begin(html, PLOT_START);
	plot_text(html, RANGE_RIGHT + 90, last + 16, rest);
	plot_texts_end(html);
	return end;
}

static void draw_range(Html *html, const GPtrArray *sets, const GArray *points, const char *name, double min_effect_pct, const char *id)
{
	const StatsComparison *first = g_ptr_array_index(sets, 0);
	PlotScale x = range_scale(points), y = job_change_scale(sets, min_effect_pct, RANGE_BOTTOM, RANGE_TOP);
	g_autofree char *title = g_strdup_printf("Change over %s: %s, %s", name, first->benchmark, first->metric);
	g_autofree char *description = job_change_words(sets);
	g_autofree char *under = g_strdup_printf("change in %% over %s", name);

	plot_begin(html, &(PlotFrame){ .id = id, .title = title, .description = description, .width = WIDTH, .height = RANGE_HEIGHT });
	plot_area(html, PLOT_BAND, RANGE_LEFT, plot_place(&y, min_effect_pct), RANGE_RIGHT, plot_place(&y, -min_effect_pct));
	plot_axis_left(html, &y, RANGE_LEFT, RANGE_RIGHT);
	for (guint at = 0, line = 0; at < points->len; line++)
		at = draw_line(html, points, at, &x, &y, line);
	plot_texts_begin(html, PLOT_MIDDLE);
	for (guint i = 0; i < points->len; i++) {
		const Point *point = &g_array_index(points, Point, i);
		g_autoptr(GString) label = g_string_new(NULL);

		if (i && !g_str_equal(point->rest, g_array_index(points, Point, 0).rest))
			break;
		stats_append_figure(label, point->x);
		plot_text(html, plot_place(&x, point->x), RANGE_BOTTOM + 60, label->str);
	}
	plot_text(html, (RANGE_LEFT + RANGE_RIGHT) / 2, RANGE_BOTTOM + 130, under);
	plot_texts_end(html);
	plot_end(html);
}

gboolean job_range_plot(Html *html, const GPtrArray *sets, double min_effect_pct, const char *id)
{
	g_auto(GStrv) items = g_strsplit(((const StatsComparison *)g_ptr_array_index(sets, 0))->params, ";", -1);

	for (guint i = 0; i < sets->len; i++)
		if (!isfinite(((const StatsComparison *)g_ptr_array_index(sets, i))->change_pct))
			return FALSE;
	for (gsize i = 0; items[i]; i++) {
		g_autofree char *name = g_strndup(items[i], strcspn(items[i], "="));
		g_autoptr(GArray) points = points_over(sets, name);

		if (!points || different_x(points) < 3 || lines_of(points) > RANGE_LINES_MAX)
			continue;
		draw_range(html, sets, points, name, min_effect_pct, id);
		return TRUE;
	}
	return FALSE;
}
