/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Every boot of a comparison: beside the other kernel's, in the order of boots, and as a distribution; one scale for all three. */
#include <math.h>
#include <string.h>

#include "jobs/stats/figure.h"
#include "web/page-job-parts.h"
#include "web/page.h"
#include "web/plot.h"
#include "web/words.h"

/* Boots shown in all pictures together, so that the page stays small: 20 parameter sets of 40 boots, and some. */
#define BOOTS_SHOWN_MAX 1000
#define OPEN_MAX 4	/* pictures; those after them are folded away */

enum {
	HEIGHT = 860, TOP = 70, BOTTOM = 750, UNDER = BOTTOM + 60,
	LEFT = 250, COLUMN_BASE = 420, COLUMN_PATCHED = 700, INTERVAL = 850, COLUMNS_END = 940,
	ORDER_LEFT = 1010, ORDER_RIGHT = 2110,
	SHARE_LEFT = 2190, SHARE_RIGHT = 2830, WIDTH = 2880,
};

static const int columns[] = { COLUMN_BASE, COLUMN_PATCHED };

typedef struct {
	const StatsComparison *comparison;
	PlotScale value;	/* upwards */
	int *boots[2];		/* numbers of the boots, as boot_values; NULL: cannot be told */
	int last_boot;
} Picture;

static guint count_of(const StatsComparison *comparison, int arm)
{
	return comparison->boot_values[arm]->len;
}

static double value_of(const StatsComparison *comparison, int arm, guint i)
{
	return g_array_index(comparison->boot_values[arm], double, i);
}

/* The boots that the summaries are of: the valid ones of the arm, from the first on. Which one was rejected is not told. */
static int *boot_numbers(const JobView *view, const StatsComparison *comparison, int arm)
{
	guint count = count_of(comparison, arm), found = 0;
	g_autofree int *numbers = g_new(int, MAX(count, 1));

	if (comparison->boots_rejected[arm])
		return NULL;
	for (guint i = 0; view->boots && i < view->boots->len && found < count; i++) {
		const StoreBoot *boot = g_ptr_array_index(view->boots, i);

		if (boot->valid && g_str_equal(boot->arm, arm ? "patched" : "base"))
			numbers[found++] = boot->boot;
	}
	return found == count ? g_steal_pointer(&numbers) : NULL;
}

static void picture_clear(Picture *picture)
{
	g_free(picture->boots[0]);
	g_free(picture->boots[1]);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Picture, picture_clear)

/* Where the patched mean would lie, if the base's is where it is seen. */
static double moved(const StatsComparison *comparison, double change_pct)
{
	return comparison->mean[SAMPLE_ARM_BASE] * (1 + change_pct / 100);
}

static void include(double value, double *low, double *high)
{
	if (!isfinite(value))
		return;
	*low = isnan(*low) ? value : MIN(*low, value);
	*high = isnan(*high) ? value : MAX(*high, value);
}

static void picture_init(Picture *picture, const JobView *view, const StatsComparison *comparison)
{
	double low = NAN, high = NAN;

	*picture = (Picture){ .comparison = comparison };
	for (int arm = 0; arm < 2; arm++) {
		picture->boots[arm] = boot_numbers(view, comparison, arm);
		for (guint i = 0; i < count_of(comparison, arm); i++) {
			include(value_of(comparison, arm, i), &low, &high);
			if (picture->boots[arm])
				picture->last_boot = MAX(picture->last_boot, picture->boots[arm][i]);
		}
	}
	include(moved(comparison, comparison->ci_low_pct), &low, &high);
	include(moved(comparison, comparison->ci_high_pct), &low, &high);
	picture->value = plot_scale(low, high, BOTTOM, TOP);
}

static int by_value(gconstpointer a, gconstpointer b)
{
	double left = *(const double *)a, right = *(const double *)b;

	return (left > right) - (left < right);
}

static GArray *sorted(const StatsComparison *comparison, int arm)
{
	GArray *values = g_array_copy(comparison->boot_values[arm]);

	g_array_sort(values, by_value);
	return values;
}

static double median(const GArray *values)
{
	guint half = values->len / 2;

	if (!values->len)
		return NAN;
	return values->len % 2 ? g_array_index(values, double, half) :
				 (g_array_index(values, double, half - 1) + g_array_index(values, double, half)) / 2;
}

