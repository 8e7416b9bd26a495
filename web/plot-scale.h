/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From values to places in a picture, and the ticks of an axis. Pure, the same in every locale. */
#pragma once

#include <glib.h>

typedef struct {
	double low, high;	/* low < high; they lie at from and to */
	int from, to;		/* in the picture's units; from > to where values grow upwards */
	gboolean logarithmic;	/* low > 0 then */
} PlotScale;

/* A scale with a little room at its ends. Of one value, or of none that is a number, it is one around that value or 0. */
PlotScale plot_scale(double low, double high, int from, int to);
/* From low > 0 to high, their logarithms evenly; the values lie exactly at the ends. */
PlotScale plot_scale_log(double low, double high, int from, int to);

/* Where a value lies, rounded; what is outside lies at the nearer end. */
int plot_place(const PlotScale *scale, double value);

#define PLOT_TICKS_MAX 12

typedef struct {
	double value;
	char label[32];		/* "0.25", "1500": no digit more than the step needs */
} PlotTick;

/*
 * Ticks of a linear scale at whole multiples of 1, 2 or 5 times a power of
 * ten, about `wanted` (2 to 8) of them. Returns how many.
 */
guint plot_ticks(const PlotScale *scale, guint wanted, PlotTick ticks[PLOT_TICKS_MAX]);
