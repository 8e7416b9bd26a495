/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * reproduce.sh of a job: its facts as shell variables, its files in base64,
 * and after them web/static/reproduce.sh, which is the same for every job.
 * Whatever a stranger wrote is quoted, or is base64.
 */
#pragma once

#include "db/store.h"

typedef struct {
	const StoreJob *job;	/* with its source */
	JsonObject *record;	/* artifacts/guest.json (jobs/measure-record.h) */
	const char *url;	/* of the lab, no slash at its end */
	const char *tree_remote;	/* where its tree can be cloned from; empty: nowhere */
	GBytes *series;		/* mbox of the patches as they were applied; NULL: two commits are compared */
	GBytes *configs[2];	/* base, patched */
} ReproduceView;

char *reproduce_script(const ReproduceView *view, gsize *ret_size);	/* the caller's */
