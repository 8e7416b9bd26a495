/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Takes what a stage wrote into the database: events behind the last one
 * stored, each boot with its samples, in one transaction a call. Called
 * twice, the second call changes nothing.
 */
#pragma once

#include "db/store.h"

#define INGEST_MAX_EVENTS	256	/* a call */
#define INGEST_MAX_SAMPLES	200000	/* a boot */

typedef struct {
	int events;		/* taken in by this call */
	gboolean moved;		/* one of them was more than progress */
	gboolean ended;		/* the stage said how it ended */
	char *host_down;	/* it ended because its host cannot be used now: why. The caller's; NULL: it did not */
} IngestOutcome;

/*
 * An error of domain DB_ERROR is the lab's own trouble, and may pass. Any
 * other says that the run directory is not what ARCHITECTURE.md promises.
 */
gboolean ingest_job(Db *db, gint64 job, const char *dir, gint64 now_ns, IngestOutcome *ret_outcome, GError **error);
