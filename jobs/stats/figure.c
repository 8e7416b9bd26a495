/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "jobs/stats/figure.h"

#include <math.h>

static void append(GString *out, const char *format, double value)
{
	char buffer[64]; /* the formats used keep the longest number far below */

	g_string_append(out, g_ascii_formatd(buffer, sizeof buffer, format, value));
}

void stats_append_figure(GString *out, double value)
{
	static const struct {
		double size;
		char letter;
	} large[] = { { 1e15, 'P' }, { 1e12, 'T' }, { 1e9, 'G' }, { 1e6, 'M' } };
	double size = fabs(value);

	if (isnan(value)) {
		g_string_append_c(out, '-');
		return;
	}
	for (gsize i = 0; i < G_N_ELEMENTS(large); i++)
		if (size >= large[i].size * 9.9995 && size < 1e18) {
			append(out, "%.4g", value / large[i].size);
			g_string_append_c(out, large[i].letter);
			return;
		}
	append(out, size >= 9999.5 && size < 1e8 ? "%.0f" : size >= 1e-3 && size < 1e18 ? "%.4g" : "%.3g", value);
}

void stats_append_percent(GString *out, double percent)
{
	double size = fabs(percent);

	if (isnan(percent)) {
		g_string_append_c(out, '-');
	} else if (percent > 9999) {
		g_string_append(out, ">9999%");
	} else if (size < .005) {
		g_string_append(out, "0.00%");
	} else {
		append(out, size < 9.995 ? "%+.2f" : size < 99.95 ? "%+.1f" : "%+.0f", percent);
		g_string_append_c(out, '%');
	}
}

void stats_append_share(GString *out, double percent)
{
	double size = fabs(percent);

	append(out, size >= 99.5 && size < 1e6 ? "%.0f" : "%.2g", size);
	g_string_append(out, " %");
}
