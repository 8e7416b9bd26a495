/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the pictures of changes share; sets are StatsComparisons of one table, percentages are of patched against base. */
#pragma once

#include "jobs/stats/result.h"
#include "web/plot.h"

PlotKind job_change_kind(const StatsComparison *comparison);	/* by its verdict */
gboolean job_has_interval(const StatsComparison *comparison);

/* 0, what does not matter around it, and all changes with their intervals. */
PlotScale job_change_scale(const GPtrArray *sets, double min_effect_pct, int from, int to);

/* All sets with their changes and intervals, for who cannot see them; the caller's. */
char *job_change_words(const GPtrArray *sets);

/*
 * page-job-range.c: over the first parameter with three values or more that
 * are numbers. FALSE, and nothing written: there is none, or too many lines.
 */
gboolean job_range_plot(Html *html, const GPtrArray *sets, double min_effect_pct, const char *id);
