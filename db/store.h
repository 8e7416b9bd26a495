/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Every SQL statement of the lab is in db/store*.c, bound, never formatted.
 * Only the daemon uses it; pages get the records below and never a database.
 *
 * Times are int64 nanoseconds of CLOCK_REALTIME; 0 means "not yet".
 * Records and arrays are the caller's; strings in them are never NULL.
 */
#pragma once

#include <json-glib/json-glib.h>

#include "db/db.h"
#include "jobs/spec/sample.h"
#include "jobs/spec/spec.h"

typedef enum {
	JOB_QUEUED,
	JOB_BUILDING,
	JOB_WAITING_FOR_HOST,
	JOB_MEASURING,
	JOB_DONE,		/* from here on: final */
	JOB_APPLY_FAILED,
	JOB_BUILD_FAILED,
	JOB_BOOT_FAILED,
	JOB_INFRA_FAILED,
	JOB_CANCELLED,
} JobState;
#define JOB_N_STATES (JOB_CANCELLED + 1)

const char *job_state_name(JobState state);	/* "waiting-for-host" */
gboolean job_state_from_name(const char *name, JobState *ret_state);
gboolean job_state_is_final(JobState state);

typedef struct {
	gint64 id;
	JobState state;
	JobSpec *spec;
	char *reason;		/* of a final state: short, kebab-case; else empty */
	char *message;		/* a sentence a person can act on; else empty */
	char *failed_arm;	/* base, patched or empty */
	JsonObject *detail;	/* of the end event, NULL if none */
	JsonObject *progress;	/* the last progress event's members, NULL if none */
	JsonObject *source;	/* the source event, NULL before it */
	JsonObject *accelerator;	/* likewise */
	JsonObject *plan;	/* likewise */
	JsonObject *arms[2];	/* base, patched: the arm events */
	char *host;		/* name, or empty */
	gint64 created_ns, started_ns, finished_ns;
	gint64 last_seq;	/* of the last event ingested */
	int boots_valid[2], boots_failed[2];	/* base, patched */
	gboolean cancel_asked;
} StoreJob;

void store_job_free(StoreJob *job);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(StoreJob, store_job_free)

typedef struct {
	int boot, pair;
	char *arm;		/* base or patched */
	char *host, *clock;
	gboolean valid;
	char *reason, *detail;
	gint64 start_ns, end_ns, first_sample_ns;
	JsonObject *hello;	/* NULL if the guest never said it */
} StoreBoot;

void store_boot_free(StoreBoot *boot);
