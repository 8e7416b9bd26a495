/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* A result as plain text of at most STATS_TEXT_WIDTH columns: tables to paste into a changelog first, then what they
 * measure, then the reasons. UTF-8. The caller frees. */

#include "jobs/stats/result.h"

#define STATS_TEXT_WIDTH 78

char *stats_result_to_text(const StatsResult *result);

/* Appends a figure with four significant digits and no exponent where it is of ordinary size; NaN is "-". What the
 * tables use, for pages that want to agree with them. */
void stats_append_figure(GString *out, double value);
/* Appends a percentage with its sign: "-17.9%", "+0.02%"; NaN is "-". */
void stats_append_percent(GString *out, double percent);
