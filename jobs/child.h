/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Runs one program and waits for it. Stages run git, make and the like
 * through stage_run() (jobs/stage.h), which logs what was run and is the one
 * place where a program can be wrapped in another.
 *
 * The program runs in a process group of its own under a small warden
 * process: the whole group is killed (SIGTERM, two seconds later SIGKILL) at
 * the deadline, when the stage is told to stop, and when the stage itself
 * dies, however it dies. The group is also killed when the program has ended,
 * so nothing it left behind goes on; what left the group is waited for, two
 * seconds at most.
 */
#pragma once

#include <sys/types.h>

#include <glib.h>

#define CHILD_ERROR (child_error_quark())
GQuark child_error_quark(void);

typedef enum {
	CHILD_ERROR_START,	/* not found, not executable, no descriptors */
	CHILD_ERROR_TIMEOUT,	/* killed at its deadline */
	CHILD_ERROR_STOPPED,	/* killed because stop_fd became readable */
	CHILD_ERROR_FAILED,	/* child_check(): it exited with something else than 0 */
	CHILD_ERROR_LIMIT,	/* killed for what it used: the message says what */
	CHILD_ERROR_KILLED,	/* by somebody else: what it says, or does not say, means nothing */
	CHILD_ERROR_SANDBOX,	/* not run: its sandbox could not be set up */
} ChildError;

#define CHILD_OUTPUT_BYTES	(1024 * 1024)	/* kept of stdout unless the spec says otherwise */
#define CHILD_ERRORS_BYTES	(64 * 1024)	/* kept of stderr: the first bytes */

/* Called with output as it comes; is_error: from stderr. data is not terminated. */
typedef void (*ChildSink)(const char *data, gsize size, gboolean is_error, gpointer user);

/*
 * Looks at what a running program uses, twice a second: pid is the process
 * that it descends from. NULL: it may go on; else why not (the caller's), as in
 * "it used more than 5 MiB of memory".
 */
typedef char *(*ChildWatch)(pid_t pid, gpointer user);
#define CHILD_WATCH_MS 500

/* What to run; borrowed by child_run(). Zero is a good value for every member but argv. */
typedef struct {
	const char *const *argv;	/* NULL-terminated; argv[0] is looked up in PATH below */
	const char *name;		/* in messages; NULL: argv[0] */
	const char *cwd;		/* NULL: / */
	const char *const *env;		/* "NAME=value", NULL-terminated: besides PATH, HOME=/nonexistent, LC_ALL=C, TZ=UTC */
	const char *input;		/* stdin; NULL: /dev/null */
	gsize input_bytes;
	gint64 timeout_ms;		/* 0: none */
	const char *cpus;		/* "0-1,3"; NULL or empty: those of the caller */
	int nice;			/* added to the caller's */
	int stop_fd;			/* readable: kill and return; 0: none */
	gsize max_output_bytes;		/* of stdout kept in the result; 0: CHILD_OUTPUT_BYTES */
	gsize max_stream_bytes;		/* of both streams together, then it is killed; 0: any number */
	int keep_fd;			/* the program gets this descriptor as well, under its number; 0: none */
	ChildWatch watch;		/* may be NULL */
	gpointer watch_data;
	ChildSink sink;			/* gets everything, also what is not kept; may be NULL */
	gpointer sink_data;
} ChildSpec;

typedef struct {
	int status;		/* exit code, or 128 + signal */
	char *output;		/* stdout, 0-terminated */
	gsize output_bytes;
	gboolean output_cut;	/* there was more of it than max_output_bytes */
	char *errors;		/* stderr, its first CHILD_ERRORS_BYTES, 0-terminated */
	gint64 run_ms;
} ChildResult;

#define CHILD_PATH "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

void child_result_clear(ChildResult *result);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(ChildResult, child_result_clear)

/*
 * TRUE: it ran and ended by itself; ret_result says how (clear it). FALSE:
 * START, TIMEOUT or STOPPED. To be called from a thread that lives as long as
 * the call. Signal handlers and other threads of the caller do not matter.
 */
gboolean child_run(const ChildSpec *spec, ChildResult *ret_result, GError **error);

/* An exit status other than 0 as an error (FAILED) that quotes the last line of stderr. */
gboolean child_check(const ChildSpec *spec, const ChildResult *result, GError **error);
