/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the stages of a job have in common: the run directory and its lock,
 * the event log, the log for people, progress, how a stage ends and how it is
 * stopped. The files are described in ARCHITECTURE.md, "The run directory".
 *
 * How a stage is written:
 *
 *	int stage_measure(StageContext *stage)
 *	{
 *		gboolean ok = first_step(stage) && second_step(stage);
 *		return stage_finish(stage, ok, "done", "compared");
 *	}
 *
 * A step that cannot go on calls stage_fail() or stage_fail_error() and
 * returns FALSE; the first failure is kept and becomes the 'end' event.
 */
#pragma once

#include <json-glib/json-glib.h>

#include "jobs/child.h"
#include "jobs/guard.h"
#include "jobs/sandbox.h"
#include "jobs/spec/cpus.h"
#include "jobs/spec/event.h"
#include "jobs/spec/place.h"
#include "jobs/spec/spec.h"

#define STAGE_EXIT_ENDED	0	/* an 'end' event says how */
#define STAGE_EXIT_USAGE	64
#define STAGE_EXIT_HOST		69	/* a 'host-down' event says why the host cannot be used now; started again it goes on */
#define STAGE_EXIT_BROKEN	70	/* no 'end' could be written: run directory unreadable, disk full */
#define STAGE_EXIT_LOCKED	75	/* another stage works in the directory */
#define STAGE_EXIT_STOPPED	143	/* told to stop; started again it goes on */

#define STAGE_LOG_MAX_BYTES	(64 * 1024 * 1024)	/* of DIR/log; what comes after is counted, not kept */

typedef struct StageLog StageLog;
typedef struct StageFailure StageFailure;

typedef struct {
	const char *name;	/* build or measure */
	char *dir;		/* the run directory, absolute */
	char *artifacts;	/* DIR/artifacts, exists */
	JobSpec *spec;
	JobPlace *place;
	EventLog *events;
	int stop_fd;		/* readable once SIGTERM or SIGINT came; for poll, never read it */
	Guard *guard;		/* over calls that may never come back; NULL: none */
	gboolean ended;		/* events.jsonl says that this stage has ended before: there is nothing to do */

	/* stage.c's own */
	int lock_fd;
	StageLog *log;
	StageFailure *failure;
	Sandbox *sandbox;	/* NULL: no program was run yet */
	char *step;
	gint64 progress_ns;	/* CLOCK_MONOTONIC of the last progress event */
	gboolean stopped;
	gboolean interrupted;	/* a program was killed by somebody: the stage ends without an end, and is started again */
	gint64 more_boots;	/* of the last more event */
} StageContext;

/*
 * One stage in one directory: asks to be told (SIGTERM) when the parent dies,
 * takes the lock, reads spec and place, opens the logs. On failure *ret_exit
 * is the exit status that says so. The lock is held until stage_close().
 */
gboolean stage_open(const char *name, const char *dir, StageContext **ret_stage, int *ret_exit, GError **error);
void stage_close(StageContext *stage);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(StageContext, stage_close)

/*
 * TRUE once SIGTERM or SIGINT came. A stage then lets go of what would outlive
 * it (domains) and returns; STAGE_STOP_S after the signal it is ended anyway,
 * with its programs.
 */
#define STAGE_STOP_S 8
gboolean stage_stopping(StageContext *stage);

/* ---- the log for people (DIR/log) ---- */

void stage_log(StageContext *stage, const char *format, ...) G_GNUC_PRINTF(2, 3);	/* one line; the newline is added */
void stage_log_bytes(StageContext *stage, const char *data, gsize size);		/* as they are, but for control characters */

/* ---- events ---- */

/* Appends an event (members: transfer full). FALSE: stage_fail() was called (the disk is full, say). */
gboolean stage_event(StageContext *stage, const char *type, JsonObject *members, gboolean durable);

/*
 * A 'progress' event, at most one a second unless the step changed. total 0:
 * unknown; eta_s -1: unknown.
 */
void stage_progress(StageContext *stage, const char *step, gint64 done, gint64 total, gint64 eta_s);

/* ---- the end ---- */

/*
 * Keeps why the stage ends: state and reason as in the 'end' event, arm
 * "base", "patched" or "", detail (transfer full) may be NULL. The first call
 * counts. Always returns FALSE.
 */
gboolean stage_fail(StageContext *stage, const char *state, const char *reason, const char *arm, JsonObject *detail,
		    const char *format, ...) G_GNUC_PRINTF(6, 7);

/*
 * The same for an error of the lab's own (infra-failed, with the reason
 * given; "sandbox" for CHILD_ERROR_SANDBOX). Takes the error. CHILD_ERROR_STOPPED is no failure: the stage is
 * stopping, and goes on when started again.
 */
gboolean stage_fail_error(StageContext *stage, const char *reason, GError *error);

/*
 * The same if it is the host that cannot be used now: the job has not ended,
 * it waits for the host, or moves to another.
 */
gboolean stage_host_down(StageContext *stage, const char *format, ...) G_GNUC_PRINTF(2, 3);

/*
 * Writes the 'end' event (durable): state and message if ok, else the failure
 * kept ('host-down' if that is what it was); nothing if the stage was stopped, or one of its programs killed,
 * or a disk is full (neither proves anything about a patch). Returns the exit status of the
 * process. If the directory has a final end already nothing is written.
 */
int stage_finish(StageContext *stage, gboolean ok, const char *state, const char *message);

/* ---- programs ---- */

/*
 * sandbox_run() with the command line and all output in the log and the
 * stage's stop_fd. Every program a stage runs goes through here, and none
 * runs outside of the sandbox.
 */
gboolean stage_run(StageContext *stage, const ChildSpec *spec, const SandboxView *view, ChildResult *ret_result,
		   GError **error);

/* The sandbox of this stage, set up when it is asked for first. NULL: CHILD_ERROR_SANDBOX. */
Sandbox *stage_sandbox(StageContext *stage, GError **error);

/* ---- the stages ---- */

int stage_build(StageContext *stage);	/* jobs/build.c: source, both kernels; ends "built" */
int stage_measure(StageContext *stage);	/* jobs/measure.c: boots, samples, result; ends "done" */
