/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <json-glib/json-glib.h>

/* What git bisect run understands. Above 127 it stops, and nothing is marked. */
typedef enum {
	BISECT_GOOD = 0,
	BISECT_BAD = 1,
	BISECT_SKIP = 125,	/* this commit cannot be judged */
	BISECT_STOP = 255,	/* what went wrong is not the commit's */
} BisectExit;

/*
 * What a job that compared the good end with a commit says of that commit;
 * result NULL: it ended without one. Bad: a primary comparison is a
 * regression of threshold_pct or more. Skip: the commit does not build or
 * boot, or a comparison did not decide. *ret_why, a sentence, is the caller's.
 */
BisectExit bisect_run_judge(JsonObject *job, JsonObject *result, double threshold_pct, char **ret_why);

/* The commit of the first "# good: [HASH] subject" line of git bisect log; NULL: none. The caller's. */
char *bisect_run_good(const char *log);
