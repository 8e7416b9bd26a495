/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the parts of the daemon share; main.c owns all of it. */
#pragma once

#include <sched.h>

#include "daemon/config.h"
#include "daemon/http.h"
#include "db/store.h"

typedef struct Queue Queue;
typedef struct Access Access;
typedef struct Health Health;
typedef struct Sweeper Sweeper;

typedef struct {
	Config *config;
	Db *db;
	Queue *queue;
	Http *http;
	Access *access;
	Health *health;
	Sweeper *sweeper;
	gint64 (*now_ns)(void);		/* CLOCK_REALTIME, or a test's */
	gint64 start_ns;
	cpu_set_t stage_cpus;		/* where stages may run: all that the daemon might when it started */
	cpu_set_t build_cpus;		/* and those of them that build */
} Lab;

/* Logs one handled error, with the job (0: none) as journal field JOB_ID. */
void lab_log(GLogLevelFlags level, gint64 job, const char *format, ...) G_GNUC_PRINTF(3, 4);

/* The same of a stage of a job's, with STAGE and HOST (NULL: none). */
void lab_log_stage(GLogLevelFlags level, gint64 job, const char *stage, const char *host, const char *format, ...)
	G_GNUC_PRINTF(5, 6);

/* Of the configured trees, the standard one first; NULL-terminated, the caller's. */
char **lab_tree_names(const Lab *lab);

/* STATE/jobs/N; the caller's. */
char *lab_job_dir(const Lab *lab, gint64 job);
