/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* The control arm: boots of the base kernel more, compared with the base as if they were the patched kernel. A change that
 * this finds is a false alarm, and says how far the host can be trusted. It is no part of the job's own result.
 *
 * Control boots are made in the first pairs, which every job completes before its first look: which boots are compared does
 * not depend on what any of them measured. All pairs up to the last with a control boot are looked at once, by the fixed
 * rule.
 */

#include "jobs/stats/analysis.h"

/* Whether there are samples of a control arm. */
gboolean stats_has_control(const SampleTable *table);

/* As stats_analyse(), with the control arm in the place of `patched`; rule and max_boots of the options do not count. */
StatsResult *stats_analyse_control(const SampleTable *table, const StatsOptions *options, GError **error);
