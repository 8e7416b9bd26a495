/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whose turn it is: the order of those who wait for the same thing. Pure.
 *
 * Each job gets a time at which it is due, and the earliest goes first:
 *
 *     submitted / TURN_AGEING + machine time that its submitter used in 24 hours
 *         + TURN_JOB_NS for each of the submitter's jobs that runs or goes before it
 *         + TURN_LEVEL_NS / TURN_AGEING for each level of priority below 0
 *
 * So who has had much waits behind who has had little, and a hundred jobs of
 * one do not keep the first of another waiting. But TURN_AGEING hours of
 * waiting make up for one hour of machine time, so that a job can be overtaken
 * only by what is submitted until TURN_AGEING times the rest of its sum is
 * over: none starves. Of one submitter's jobs, a level of priority is worth
 * TURN_LEVEL_NS of age. A priority above 0 thus orders one's own jobs and puts
 * nobody before others, one below 0 lets others go first.
 *
 * (Start-time fair queueing: Goyal, Vin, Cheng, SIGCOMM 1996; the virtual
 * clock is the time of day, slowed down.)
 */
#pragma once

#include "daemon/dispatch.h"

#define TURN_MINUTE_NS	(G_GINT64_CONSTANT(60) * 1000000000)
#define TURN_JOB_NS	(30 * TURN_MINUTE_NS)	/* what a job is taken to cost before it is known */
#define TURN_LEVEL_NS	(60 * TURN_MINUTE_NS)
#define TURN_AGEING	4

/* A submitter. */
typedef struct {
	gint64 used_ns;		/* machine time in 24 hours */
	gint64 limit_ns;	/* of it; 0: none */
	int running;		/* jobs at work */
} TurnShare;

/*
 * Sorts jobs (of LineJob) and sets .over: the submitter's machine time is
 * used, which puts them behind all others. shares: submitter -> TurnShare;
 * who is not there has used nothing.
 */
void turns_sort(GPtrArray *jobs, GHashTable *shares);
