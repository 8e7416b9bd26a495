/* SPDX-License-Identifier: GPL-2.0-or-later */
/* /jobs: jobs that are looked for. */
#pragma once

#include "db/store.h"

typedef struct {
	const GPtrArray *briefs;	/* of StoreBrief, the newest first */
	const StoreFilter *filter;	/* that they were found by */
	gint64 cursor;			/* for those after them; 0: there are no more */
	const char *const *trees;	/* names, NULL-terminated */
	const char *const *benchmarks;	/* likewise */
} JobsView;

char *page_jobs(const JobsView *view, gsize *ret_size);	/* the caller's */
