/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * SVG, written into a page. The same input gives the same bytes: places are
 * whole numbers, and numbers are written without a locale.
 *
 * A picture is legible without its style sheet (lines in the text's colour)
 * and without colour (the arms differ in shape: base round, patched square);
 * .plot in style.css gives it the colours of light and dark. Its title and
 * description are there for who cannot see it. One CSS pixel is PLOT_PX
 * units where the picture has its full width.
 */
#pragma once

#include "web/html.h"
#include "web/plot-scale.h"

#define PLOT_PX 4

/* What a mark stands for: the class in the style sheet and the shape of its ends. */
typedef enum {
	PLOT_BASE,
	PLOT_PATCHED,
	PLOT_WORSE,
	PLOT_BETTER,
	PLOT_NEUTRAL,
	PLOT_GRID,
	PLOT_BAND,
} PlotKind;

typedef enum {
	PLOT_START,
	PLOT_MIDDLE,
	PLOT_END,
} PlotAnchor;

typedef struct {
	const char *id;			/* unique in the page, [a-z0-9-] */
	const char *title;		/* any text */
	const char *description;	/* likewise: what can be seen, in words and figures */
	int width, height;
} PlotFrame;

void plot_begin(Html *html, const PlotFrame *frame);
void plot_end(Html *html);

/* Dots: a path, then any number of dots, then its end. */
void plot_dots_begin(Html *html, PlotKind kind);
void plot_dot(Html *html, int x, int y);

/* Straight lines: a path, its pieces, its end. */
void plot_lines_begin(Html *html, PlotKind kind);
void plot_move(Html *html, int x, int y);
void plot_to(Html *html, int x, int y);
void plot_across(Html *html, int x);	/* to that x, at the same y */
void plot_along(Html *html, int y);	/* to that y, at the same x */
void plot_right(Html *html, int by);	/* so far to the right */

void plot_path_end(Html *html);

/* Intervals with caps, as pieces of a path of lines: at y from low to high, at x likewise. */
void plot_interval_across(Html *html, int y, int low, int high);
void plot_interval_along(Html *html, int x, int low, int high);

/* A filled area. */
void plot_area(Html *html, PlotKind kind, int left, int top, int right, int bottom);

/* Text, within plot_texts_begin() and _end(). */
void plot_texts_begin(Html *html, PlotAnchor anchor);
void plot_text(Html *html, int x, int y, const char *text);
void plot_texts_end(Html *html);

/* Grid lines and labels: of values along the left edge, from left to right; of values along the bottom, from top to bottom. */
void plot_axis_left(Html *html, const PlotScale *scale, int left, int right);
void plot_axis_bottom(Html *html, const PlotScale *scale, int top, int bottom);
