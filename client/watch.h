/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How a job gets on: a bar on a terminal, a line at least every three seconds elsewhere. */
#pragma once

#include "client/remote.h"

/*
 * Until the job ends. Returns the exit status: 0 done, EXIT_JOB_FAILED ended
 * without a verdict, EXIT_TROUBLE if the lab does not answer for a minute.
 */
int watch_job(const char *name, Remote *remote, gint64 job);

/*
 * What a job is at, for one line of a width in columns (0: as long as it is)
 * without its end: "job 7: measuring [#####.....] boot 3 of 8, 2 of 8 boots, about 4 min 10 s left".
 * The caller's.
 */
char *progress_line(JsonObject *job, guint width);
