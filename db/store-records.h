/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the files of the store share: a row of table job as a record. */
#pragma once

#include "db/stmt.h"
#include "db/store.h"

#define JOB_COLUMNS \
	"job.id, job.state, job.spec, job.reason, job.message, job.failed_arm, job.host, job.cancel_asked," \
	" job.created_ns, job.started_ns, job.finished_ns, job.last_seq, job.submitter"

/* The row that stmt stands on (JOB_COLUMNS first), with its documents and boot counts; NULL on error. */
StoreJob *store_job_from_row(Db *db, DbStmt *stmt, GError **error);

/* All rows of stmt. */
gboolean store_jobs_from_rows(Db *db, DbStmt *stmt, GPtrArray **ret_jobs, GError **error);
