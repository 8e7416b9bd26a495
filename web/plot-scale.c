/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "web/plot-scale.h"

#include <math.h>

#define ROOM .06	/* of the span, at each end */
#define SLACK 1e-9	/* what a difference of two values may be off */
#define DIGITS_MAX 6	/* zeros before or behind the point that a label may have */

PlotScale plot_scale(double low, double high, int from, int to)
{
	double span = high - low;

	if (!isfinite(low) || !isfinite(high) || !isfinite(span)) {
		low = high = isfinite(low) ? low : isfinite(high) ? high : 0;
		span = 0;
	}
	if (span <= fabs(low) * 1e-12)
		span = low != 0 ? fabs(low) / 2 : 1;
	return (PlotScale){ .low = low - span * ROOM, .high = MAX(high, low) + span * ROOM, .from = from, .to = to };
}

PlotScale plot_scale_log(double low, double high, int from, int to)
{
	return (PlotScale){ .low = low, .high = high > low ? high : low * 2, .from = from, .to = to, .logarithmic = TRUE };
}

int plot_place(const PlotScale *scale, double value)
{
	double share;

	if (scale->logarithmic)
		share = value > 0 ? log(value / scale->low) / log(scale->high / scale->low) : 0;
	else
		share = (value - scale->low) / (scale->high - scale->low);
	return scale->from + (int)lround(CLAMP(share, 0, 1) * (scale->to - scale->from));
}

static double power_of_ten(int exponent)
{
	double power = 1;

	for (int i = ABS(exponent); i > 0; i--)
		power *= 10;
	return power;
}

/* multiple · 10^exponent, exactly as written: no digit of a sum's error. */
static void label(PlotTick *tick, gint64 multiple, int exponent)
{
	gint64 size = ABS(multiple), unit = 1;
	const char *sign = multiple < 0 ? "-" : "";

	if (multiple == 0)
		g_snprintf(tick->label, sizeof(tick->label), "0");
	else if (exponent < -DIGITS_MAX || exponent > DIGITS_MAX)
		g_snprintf(tick->label, sizeof(tick->label), "%s%" G_GINT64_FORMAT "e%d", sign, size, exponent);
	else if (exponent >= 0)
		g_snprintf(tick->label, sizeof(tick->label), "%s%" G_GINT64_FORMAT "%.*s", sign, size, exponent, "000000");
	else {
		for (int i = exponent; i < 0; i++)
			unit *= 10;
		g_snprintf(tick->label, sizeof(tick->label), "%s%" G_GINT64_FORMAT ".%0*" G_GINT64_FORMAT, sign, size / unit,
			   -exponent, size % unit);
	}
}

guint plot_ticks(const PlotScale *scale, guint wanted, PlotTick ticks[PLOT_TICKS_MAX])
{
	double raw = (scale->high - scale->low) / wanted;
	int exponent = (int)floor(log10(raw));
	double lead = exponent < 0 ? raw * power_of_ten(exponent) : raw / power_of_ten(exponent);
	gint64 base = lead <= 1 + SLACK ? 1 : lead <= 2 + SLACK ? 2 : lead <= 5 + SLACK ? 5 : 10;
	double step = exponent < 0 ? (double)base / power_of_ten(exponent) : (double)base * power_of_ten(exponent);
	double first = ceil(scale->low / step), last = floor(scale->high / step);
	guint count = 0;

	if (base == 10) {
		base = 1;
		exponent++;
	}
	/* where doubles no longer tell neighbours apart there is nothing to write */
	if (!isfinite(first) || fabs(first) > 1e12 || fabs(last) > 1e12)
		return 0;
	for (gint64 i = (gint64)first; i <= (gint64)last && count < PLOT_TICKS_MAX; i++) {
		ticks[count].value = (double)i * step;
		label(&ticks[count++], i * base, exponent);
	}
	return count;
}
