/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kernel's counters around each run, as the guest tells them: kept in
 * artifacts/boot-K-counters.csv, and compared when the result is told.
 */
#pragma once

#include "jobs/guest.h"
#include "jobs/stage.h"

#define MEASURE_COUNTERS_BYTES	(1024 * 1024)	/* of a boot; of one that has more, none are kept */

/*
 * Appends a line "benchmark,params,run,counter,before,after". A name that is
 * not made of letters, digits, '_', '.' and '-' is no counter of a kernel's.
 */
void measure_counters_take(GString *lines, const GuestRecord *record);

/* The file of one boot. */
gboolean measure_counters_keep(const StageContext *stage, int boot, const char *lines, GError **error);

/* The event "counters", of the boots that count and have a file; none has: no event. FALSE: the stage has failed. */
gboolean measure_counters_tell(StageContext *stage, double alpha);