/* The arm's column; dots that would lie on each other lie beside each other. Then the same in the order of boots. */
static void draw_dots(Html *html, const Picture *picture, int arm)
{
	PlotScale order = { .low = 0, .high = MAX(picture->last_boot, 1), .from = ORDER_LEFT + 25, .to = ORDER_RIGHT - 25 };
	guint count = count_of(picture->comparison, arm);

	plot_dots_begin(html, arm ? PLOT_PATCHED : PLOT_BASE);
	for (guint i = 0; i < count; i++)
		plot_dot(html, columns[arm] + ((int)(i * 7 % 9) - 4) * 18,
			 plot_place(&picture->value, value_of(picture->comparison, arm, i)));
	for (guint i = 0; i < count && picture->boots[arm]; i++)
		plot_dot(html, plot_place(&order, picture->boots[arm][i]),
			 plot_place(&picture->value, value_of(picture->comparison, arm, i)));
	plot_path_end(html);
}

static int share(guint boots, guint of)
{
	return (int)((gint64)boots * (SHARE_RIGHT - SHARE_LEFT) / of);
}

/* The median across the column; the share of boots (across) with at most so much (upwards). */
static void draw_lines(Html *html, const Picture *picture, int arm)
{
	g_autoptr(GArray) values = sorted(picture->comparison, arm);

	plot_lines_begin(html, arm ? PLOT_PATCHED : PLOT_BASE);
	plot_move(html, columns[arm] - 115, plot_place(&picture->value, median(values)));
	plot_across(html, columns[arm] + 115);
	plot_move(html, SHARE_LEFT, plot_place(&picture->value, g_array_index(values, double, 0)));
	for (guint i = 0; i < values->len; i++) {
		if (i)
			plot_along(html, plot_place(&picture->value, g_array_index(values, double, i)));
		plot_right(html, share(i + 1, values->len) - share(i, values->len));
	}
	plot_path_end(html);
}

static void draw_interval(Html *html, const Picture *picture)
{
	double low = moved(picture->comparison, picture->comparison->ci_low_pct);
	double high = moved(picture->comparison, picture->comparison->ci_high_pct);

	if (!isfinite(low) || !isfinite(high))
		return;
	plot_lines_begin(html, PLOT_NEUTRAL);
	plot_interval_along(html, INTERVAL, plot_place(&picture->value, low), plot_place(&picture->value, high));
	plot_path_end(html);
}

static void draw_words(Html *html, const Picture *picture)
{
	g_autofree char *last = g_strdup_printf("%d", picture->last_boot);

	plot_texts_begin(html, PLOT_MIDDLE);
	plot_text(html, COLUMN_BASE, UNDER, "base");
	plot_text(html, COLUMN_PATCHED, UNDER, "patched");
	plot_text(html, (ORDER_LEFT + ORDER_RIGHT) / 2, UNDER, picture->boots[0] && picture->boots[1] ? "in the order of boots" :
		  "which boot is which cannot be told");
	plot_text(html, (SHARE_LEFT + SHARE_RIGHT) / 2, UNDER, "share of boots");
	plot_text(html, ORDER_LEFT + 25, UNDER, "0");
	plot_text(html, ORDER_RIGHT - 25, UNDER, last);
	plot_text(html, SHARE_LEFT + 15, UNDER, "0");
	plot_text(html, SHARE_RIGHT - 15, UNDER, "1");
	plot_text(html, LEFT - 100, 48, picture->comparison->unit);
	plot_texts_end(html);
}

/* "base: 4 boots from 19.9 to 20.1, median 20" */
static void describe_arm(GString *text, const StatsComparison *comparison, int arm)
{
	g_autoptr(GArray) values = sorted(comparison, arm);

	g_string_append_printf(text, "%s: %u boots", arm ? "patched" : "base", values->len);
	if (!values->len)
		return;
	g_string_append(text, " from ");
	stats_append_figure(text, g_array_index(values, double, 0));
	g_string_append(text, " to ");
	stats_append_figure(text, g_array_index(values, double, values->len - 1));
	g_string_append(text, ", median ");
	stats_append_figure(text, median(values));
}

