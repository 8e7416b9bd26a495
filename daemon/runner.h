/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One stage of one job: makes the run directory, starts the program, takes in
 * its events while it runs, and sees to it that the job goes on or ends. A
 * stage that ends without saying how is started again, RUNNER_MAX_CRASHES
 * times without progress, and then the job is infra-failed.
 */
#pragma once

#include "daemon/lab.h"

#define RUNNER_POLL_MS		200
#define RUNNER_KILL_AFTER_MS	10000	/* from SIGTERM to SIGKILL; a stage lets go of its machines in 8 s */
#define RUNNER_MAX_CRASHES	3	/* in a row, without an event but progress */
#define RUNNER_MAX_STARTS	20	/* of one stage, in one life of the daemon */

typedef enum { STAGE_BUILD, STAGE_MEASURE } Stage;

typedef struct Runner Runner;

typedef enum {
	RUNNER_CHANGED,		/* the job is not what it was: an event came in */
	RUNNER_CRASHED,		/* the stage ended without saying how */
	RUNNER_STARTED,		/* the stage's program was started */
	RUNNER_HOST_DOWN,	/* the host cannot be used now: runner_host_trouble() says why */
	RUNNER_DONE,		/* nothing more comes; to be freed by the one who is told */
} RunnerNews;

typedef void (*RunnerFunc)(Runner *runner, RunnerNews news, gpointer data);

/* The job is in its state already. host NULL: the build stage. Nothing is told before the main loop runs. */
Runner *runner_new(Lab *lab, gint64 job, Stage stage, const ConfigHost *host, RunnerFunc func, gpointer data);
void runner_set_slot(Runner *runner, int slot);	/* which of the host's comparisons at once it is; before the main loop runs */
void runner_free(Runner *runner);	/* kills what still runs; NULL is fine */

void runner_cancel(Runner *runner);	/* the job ends as cancelled */
void runner_stop(Runner *runner);	/* the job stays as it is, to be resumed */

gint64 runner_job(const Runner *runner);
const char *runner_host_trouble(const Runner *runner);	/* NULL: there was none */
