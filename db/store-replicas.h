/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The jobs that measure one comparison on several hosts, and whether these agree. */
#pragma once

#include "db/store.h"
#include "jobs/stats/agreement.h"

typedef struct {
	GPtrArray *jobs;	/* of StoreJob, in the order of their numbers; owned */
	guint results;		/* of them that have one */
	GPtrArray *agreements;	/* of StatsAgreement, owned; empty with fewer than two results */
	char *summary;		/* a sentence */
} StoreReplicas;

/* *ret_replicas is NULL for a job that is measured on one host only. */
gboolean store_replicas(Db *db, const StoreJob *job, StoreReplicas **ret_replicas, GError **error);
void store_replicas_free(StoreReplicas *replicas);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(StoreReplicas, store_replicas_free)
