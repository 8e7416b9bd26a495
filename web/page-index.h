/* SPDX-License-Identifier: GPL-2.0-or-later */
/* /: what runs, what waits and why, what came out lately, the hosts at a glance, and how to submit. */
#pragma once

#include "db/store.h"
#include "web/submit-form.h"

typedef struct {
	const StoreJob *job;
	const char *why;	/* it waits, a sentence; NULL or empty: it does not */
} IndexRow;

typedef struct {
	const char *name;
	const char *state;	/* down, drained, draining, measuring, idle */
	const char *message;	/* why it is down; may be empty */
	gint64 job;		/* what it measures; 0: nothing */
} IndexHost;

typedef struct {
	const GArray *running;	/* of IndexRow: building, measuring */
	const GArray *waiting;	/* of IndexRow: for a host, then queued, the next first */
	gint64 waiting_more;	/* that wait behind them and are not shown */
	const GPtrArray *recent;	/* of StoreBrief, the last to end first */
	const GArray *hosts;	/* of IndexHost */
	SubmitForm submit;
	const char *const *troubles;	/* sentences: what keeps the lab from its work; NULL-terminated, or NULL */
	gint64 now_ns;
} IndexView;

char *page_index(const IndexView *view, gsize *ret_size);	/* the caller's */
