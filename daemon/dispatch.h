/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which waiting job goes to which host. Pure: no clock, database or process.
 *
 * Jobs are taken in the order of their turns, and each gets, of the hosts that
 * fit and have room, the one with the fewest labels (special hosts are kept
 * for who needs them), then the one with the least work. A job that finds
 * room nowhere does not hold up those behind it, but one exception keeps it
 * from waiting for ever: where a host has a free place and not enough free
 * memory for it, that host takes nobody else until the job has had its turn.
 *
 * Work: jobs that need the same are asked for once (need.h), so a pass costs
 * jobs + kinds of needs * hosts.
 */
#pragma once

#include "daemon/need.h"
#include "db/store.h"

#define DISPATCH_OVERHEAD_MIB 256	/* of QEMU beside its guest's memory */

/* A job that is waiting or at work: line.h keeps them. */
typedef struct {
	gint64 id;
	JobState state;
	gboolean cancel_asked;
	gint64 created_ns;
	JobSpec *spec;
	char *host;		/* where it is or was measured; empty: nowhere yet */
	char *submitter;
	Need *need;		/* what dispatch() goes by */
	Need *anywhere, *home;	/* that it needs before it has boots, and while it waits for the host that it has boots on (NULL: it has none) */
	JobClock clock;		/* of its boots; auto: not known yet */
	char *spec_text;	/* the spec as the database has it: line.c's own */
	int position;		/* in its line, counted from 1 */
	gint64 due_ns;		/* turns.h */
	gboolean over;		/* its submitter's machine time is used: it has to wait */
} LineJob;

typedef struct {
	const char *name;
	char **labels;
	int slots;		/* comparisons at once */
	int memory_mib;		/* 0: not known, everything fits */
	gboolean kvm;		/* guests run on it, and may be larger */
	gboolean usable;	/* up, not drained */
	gboolean disturbed;	/* a build runs beside: only what counts instructions may start */

	int used;		/* slots; dispatch() counts on */
	int memory_used_mib;
	gboolean held;		/* dispatch()'s own */
} DispatchHost;

/* The host could run it if it were up and idle. */
gboolean dispatch_fits(const Need *need, const DispatchHost *host);

/* The names of count hosts for the same comparison: those that fit, the usable ones first, then as dispatch() chooses. NULL: there
 * are fewer. Ends with NULL; the caller's. */
char **dispatch_spread(const Need *need, const GPtrArray *hosts, guint count);

/* What a job takes of a host's memory. */
int dispatch_memory_mib(const Need *need, const DispatchHost *host);

typedef void (*DispatchFunc)(LineJob *job, DispatchHost *host, gpointer data);

/*
 * jobs: of LineJob, in the order of their turns; hosts: of DispatchHost. func
 * is told each choice. pass: a number that was not used before, above 0.
 */
void dispatch(const GPtrArray *jobs, const GPtrArray *hosts, guint64 pass, DispatchFunc func, gpointer data);
