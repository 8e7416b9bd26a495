/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* The result in one sentence: "aging is 18 % slower with nproc=8; pwrite unchanged within ±0.4 %". Page, report and
 * mail all use this one. */

#include "jobs/stats/result.h"

char *stats_sentence(const StatsResult *result); /* the caller frees */
