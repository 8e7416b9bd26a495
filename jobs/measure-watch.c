/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "jobs/measure-watch.h"

#define SECOND_NS	G_GINT64_CONSTANT(1000000000)

static gint64 run_ns(const WatchLimits *limits, int timeout_s)
{
	return timeout_s * SECOND_NS * limits->run_slack + limits->silence_ns;
}

WatchLimits watch_limits(const JobPlace *place, const GuestPlan *plan, JobClock clock)
{
	WatchLimits limits = {
		.boot_ns = place->boot_timeout_s * SECOND_NS,
		.silence_ns = place->silence_timeout_s * SECOND_NS,
		.run_slack = clock == CLOCK_ICOUNT ? WATCH_ICOUNT_SLACK : 1,
	};

	limits.total_ns = limits.boot_ns + limits.silence_ns;
	for (guint i = 0; i < plan->runs->len; i++)
		limits.total_ns += run_ns(&limits, g_array_index(plan->runs, GuestRun, i).set->timeout_s);
	return limits;
}

void watch_init(Watch *watch, const WatchLimits *limits, gint64 now_ns)
{
	*watch = (Watch){ .limits = *limits, .start_ns = now_ns, .line_ns = now_ns };
}

void watch_line(Watch *watch, gint64 now_ns)
{
	watch->hello = TRUE;
	watch->line_ns = now_ns;
}

void watch_run(Watch *watch, int timeout_s, gint64 now_ns)
{
	watch->run_end_ns = now_ns + run_ns(&watch->limits, timeout_s);
}

void watch_run_end(Watch *watch)
{
	watch->run_end_ns = 0;
}

const char *watch_expired(const Watch *watch, gint64 now_ns, gint64 *ret_next_ns)
{
	gint64 total_end = watch->start_ns + watch->limits.total_ns;
	gint64 silence_end = watch->line_ns + watch->limits.silence_ns;
	gint64 boot_end = watch->start_ns + watch->limits.boot_ns;
	gint64 end = !watch->hello ? boot_end : watch->run_end_ns ? watch->run_end_ns : silence_end;

	*ret_next_ns = MIN(end, total_end);
	if (now_ns < *ret_next_ns)
		return NULL;
	if (!watch->hello)
		return "no-hello";
	return now_ns >= silence_end ? "silent" : "deadline";
}
