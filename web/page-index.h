/* SPDX-License-Identifier: GPL-2.0-or-later */
/* /: what runs, what waits, what came out lately, and how to submit. */
#pragma once

#include "db/store.h"

typedef struct {
	const StoreJob *job;
	const char *summary;	/* the result's sentence; NULL or empty: no result */
} IndexRow;

typedef struct {
	const GArray *running;	/* of IndexRow: building, waiting for a host, measuring */
	const GArray *queued;	/* of IndexRow, the next first */
	const GArray *recent;	/* of IndexRow, final, the newest first */
	const char *url;	/* of the lab, no slash at its end */
	const char *const *trees;	/* names, the default first, NULL-terminated */
	const char *const *benchmarks;	/* names, NULL-terminated */
	const char *const *troubles;	/* sentences: what keeps the lab from its work; NULL-terminated, or NULL */
	gint64 now_ns;
} IndexView;

char *page_index(const IndexView *view, gsize *ret_size);	/* the caller's */
