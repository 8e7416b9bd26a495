/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* A result as plain text of at most STATS_TEXT_WIDTH columns: tables to paste into a changelog first, then what they
 * measure, then the reasons. UTF-8. The caller frees. */

#include "jobs/stats/figure.h"
#include "jobs/stats/result.h"

#define STATS_TEXT_WIDTH 78

char *stats_result_to_text(const StatsResult *result);

/* Its beginning alone: the tables of primary comparisons, and what they measure. */
char *stats_result_table_text(const StatsResult *result);
