/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is wrong with the machine, each with a name: looked at every few
 * seconds, and gone when its cause is. While something is wrong that stages
 * need, none is started, and one that dies is not held against its job.
 */
#pragma once

#include "daemon/lab.h"

#define HEALTH_EVERY_S		5
#define HEALTH_CLOCK_S		5	/* a clock that moved by more was set */
#define HEALTH_CLOCK_NOTE_S	600	/* how long it is said that it went ahead */

typedef struct {
	char *name;		/* database-full, run-directory-readonly, cache-unusable, tmp-full, descriptors-exhausted,
				   clock-behind, clock-ahead, ... */
	char *message;		/* a sentence a person can act on */
	gint64 since_ns;
	gboolean blocks;	/* nothing is started while it lasts */
} Trouble;

/* lab is kept. clock_us: a clock that nobody sets, g_get_monotonic_time() or a test's. */
Health *health_new(Lab *lab, gint64 (*clock_us)(void));
void health_free(Health *health);	/* NULL is fine */

/* Looks now, unless it has just been done. */
void health_look(Health *health);

const GPtrArray *health_troubles(const Health *health);	/* of Trouble, health's, until it looks again */
gboolean health_blocks(Health *health);	/* looks first */
