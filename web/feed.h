/* SPDX-License-Identifier: GPL-2.0-or-later */
/* /feed.atom: jobs that ended, as a feed (RFC 4287). */
#pragma once

#include "db/store.h"

typedef struct {
	const GPtrArray *briefs;	/* of StoreBrief, all final, the last to end first */
	const char *url;		/* of the lab, no slash at its end */
	const char *query;		/* that they were asked for with: empty, or "?tree=linux" */
} FeedView;

char *feed_atom(const FeedView *view, gsize *ret_size);	/* the caller's */
