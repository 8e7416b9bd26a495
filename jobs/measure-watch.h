/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How long a guest may take. Pure; times are int64 nanoseconds of one
 * monotonic clock, wall time.
 *
 * Until hello a guest has place.boot_timeout_s. Between two lines it has
 * place.silence_timeout_s, but not within a run: init says nothing while a
 * benchmark is at work. A run has its benchmark's timeout_s and
 * place.silence_timeout_s more; under icount, where wall time is only the
 * means, WATCH_ICOUNT_SLACK times its timeout_s. init itself ends a run at its
 * time by the guest's clock (guest_run_timeout_s()), so this is for guests
 * whose init no longer works. All together a boot has the sum of these.
 */
#pragma once

#include "jobs/guest-plan.h"
#include "jobs/spec/clock.h"
#include "jobs/spec/place.h"

#define WATCH_ICOUNT_SLACK	2	/* for machines that emulate half as fast as GUEST_ICOUNT_COST has it */

typedef struct {
	gint64 boot_ns, silence_ns, total_ns;
	int run_slack;
} WatchLimits;

WatchLimits watch_limits(const JobPlace *place, const GuestPlan *plan, JobClock clock);

typedef struct {
	WatchLimits limits;
	gint64 start_ns;	/* of the boot */
	gint64 line_ns;		/* the last line came */
	gint64 run_end_ns;	/* the current run's deadline; 0: no run */
	gboolean hello;
} Watch;

void watch_init(Watch *watch, const WatchLimits *limits, gint64 now_ns);
void watch_line(Watch *watch, gint64 now_ns);				/* a line came, the first being hello */
void watch_run(Watch *watch, int timeout_s, gint64 now_ns);		/* a run starts */
void watch_run_end(Watch *watch);

/*
 * NULL, and *ret_next_ns is when to ask again; or why the boot is over:
 * "no-hello", "silent" (nothing came for longer than the silence allowed), or
 * "deadline" (lines came, but a run or the boot takes too long).
 */
const char *watch_expired(const Watch *watch, gint64 now_ns, gint64 *ret_next_ns);
