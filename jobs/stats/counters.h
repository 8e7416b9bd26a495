/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Which of the kernel's counters (page faults, scanned pages, …) the patch moved: exploration beside a result, never part
 * of a verdict.
 *
 * A boot gives one number for each benchmark, parameter set and counter: by how much the counter grew over the runs
 * together; one that did not change is 0. Counters may be 0 or fall, so the difference is of the numbers themselves, not
 * of their logarithms: the drift-adjusted fit of trend.h, with the Benjamini-Hochberg procedure over all counters that
 * are not the same in every boot (multiple.h). A counter is selected where its adjusted p is at most alpha; the intervals
 * have the level of Benjamini and Yekutieli (2005).
 *
 * Where a counter repeats exactly within each arm there is no residual, and the exact permutation p takes the place of
 * the t-test's: with few boots and many counters it cannot be selected. Such counters are told all the same, as `exact`:
 * every boot of an arm has the same number, and the arms differ.
 */

#include <glib.h>
#include <json-glib/json-glib.h>

#include "jobs/spec/sample.h"

#define STATS_COUNTERS_TOLD_MAX 40u /* rows of the result; the most certain ones */

typedef struct StatsCounters StatsCounters;

StatsCounters *stats_counters_new(void);
void stats_counters_free(StatsCounters *counters);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(StatsCounters, stats_counters_free)

/* A boot, in the order of their start; what is added afterwards is of this one. */
void stats_counters_add_boot(StatsCounters *counters, SampleArm arm, gint64 start_ns);

guint stats_counters_boots(const StatsCounters *counters);

/* By how much a counter grew in one run; more of the same are summed. */
void stats_counters_add(StatsCounters *counters, const char *benchmark, const char *params, const char *counter, gint64 growth);

/* {"boots": {base, patched}, "alpha", "tested": how many counters, "selected": how many of them, "rows": array of
 * {benchmark, params, counter, base, patched, difference, low, high, p, p_bh, exact}}: means of an arm's boots a boot;
 * the interval of the difference, null where there is none. The caller's. */
JsonObject *stats_counters_analyse(const StatsCounters *counters, double alpha);
