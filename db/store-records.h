/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files of the store share: a row of table job as a record. */
#pragma once

/*
 * The state ?2 of job ?1, but done for an end when it has a result: what ended otherwise is only what was added to it. A
 * literal, so that the statements that use it stay ones.
 */
#define STORE_END_STATE \
	"CASE WHEN ?2 IN ('apply-failed', 'build-failed', 'boot-failed', 'infra-failed', 'cancelled') AND EXISTS" \
	" (SELECT 1 FROM document WHERE job = ?1 AND kind = 'result') THEN 'done' ELSE ?2 END"

#include "db/stmt.h"
#include "db/store.h"

#define JOB_COLUMNS \
	"job.id, job.state, job.spec, job.reason, job.message, job.failed_arm, job.host, job.cancel_asked," \
	" job.created_ns, job.started_ns, job.finished_ns, job.last_seq, job.submitter"

/* The row that stmt stands on (JOB_COLUMNS first), with its documents and boot counts; NULL on error. */
StoreJob *store_job_from_row(Db *db, DbStmt *stmt, GError **error);

/* Makes the job be found by what it now is: in the transaction of every change of its spec, state, commits or result. */
gboolean store_index(Db *db, gint64 job, GError **error);

/* What is being taken in. */
struct StoreIngest {
	Db *db;
	DbTransaction *transaction;
	gint64 job;
	gboolean changed;	/* something that it is found by */
};
