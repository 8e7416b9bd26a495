/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The sections of /jobs/N, for page-job.c. */
#pragma once

#include "web/html.h"
#include "web/job-view.h"

/* page-job-result.c: the tables of verdicts; of a job with boots added the last word first. */
void job_result_section(Html *html, const StatsResult *result);

/* page-job-failure.c: why there is no verdict, and what to do about it. */
void job_failure_section(Html *html, const JobView *view);

/* page-job-run.c: what was asked, what ran where, every boot. */
void job_how_section(Html *html, const JobView *view);
void job_boots_section(Html *html, const JobView *view);

/* page-job-replicas.c: on which hosts the same is measured, and whether they agree; nothing for other jobs. */
void job_replicas_section(Html *html, const JobView *view);

/* href="..." of /api/v1/jobs/N/NAME; artifact TRUE: of artifacts/NAME. */
void job_href(Html *html, const JobView *view, const char *name, gboolean artifact);

gboolean job_has_artifact(const JobView *view, const char *name);
