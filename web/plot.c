/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "web/plot.h"

#define CAP 10		/* half the width of an interval's ends */
#define TEXT_DOWN 14	/* from the middle of a line of text to its base */

/* Round or square ends make a path of no length a dot of that shape. */
static const struct {
	const char *css, *ends;
} kinds[] = {
	[PLOT_BASE] = { "base", "round" },	 [PLOT_PATCHED] = { "patched", "square" },
	[PLOT_WORSE] = { "worse", "round" },	 [PLOT_BETTER] = { "better", "round" },
	[PLOT_NEUTRAL] = { "neutral", "round" }, [PLOT_GRID] = { "grid", "butt" },
	[PLOT_BAND] = { "band", "butt" },
};

void plot_begin(Html *html, const PlotFrame *frame)
{
	html_raw(html, "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"plot\" role=\"img\" viewBox=\"0 0 ");
	html_attrf(html, "%d %d", frame->width, frame->height);
	html_raw(html, "\" fill=\"none\" stroke=\"currentColor\" stroke-width=\"6\" font-size=\"48\" aria-labelledby=\"");
	html_attrf(html, "%s-t", frame->id);
	html_raw(html, "\" aria-describedby=\"");
	html_attrf(html, "%s-d", frame->id);
	html_raw(html, "\"><title id=\"");
	html_attr(html, frame->id);
	html_raw(html, "-t\">");
	html_text(html, frame->title);
	html_raw(html, "</title><desc id=\"");
	html_attr(html, frame->id);
	html_raw(html, "-d\">");
	html_text(html, frame->description);
	html_raw(html, "</desc>\n");
}

void plot_end(Html *html)
{
	html_raw(html, "</svg>\n");
}

static void path_begin(Html *html, PlotKind kind)
{
	html_raw(html, "<path class=\"");
	html_attr(html, kinds[kind].css);
}

void plot_dots_begin(Html *html, PlotKind kind)
{
	path_begin(html, kind);
	html_raw(html, " dots\" stroke-width=\"22\" stroke-linecap=\"");
	html_attr(html, kinds[kind].ends);
	html_raw(html, "\" d=\"");
}

void plot_dot(Html *html, int x, int y)
{
	html_attrf(html, "M%d %dz", x, y);
}

void plot_lines_begin(Html *html, PlotKind kind)
{
	path_begin(html, kind);
	html_raw(html, "\" d=\"");
}

void plot_move(Html *html, int x, int y)
{
	html_attrf(html, "M%d %d", x, y);
}

void plot_to(Html *html, int x, int y)
{
	html_attrf(html, "L%d %d", x, y);
}

void plot_across(Html *html, int x)
{
	html_attrf(html, "H%d", x);
}

void plot_along(Html *html, int y)
{
	html_attrf(html, "V%d", y);
}

void plot_right(Html *html, int by)
{
	html_attrf(html, "h%d", by);
}

void plot_path_end(Html *html)
{
	html_raw(html, "\"/>\n");
}

void plot_interval_across(Html *html, int y, int low, int high)
{
	html_attrf(html, "M%d %dV%dM%d %dH%dM%d %dV%d", low, y - CAP, y + CAP, low, y, high, high, y - CAP, y + CAP);
}

void plot_interval_along(Html *html, int x, int low, int high)
{
	html_attrf(html, "M%d %dH%dM%d %dV%dM%d %dH%d", x - CAP, low, x + CAP, x, low, high, x - CAP, high, x + CAP);
}

void plot_area(Html *html, PlotKind kind, int left, int top, int right, int bottom)
{
	html_raw(html, "<path class=\"");
	html_attr(html, kinds[kind].css);
	html_raw(html, "\" fill=\"currentColor\" fill-opacity=\".12\" stroke=\"none\" d=\"");
	html_attrf(html, "M%d %dH%dV%dH%dZ", left, top, right, bottom, left);
	html_raw(html, "\"/>\n");
}

void plot_texts_begin(Html *html, PlotAnchor anchor)
{
	static const char *const anchors[] = { "start", "middle", "end" };

	html_raw(html, "<g fill=\"currentColor\" stroke=\"none\" text-anchor=\"");
	html_attr(html, anchors[anchor]);
	html_raw(html, "\">");
}

void plot_text(Html *html, int x, int y, const char *text)
{
	html_raw(html, "<text x=\"");
	html_attrf(html, "%d", x);
	html_raw(html, "\" y=\"");
	html_attrf(html, "%d", y);
	html_raw(html, "\">");
	html_text(html, text);
	html_raw(html, "</text>");
}

void plot_texts_end(Html *html)
{
	html_raw(html, "</g>\n");
}

void plot_axis_left(Html *html, const PlotScale *scale, int left, int right)
{
	PlotTick ticks[PLOT_TICKS_MAX];
	guint count = plot_ticks(scale, 4, ticks);

	plot_lines_begin(html, PLOT_GRID);
	for (guint i = 0; i < count; i++) {
		plot_move(html, left, plot_place(scale, ticks[i].value));
		plot_across(html, right);
	}
	plot_path_end(html);
	plot_texts_begin(html, PLOT_END);
	for (guint i = 0; i < count; i++)
		plot_text(html, left - 14, plot_place(scale, ticks[i].value) + TEXT_DOWN, ticks[i].label);
	plot_texts_end(html);
}

void plot_axis_bottom(Html *html, const PlotScale *scale, int top, int bottom)
{
	PlotTick ticks[PLOT_TICKS_MAX];
	guint count = plot_ticks(scale, 5, ticks);

	plot_lines_begin(html, PLOT_GRID);
	for (guint i = 0; i < count; i++) {
		plot_move(html, plot_place(scale, ticks[i].value), top);
		plot_along(html, bottom);
	}
	plot_path_end(html);
	plot_texts_begin(html, PLOT_MIDDLE);
	for (guint i = 0; i < count; i++)
		plot_text(html, plot_place(scale, ticks[i].value), bottom + 52, ticks[i].label);
	plot_texts_end(html);
}
