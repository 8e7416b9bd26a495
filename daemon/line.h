/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The jobs that have not ended, in memory: what the queue decides by. The
 * database remains the truth; a job is read again when it is marked, and new
 * ones when the line is refreshed, so that a decision reads nothing else.
 */
#pragma once

#include "daemon/dispatch.h"

typedef struct Line Line;

Line *line_new(const char *benchmarks_dir);
void line_free(Line *line);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Line, line_free)

/* The job changed in the database, or will have by the next refresh. */
void line_mark(Line *line, gint64 job);

/* Reads the marked jobs, the new ones, and what submitters have used. On failure the marks stay. */
gboolean line_refresh(Line *line, Db *db, gint64 now_ns, GError **error);

/* In the order of their turns, of LineJob; the line's, until it is refreshed. */
const GPtrArray *line_jobs(Line *line, JobState state);

/* What a job with that spec needs, before it has been anywhere; the line's, for good. */
Need *line_need(Line *line, const JobSpec *spec);

LineJob *line_find(Line *line, gint64 job);	/* NULL: not there, or ended; the line's, until it is refreshed */
