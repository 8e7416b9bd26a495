/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The sections of /jobs/N, for page-job.c. */
#pragma once

#include "web/html.h"
#include "web/job-view.h"

/* page-job-result.c: the tables of verdicts; of a job with boots added the last word first. */
void job_result_section(Html *html, const StatsResult *result);

/* Its comparisons as plain text, for a changelog. */
void job_table_section(Html *html, const StatsResult *result);
/* The changes as pictures, of the last word. */
void job_change_section(Html *html, const StatsResult *result);

/* page-job-change.c: those of one table; number: unique in the page. min_effect_pct: what does not matter around 0. */
void job_change_plots(Html *html, const GPtrArray *sets, double min_effect_pct, guint number);

/* page-job-plots.c: the boots of each primary comparison as pictures. view->result is there. */
void job_boot_plots_section(Html *html, const JobView *view);

/* page-job-counters.c: the counters that the patch moved. */
void job_counters_section(Html *html, const JobView *view);

/* page-job-next.c: what can be done about a job that has an answer, or has none yet. */
void job_next_section(Html *html, const JobView *view);
void job_cancel_paragraph(Html *html, const JobView *view);

/* page-job-progress.c: where a job is that has not ended. */
void job_progress_section(Html *html, const JobView *view);

/* page-job-failure.c: why there is no verdict, and what to do about it. */
void job_failure_section(Html *html, const JobView *view);

/* page-job-config.c: what two configurations differ in; nothing if view->configs are not there. */
void job_config_difference(Html *html, const JobView *view);

/* page-job-run.c: what was asked, what ran where, every boot. */
void job_how_section(Html *html, const JobView *view);
void job_boots_section(Html *html, const JobView *view);

/* page-job-replicas.c: on which hosts the same is measured, and whether they agree; nothing for other jobs. */
void job_replicas_section(Html *html, const JobView *view);

/* href="..." of /api/v1/jobs/N/NAME; artifact TRUE: of artifacts/NAME. */
void job_href(Html *html, const JobView *view, const char *name, gboolean artifact);

gboolean job_has_artifact(const JobView *view, const char *name);
