/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A table of jobs, a row each with its answer: for /, /jobs, and wherever jobs are listed. */
#pragma once

#include "db/store.h"
#include "web/html.h"

/* <a href="/jobs/N">its subject</a> */
void job_list_link(Html *html, gint64 id, const char *subject);

/* of StoreBrief */
void job_list_table(Html *html, const GPtrArray *briefs);
