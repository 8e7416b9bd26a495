/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is to be swept: STATE/sweep/order.json, written by the daemon from its
 * configuration and database, read by `regrlab-job sweep`. The job numbers
 * are all there is to say who owns what: they are never given twice.
 */
#pragma once

#include <json-glib/json-glib.h>

#include "jobs/spec/error.h"

/* Each rule: 0 is no limit. What was used within grace_s stays in any case. */
typedef struct {
	int days;	/* since it was last used */
	int max_mib;	/* all together; the longest unused go first */
} SweepRule;

typedef struct {
	char *state_dir, *cache_dir, *job_program;
	char **hosts;		/* libvirt URIs */
	gint64 last_job;	/* run directories above it are nobody's */
	char **live;		/* numbers of jobs that have not ended */
	char **kernels;		/* paths of their kernels */
	int daemon_pid;		/* 0: no daemon runs */
	int grace_s;
	SweepRule logs, artifacts, kernels_kept, worktrees;
	gboolean dry_run;	/* say it, do nothing */
} SweepOrder;

SweepOrder *sweep_order_new(void);
void sweep_order_free(SweepOrder *order);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(SweepOrder, sweep_order_free)

gboolean sweep_order_load(const char *path, SweepOrder **ret_order, GError **error);
gboolean sweep_order_save(const SweepOrder *order, const char *path, GError **error);
