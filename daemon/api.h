/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The handlers of the route table, by file. */
#pragma once

#include "daemon/hosts.h"
#include "daemon/routes.h"

/* api-submit.c */
extern const RouteWork api_submit_work;
void api_submit(HttpRequest *request, Lab *lab, const RouteMatch *match);
/* The limits of the queue and of the caller's token, of that many jobs more; FALSE: answered. */
gboolean api_check_limits(HttpRequest *request, Lab *lab, const Caller *caller, int wanted);

/* api-jobs.c */
void api_jobs(HttpRequest *request, Lab *lab, const RouteMatch *match);
void api_job(HttpRequest *request, Lab *lab, const RouteMatch *match);
void api_cancel(HttpRequest *request, Lab *lab, const RouteMatch *match);
void api_result(HttpRequest *request, Lab *lab, const RouteMatch *match);
/* One job as the whole answer. */
void api_answer_job(HttpRequest *request, Lab *lab, const StoreJob *job, unsigned status);
/* The job of {id}; answered and NULL if there is none. The caller's. */
StoreJob *api_find_job(HttpRequest *request, Lab *lab, const RouteMatch *match);

/* A whole number of the query; FALSE: answered. */
gboolean api_int_query(HttpRequest *request, const char *name, gint64 min, gint64 max, gint64 *value);

/* api-more.c */
void api_more(HttpRequest *request, Lab *lab, const RouteMatch *match);

/* api-data.c */
void api_samples_csv(HttpRequest *request, Lab *lab, const RouteMatch *match);
void api_samples_json(HttpRequest *request, Lab *lab, const RouteMatch *match);
void api_log(HttpRequest *request, Lab *lab, const RouteMatch *match);
void api_artifact(HttpRequest *request, Lab *lab, const RouteMatch *match);

/* api-reproduce.c */
/* Where anybody can clone a tree; empty: nowhere. */
const char *api_tree_url(const Lab *lab, const char *tree);
/* A file of artifacts/; NULL: there is none, or it cannot be read. */
GBytes *api_read_artifact(const Lab *lab, gint64 job, const char *name);
void api_reproduce(HttpRequest *request, Lab *lab, const RouteMatch *match);
void api_guest_image(HttpRequest *request, Lab *lab, const RouteMatch *match);

/* api-access.c */
void api_token_create(HttpRequest *request, Lab *lab, const RouteMatch *match);
void api_tokens(HttpRequest *request, Lab *lab, const RouteMatch *match);
void api_token_revoke(HttpRequest *request, Lab *lab, const RouteMatch *match);
void api_audit(HttpRequest *request, Lab *lab, const RouteMatch *match);

/* api-hosts.c */
void api_hosts(HttpRequest *request, Lab *lab, const RouteMatch *match);
void api_host(HttpRequest *request, Lab *lab, const RouteMatch *match);
void api_host_drain(HttpRequest *request, Lab *lab, const RouteMatch *match);
void api_host_resume(HttpRequest *request, Lab *lab, const RouteMatch *match);

/* The host of {name}; answered and NULL if there is none. The queue's. */
Host *api_find_host(HttpRequest *request, Lab *lab, const RouteMatch *match);

/* api-lab.c */
void api_healthz(HttpRequest *request, Lab *lab, const RouteMatch *match);
void api_metrics(HttpRequest *request, Lab *lab, const RouteMatch *match);
void api_openapi(HttpRequest *request, Lab *lab, const RouteMatch *match);

/* api-mail.c, api-mail-in.c, api-mail-settle.c, api-mail-out.c */
void api_mail(HttpRequest *request, Lab *lab, const RouteMatch *match);
void api_mail_stop(HttpRequest *request, Lab *lab, const RouteMatch *match);
void api_mail_resume(HttpRequest *request, Lab *lab, const RouteMatch *match);
void api_mail_in_list(HttpRequest *request, Lab *lab, const RouteMatch *match);
void api_mail_in_add(HttpRequest *request, Lab *lab, const RouteMatch *match);
void api_mail_in(HttpRequest *request, Lab *lab, const RouteMatch *match);
void api_mail_in_set(HttpRequest *request, Lab *lab, const RouteMatch *match);
void api_mail_out_list(HttpRequest *request, Lab *lab, const RouteMatch *match);
void api_mail_claim(HttpRequest *request, Lab *lab, const RouteMatch *match);
void api_mail_out(HttpRequest *request, Lab *lab, const RouteMatch *match);
void api_mail_out_set(HttpRequest *request, Lab *lab, const RouteMatch *match);

/* pages-job.c */
void pages_job(HttpRequest *request, Lab *lab, const RouteMatch *match);
void pages_report(HttpRequest *request, Lab *lab, const RouteMatch *match);
void pages_cancel(HttpRequest *request, Lab *lab, const RouteMatch *match);
void pages_more(HttpRequest *request, Lab *lab, const RouteMatch *match);

/* pages-index.c, pages-jobs.c, pages-hosts.c */
void pages_index(HttpRequest *request, Lab *lab, const RouteMatch *match);
void pages_jobs(HttpRequest *request, Lab *lab, const RouteMatch *match);
void pages_feed(HttpRequest *request, Lab *lab, const RouteMatch *match);
void pages_hosts(HttpRequest *request, Lab *lab, const RouteMatch *match);
void pages_host(HttpRequest *request, Lab *lab, const RouteMatch *match);

/* pages-compare.c */
void pages_compare(HttpRequest *request, Lab *lab, const RouteMatch *match);
void api_compare(HttpRequest *request, Lab *lab, const RouteMatch *match);

/* pages.c */
void pages_static(HttpRequest *request, Lab *lab, const RouteMatch *match);