static char *describe(const StatsComparison *comparison)
{
	GString *text = g_string_new(NULL);
	g_autofree char *interval = words_interval(comparison->ci_low_pct, comparison->ci_high_pct);

	describe_arm(text, comparison, SAMPLE_ARM_BASE);
	g_string_append(text, "; ");
	describe_arm(text, comparison, SAMPLE_ARM_PATCHED);
	g_string_append(text, "; change ");
	stats_append_percent(text, comparison->change_pct);
	g_string_append_printf(text, ", interval %s.", interval);
	return g_string_free(text, FALSE);
}

static void draw(Html *html, const JobView *view, const StatsComparison *comparison, guint number)
{
	g_auto(Picture) picture = { 0 };
	g_autofree char *id = g_strdup_printf("boots-%u", number);
	g_autofree char *title = g_strdup_printf("%s, %s: %s in %s", comparison->benchmark, comparison->params,
						 comparison->metric, comparison->unit);
	g_autofree char *description = describe(comparison);

	picture_init(&picture, view, comparison);
	plot_begin(html, &(PlotFrame){ .id = id, .title = title, .description = description, .width = WIDTH, .height = HEIGHT });
	plot_axis_left(html, &picture.value, LEFT, SHARE_RIGHT);
	plot_lines_begin(html, PLOT_GRID);
	for (int i = 0; i < 2; i++) {
		plot_move(html, i ? (ORDER_RIGHT + SHARE_LEFT) / 2 : (COLUMNS_END + ORDER_LEFT) / 2, TOP - 30);
		plot_along(html, BOTTOM + 20);
	}
	plot_path_end(html);
	for (int arm = 0; arm < 2; arm++) {
		if (!count_of(comparison, arm))
			continue;
		draw_dots(html, &picture, arm);
		draw_lines(html, &picture, arm);
	}
	draw_interval(html, &picture);
	draw_words(html, &picture);
	plot_end(html);
}

static void figure(Html *html, const JobView *view, const StatsComparison *comparison, guint number, gboolean open)
{
	html_raw(html, "<details");
	if (open)
		html_raw(html, " open=\"open\"");
	html_raw(html, "><summary>");
	html_text(html, comparison->benchmark);
	html_raw(html, " ");
	html_text(html, comparison->params);
	html_raw(html, ": ");
	html_text(html, comparison->metric);
	if (*comparison->unit)
		html_textf(html, " in %s", comparison->unit);
	html_raw(html, "</summary>\n<div class=\"wide\" tabindex=\"0\">");
	draw(html, view, comparison, number);
	html_raw(html, "</div></details>\n");
}

static gboolean has_values(const StatsComparison *comparison)
{
	return comparison->primary && count_of(comparison, 0) + count_of(comparison, 1) > 0;
}

void job_boot_plots_section(Html *html, const JobView *view)
{
	const StatsResult *result = stats_result_latest(view->result);
	guint pictures = 0, shown = 0, boots = 0;

	for (guint i = 0; i < result->comparisons->len; i++)
		pictures += has_values(g_ptr_array_index(result->comparisons, i));
	if (!pictures)
		return;
	html_raw(html, "<section aria-labelledby=\"every\">\n<h2 id=\"every\">Every boot</h2>\n<p class=\"quiet\">One mark is one boot: "
		       "round for base, square for patched. On the left the two kernels side by side, each with its median, and the "
		       "interval in which the patched kernel's mean lies, seen from that of the base; in the middle the same boots in "
		       "the order in which they were made, where a drift of the host would show; on the right, as a line, the share of "
		       "boots that had at most so much.</p>\n");
	for (guint i = 0; i < result->comparisons->len; i++) {
		const StatsComparison *comparison = g_ptr_array_index(result->comparisons, i);

		if (!has_values(comparison))
			continue;
		boots += count_of(comparison, 0) + count_of(comparison, 1);
		if (shown && boots > BOOTS_SHOWN_MAX)
			break;
		figure(html, view, comparison, shown, shown < OPEN_MAX);
		shown++;
	}
	if (shown < pictures)
		html_textf(html, "%u more parameter sets are not drawn: the samples have them.", pictures - shown);
	html_raw(html, "</section>\n");
}
