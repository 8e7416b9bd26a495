/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Everything that the page and the plain-text report of a job are made of.
 * Nothing in it is owned: it only has to live as long as the call.
 */
#pragma once

#include "db/store-replicas.h"
#include "jobs/stats/result.h"

typedef struct {
	const StoreJob *job;
	const GPtrArray *boots;		/* of StoreBoot, in boot order; NULL: none yet */
	const StatsResult *result;	/* NULL: none yet */
	JsonArray *host_warnings;	/* of the result; NULL: none */
	const StoreReplicas *replicas;	/* NULL: measured on one host only */
	const char *const *artifacts;	/* names under artifacts/, sorted, NULL-terminated; NULL: none */
	const char *url;		/* of the lab, no slash at its end: "http://lab.example.org:8642" */
	gboolean open;			/* who asks may change everything, and so may press buttons */
	const char *tree_url;		/* where anybody can look at its tree; empty: nowhere */
	GBytes *configs[2];		/* base, patched; NULL: they are the same, or not kept */
	JsonObject *counters;		/* the counters event; NULL: none */
	const GPtrArray *looks;		/* of JsonObject: the look events, the first one first; NULL: none */
	const char *log_tail;		/* whole lines, any bytes; NULL: not asked for */
	int queue_position;		/* 1: the next to be built or measured; 0: not waiting */
	gint64 now_ns;
} JobView;
