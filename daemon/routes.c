/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/routes.h"

#include <string.h>

#include "daemon/answer.h"
#include "daemon/api.h"
#include "daemon/origin.h"

static const RouteQuery list_queries[] = {
	{ "state", "string", "only jobs in this state; live: all that have not ended, ended: all others" },
	{ "tree", "string", "only jobs on this tree" },
	{ "benchmark", "string", "only jobs with this benchmark" },
	{ "subject", "string", "only jobs with these words, or beginnings of words, in their subject" },
	{ "author", "string", "likewise in the name or address of the author" },
	{ "commit", "string", "only jobs with this commit as base, head or patched kernel: the beginning of its hash, or the name that was asked for" },
	{ "verdict", "string", "only jobs with this verdict for a primary metric: REGRESSION" },
	{ "limit", "integer", "how many at most, 1 to 200, 50 if not given" },
	{ "cursor", "integer", "of the answer before, for the jobs after it" },
	{ NULL, NULL, NULL },
};

static const RouteQuery compare_queries[] = {
	{ "kernel", "string", "a job's number, for its patched kernel, or 7:base; up to 8 of them, the reference first" },
	{ "series", "integer", "instead: a job of one version of a series, for all its versions and the base of the first" },
	{ NULL, NULL, NULL },
};

static const RouteQuery audit_queries[] = {
	{ "limit", "integer", "how many at most, 1 to 200, 50 if not given" },
	{ "cursor", "integer", "of the answer before, for what was done before it" },
	{ NULL, NULL, NULL },
};

static const RouteQuery mail_queries[] = {
	{ "state", "string", "only mails in this state; of what came in also due: those whose job has ended" },
	{ "thread", "string", "a Message-ID: the patches of its thread, as they came" },
	{ NULL, NULL, NULL },
};

static const RouteQuery log_queries[] = {
	{ "from", "integer", "offset in bytes; X-Next-Offset of the answer is where to go on" },
	{ NULL, NULL, NULL },
};

static const RouteQuery more_queries[] = {
	{ "boots", "integer", "how many boots of each arm to add, 1 to 400" },
	{ NULL, NULL, NULL },
};

static const RouteQuery submit_queries[] = {
	{ "dry_run", "integer", "1: nothing is stored, and the answer, 200, says what the job could see, how long it would take and "
			        "when it would start" },
	{ "kind", "string", "as in the form" },
	{ "base", "string", "as in the form" },
	{ "head", "string", "as in the form" },
	{ "tree", "string", "as in the form" },
	{ "benchmarks", "string", "as in the form" },
	{ "params", "string", "as in the form" },
	{ "profile", "string", "as in the form" },
	{ "config", "string", "as in the form" },
	{ "clock", "string", "as in the form" },
	{ "max_boots", "integer", "as in the form" },
	{ "rule", "string", "as in the form" },
	{ "min_effect", "number", "as in the form" },
	{ "alpha", "number", "as in the form" },
	{ "priority", "integer", "as in the form" },
	{ "host", "string", "as in the form" },
	{ "labels", "string", "as in the form" },
	{ "replicate", "integer", "as in the form" },
	{ "seed", "string", "as in the form" },
	{ "notify", "string", "as in the form" },
	{ "subject", "string", "as in the form" },
	{ NULL, NULL, NULL },
};

#define TOKEN_BODY_MAX 4096
#define SCRIPT_TYPE "text/x-shellscript; charset=utf-8"
#define ATOM_TYPE "application/atom+xml; charset=utf-8"
#define MAIL_BODY_MAX (13 * 1024 * 1024)
#define METRICS_TYPE "text/plain; version=0.0.4; charset=utf-8"

const Route routes[] = {
	{ "POST", API "/jobs", api_submit, ACCESS_SUBMIT, "submit", FALSE, BODY_SUBMISSION, submit_queries, JSON_TYPE,
	  "200 202 400 403 409 411 413 415 421 422 429 500 503", "Submit a job" },
	{ "GET", API "/jobs", api_jobs, ACCESS_READ, NULL, FALSE, BODY_NONE, list_queries, JSON_TYPE,
	  "200 304 400 421 500", "List jobs, newest first" },
	{ "GET", API "/jobs/{id}", api_job, ACCESS_READ, NULL, FALSE, BODY_NONE, NULL, JSON_TYPE,
	  "200 304 400 404 421 500", "Everything about a job" },
	{ "DELETE", API "/jobs/{id}", api_cancel, ACCESS_SUBMIT, "cancel", FALSE, BODY_NONE, NULL, JSON_TYPE,
	  "200 202 400 403 404 409 421 500 503", "Cancel a job" },
	{ "POST", API "/jobs/{id}/more", api_more, ACCESS_SUBMIT, "more", FALSE, BODY_NONE, more_queries, JSON_TYPE,
	  "202 400 403 404 409 421 429 500 503", "Add boots to a job that is done and did not decide" },
	{ "GET", API "/jobs/{id}/result", api_result, ACCESS_READ, NULL, FALSE, BODY_NONE, NULL, JSON_TYPE, "200 304 400 404 409 421 500",
	  "The verdicts and their numbers" },
	{ "GET", API "/jobs/{id}/samples.csv", api_samples_csv, ACCESS_READ, NULL, FALSE, BODY_NONE, NULL, "text/csv; charset=utf-8",
	  "200 304 400 404 421 500", "Raw samples, RFC 4180" },
	{ "GET", API "/jobs/{id}/samples.json", api_samples_json, ACCESS_READ, NULL, FALSE, BODY_NONE, NULL, JSON_TYPE, "200 304 400 404 421 500",
	  "Raw samples, an array" },
	{ "GET", API "/jobs/{id}/report.txt", pages_report, ACCESS_READ, NULL, FALSE, BODY_NONE, NULL, TEXT_TYPE, "200 304 400 404 421 500",
	  "The report as plain text" },
	{ "GET", API "/jobs/{id}/reproduce.sh", api_reproduce, ACCESS_READ, NULL, FALSE, BODY_NONE, NULL, SCRIPT_TYPE,
	  "200 304 400 404 409 421 500", "A script that runs the job again, anywhere" },
	{ "GET", API "/jobs/{id}/log", api_log, ACCESS_READ, NULL, FALSE, BODY_NONE, log_queries, TEXT_TYPE, "200 400 404 421 500",
	  "What git, make and the guests said, from an offset on" },
	{ "GET", API "/jobs/{id}/artifacts/{name}", api_artifact, ACCESS_READ, NULL, FALSE, BODY_NONE, NULL, "application/octet-stream",
	  "200 400 404 421 500", "A configuration, a console, a domain" },
	{ "GET", API "/compare", api_compare, ACCESS_READ, NULL, FALSE, BODY_NONE, compare_queries, JSON_TYPE,
	  "200 304 400 421 500", "Kernels of different jobs side by side" },
	{ "GET", API "/hosts", api_hosts, ACCESS_READ, NULL, FALSE, BODY_NONE, NULL, JSON_TYPE,
	  "200 304 400 421 500", "The machines that run virtual machines" },
	{ "GET", API "/hosts/{name}", api_host, ACCESS_READ, NULL, FALSE, BODY_NONE, NULL, JSON_TYPE,
	  "200 304 400 404 421 500", "Everything about a host, and when it came and went" },
	{ "POST", API "/hosts/{name}/drain", api_host_drain, ACCESS_ADMIN, "host-drain", FALSE, BODY_NONE, NULL, JSON_TYPE,
	  "200 400 403 404 421 500 503", "No more jobs on this host; what is measured there runs on" },
	{ "POST", API "/hosts/{name}/resume", api_host_resume, ACCESS_ADMIN, "host-resume", FALSE, BODY_NONE, NULL, JSON_TYPE,
	  "200 400 403 404 421 500 503", "Jobs on this host again" },
	{ "POST", API "/tokens", api_token_create, ACCESS_TOKENS, "token-create", FALSE, BODY_TOKEN, NULL, JSON_TYPE,
	  "201 400 409 411 413 415 421 422 500 503", "Make a token; its text is in this answer only" },
	{ "GET", API "/tokens", api_tokens, ACCESS_TOKENS, NULL, FALSE, BODY_NONE, NULL, JSON_TYPE, "200 304 400 421 500",
	  "List tokens, without their secrets" },
	{ "DELETE", API "/tokens/{id}", api_token_revoke, ACCESS_TOKENS, "token-revoke", FALSE, BODY_NONE, NULL, JSON_TYPE,
	  "200 400 404 421 500 503", "Revoke a token" },
	{ "GET", API "/audit", api_audit, ACCESS_TOKENS, NULL, FALSE, BODY_NONE, audit_queries, JSON_TYPE, "200 304 400 421 500",
	  "Who changed what, and from where, newest first" },
	{ "GET", API "/mail", api_mail, ACCESS_SUBMIT, NULL, FALSE, BODY_NONE, NULL, JSON_TYPE, "200 304 400 403 409 421 500",
	  "How mail is set, for the bot" },
	{ "POST", API "/mail/stop", api_mail_stop, ACCESS_SUBMIT, "mail-stop", FALSE, BODY_NONE, NULL, JSON_TYPE,
	  "200 400 403 409 421 500 503", "No mail in and none out, until it is resumed" },
	{ "POST", API "/mail/resume", api_mail_resume, ACCESS_SUBMIT, "mail-resume", FALSE, BODY_NONE, NULL, JSON_TYPE,
	  "200 400 403 409 421 500 503", "Mail again" },
	{ "GET", API "/mail/in", api_mail_in_list, ACCESS_SUBMIT, NULL, FALSE, BODY_NONE, mail_queries, JSON_TYPE,
	  "200 304 400 403 409 421 500", "Mail that came in, oldest first" },
	{ "POST", API "/mail/in", api_mail_in_add, ACCESS_SUBMIT, "mail-in", FALSE, BODY_MAIL, NULL, JSON_TYPE,
	  "200 201 400 403 409 411 413 415 421 422 500 503", "Take a mail in; one that is known stays as it is" },
	{ "GET", API "/mail/in/{id}", api_mail_in, ACCESS_SUBMIT, NULL, FALSE, BODY_NONE, NULL, JSON_TYPE,
	  "200 304 400 403 404 409 421 500", "A mail that came in, as it came" },
	{ "POST", API "/mail/in/{id}", api_mail_in_set, ACCESS_SUBMIT, "mail-settle", FALSE, BODY_MAIL, NULL, JSON_TYPE,
	  "200 400 403 404 409 411 413 415 421 422 500 503", "What becomes of a mail, and what is answered: both or neither" },
	{ "GET", API "/mail/out", api_mail_out_list, ACCESS_SUBMIT, NULL, FALSE, BODY_NONE, mail_queries, JSON_TYPE,
	  "200 304 400 403 409 421 500", "Mail that goes out, newest first" },
	{ "POST", API "/mail/out/claim", api_mail_claim, ACCESS_SUBMIT, "mail-claim", FALSE, BODY_NONE, NULL, JSON_TYPE,
	  "200 400 403 404 409 421 500 503", "The next mail to send, marked as being sent" },
	{ "GET", API "/mail/out/{id}", api_mail_out, ACCESS_SUBMIT, NULL, FALSE, BODY_NONE, NULL, JSON_TYPE,
	  "200 304 400 403 404 409 421 500", "A mail that goes out" },
	{ "POST", API "/mail/out/{id}", api_mail_out_set, ACCESS_SUBMIT, "mail-out", FALSE, BODY_MAIL, NULL, JSON_TYPE,
	  "200 400 403 404 409 411 413 415 421 422 500 503", "What came of sending it, or of a moderator" },
	{ "GET", API "/healthz", api_healthz, ACCESS_ANYONE, NULL, FALSE, BODY_NONE, NULL, JSON_TYPE,
	  "200 304 400 421 503", "Whether the lab can work" },
	{ "GET", API "/metrics", api_metrics, ACCESS_READ, NULL, FALSE, BODY_NONE, NULL, METRICS_TYPE,
	  "200 400 421 500", "For Prometheus" },
	{ "GET", API "/guest.cpio", api_guest_image, ACCESS_READ, NULL, FALSE, BODY_NONE, NULL, "application/octet-stream",
	  "200 400 421 500", "The guest image: init and the benchmarks" },
	{ "GET", API "/openapi.json", api_openapi, ACCESS_ANYONE, NULL, FALSE, BODY_NONE, NULL, JSON_TYPE,
	  "200 304 400 421", "This description" },
	{ "GET", "/healthz", api_healthz, ACCESS_ANYONE, NULL, FALSE, BODY_NONE, NULL, JSON_TYPE,
	  "200 304 400 421 503", "The same as " API "/healthz" },
	{ "GET", "/metrics", api_metrics, ACCESS_READ, NULL, FALSE, BODY_NONE, NULL, METRICS_TYPE,
	  "200 400 421 500", "The same as " API "/metrics" },
	{ "GET", "/openapi.json", api_openapi, ACCESS_ANYONE, NULL, FALSE, BODY_NONE, NULL, JSON_TYPE,
	  "200 304 400 421", "The same as " API "/openapi.json" },
	{ "GET", "/", pages_index, ACCESS_READ, NULL, TRUE, BODY_NONE, NULL, HTML_TYPE,
	  "200 304 421 500", "Page: what runs, waits, and came out lately" },
	{ "GET", "/jobs", pages_jobs, ACCESS_READ, NULL, TRUE, BODY_NONE, list_queries, HTML_TYPE,
	  "200 304 400 421 500", "Page: jobs that are looked for" },
	{ "POST", "/jobs", api_submit, ACCESS_SUBMIT, "submit", TRUE, BODY_SUBMISSION, NULL, HTML_TYPE,
	  "303 400 403 411 413 415 421 422 429 500 503", "The form of the page: submit a job, then its page" },
	{ "GET", "/compare", pages_compare, ACCESS_READ, NULL, TRUE, BODY_NONE, compare_queries, HTML_TYPE,
	  "200 304 400 421 500", "Page: kernels side by side" },
	{ "GET", "/feed.atom", pages_feed, ACCESS_READ, NULL, TRUE, BODY_NONE, list_queries, ATOM_TYPE,
	  "200 304 400 421 500", "Feed: jobs that ended" },
	{ "GET", "/jobs/{id}", pages_job, ACCESS_READ, NULL, TRUE, BODY_NONE, NULL, HTML_TYPE,
	  "200 304 404 421 500", "Page: a job" },
	{ "GET", "/jobs/{id}/reproduce.sh", api_reproduce, ACCESS_READ, NULL, TRUE, BODY_NONE, NULL, SCRIPT_TYPE,
	  "200 304 404 409 421 500", "The same as " API "/jobs/{id}/reproduce.sh" },
	{ "POST", "/jobs/{id}/cancel", pages_cancel, ACCESS_SUBMIT, "cancel", TRUE, BODY_NONE, NULL, HTML_TYPE,
	  "303 400 403 404 409 421 500 503", "The page's button: cancel a job" },
	{ "POST", "/jobs/{id}/more", pages_more, ACCESS_SUBMIT, "more", TRUE, BODY_NONE, more_queries, HTML_TYPE,
	  "303 400 403 404 409 421 429 500 503", "The page's button: add boots to a job that did not decide" },
	{ "GET", "/hosts", pages_hosts, ACCESS_READ, NULL, TRUE, BODY_NONE, NULL, HTML_TYPE,
	  "200 304 421 500", "Page: hosts" },
	{ "GET", "/hosts/{name}", pages_host, ACCESS_READ, NULL, TRUE, BODY_NONE, NULL, HTML_TYPE,
	  "200 304 404 421 500", "Page: a host" },
	{ "GET", "/static/{name}", pages_static, ACCESS_ANYONE, NULL, TRUE, BODY_NONE, NULL, "application/octet-stream",
	  "200 304 404 421", "What pages need" },
};
const gsize routes_n = G_N_ELEMENTS(routes);

/* Of what comes in such a body. */
static const RouteWork *const works[BODY_N] = {
	[BODY_SUBMISSION] = &api_submit_work,
};

/* ---- finding one ---- */

static gboolean match_segment(const char *pattern, const char *segment, RouteMatch *match)
{
	if (g_str_equal(pattern, "{id}"))
		return *segment >= '1' && *segment <= '9' &&
		       g_ascii_string_to_signed(segment, 10, 1, G_MAXINT64, &match->id, NULL);
	if (g_str_equal(pattern, "{name}")) {
		g_free(match->name);
		match->name = g_strdup(segment);
		return *segment != 0;
	}
	return g_str_equal(pattern, segment);
}

static gboolean match_path(const char *pattern, const char *path, RouteMatch *match)
{
	g_auto(GStrv) wanted = g_strsplit(pattern, "/", -1);
	g_auto(GStrv) given = g_strsplit(path, "/", 16);

	if (g_strv_length(wanted) != g_strv_length(given))
		return FALSE;
	for (gsize i = 0; wanted[i]; i++)
		if (!match_segment(wanted[i], given[i], match))
			return FALSE;
	return TRUE;
}

static gboolean answers_method(const Route *route, const char *method)
{
	return g_str_equal(route->method, method) ||
	       (g_str_equal(method, "HEAD") && g_str_equal(route->method, "GET"));
}

void route_match_free(RouteMatch *match)
{
	if (!match)
		return;
	if (match->prepared)
		works[match->route->body]->free(match->prepared);
	caller_free(match->caller);
	g_free(match->name);
	g_free(match);
}

RouteMatch *route_find(const char *method, const char *path, char **ret_allowed)
{
	g_autoptr(GString) allowed = g_string_new(NULL);

	*ret_allowed = NULL;
	for (gsize i = 0; i < routes_n; i++) {
		g_autoptr(RouteMatch) match = g_new0(RouteMatch, 1);

		match->route = &routes[i];
		if (!match_path(routes[i].pattern, path, match))
			continue;
		if (answers_method(&routes[i], method))
			return g_steal_pointer(&match);
		g_string_append_printf(allowed, "%s%s%s", allowed->len ? ", " : "", routes[i].method,
				       g_str_equal(routes[i].method, "GET") ? ", HEAD" : "");
	}
	if (allowed->len)
		*ret_allowed = g_string_free(g_steal_pointer(&allowed), FALSE);
	return NULL;
}

/* ---- what holds for every request ---- */

static gboolean known_query(const char *name, const char *value G_GNUC_UNUSED, gpointer data)
{
	const RouteQuery **unknown = data;
	const RouteQuery *query = *unknown;

	for (; query && query->name; query++)
		if (g_str_equal(query->name, name))
			return TRUE;
	*unknown = NULL;
	return FALSE;
}

/* A misspelt parameter must not pass for none. Pages take what search engines and mailers add. */
static void check_query(HttpRequest *request, const Route *route)
{
	static const RouteQuery none[] = { { NULL, NULL, NULL } };
	const RouteQuery *known = route->queries ? route->queries : none;

	if (route->is_page || route->body == BODY_SUBMISSION)
		return;
	if (!http_request_each_query(request, known_query, &known))
		answer_error(request, 400, "malformed", NULL, "the query is not UTF-8 text");
	else if (!known)
		answer_error(request, 400, "unknown-parameter", NULL, "the query has a parameter that is not known here");
}

static gsize max_body(const Lab *lab, const RouteMatch *match)
{
	switch (match ? match->route->body : BODY_NONE) {
	case BODY_SUBMISSION:
		return (gsize)lab->config->max_body_mib * 1024 * 1024;
	case BODY_TOKEN:
		return TOKEN_BODY_MAX;
	case BODY_MAIL:
		return MAIL_BODY_MAX;
	default:
		return 0;
	}
}

static void look_at(HttpRequest *request, Lab *lab)
{
	const char *method = http_request_method(request);
	g_autofree char *allowed = NULL;
	RouteMatch *match = route_find(method, http_request_path(request), &allowed);

	http_request_set_data(request, match, (GDestroyNotify)route_match_free);
	if (!origin_check(request, lab))
		return;
	if (allowed) {
		answer_error(request, 405, "method-not-allowed", NULL, "%.20s is not for this; allowed: %s", method, allowed);
		http_answer_header(request, "Allow", allowed);
		return;
	}
	if (!match) {
		answer_error(request, 404, "not-found", NULL, "there is nothing here");
		return;
	}
	match->caller = access_admit(request, lab, match->route->access);
	if (!match->caller)
		return;
	if (match->route->body != BODY_NONE && !http_request_has_body(request)) {
		answer_error(request, 411, "length-required", NULL, "the request has no body");
		return;
	}
	check_query(request, match->route);
	http_request_set_max_body(request, max_body(lab, match));
}

/* What every answer carries, beside what request.c adds. */
static void complete(HttpRequest *request, const Lab *lab)
{
	if (http_answered(request) && lab->config->behind_tls_proxy)
		http_answer_header(request, "Strict-Transport-Security", "max-age=31536000");
}

static void begin(HttpRequest *request, gpointer data)
{
	look_at(request, data);
	complete(request, data);
}

/* 303: done, and what to look at next. */
static gboolean is_good(unsigned status)
{
	return (status >= 200 && status < 300) || status == 303;
}

/* What is refused changes nothing; what is done is written down with it. */
static void handle_change(HttpRequest *request, Lab *lab, const RouteMatch *match)
{
	GError *error = NULL;
	g_autoptr(DbTransaction) transaction = db_begin(lab->db, "change", &error);

	if (!transaction) {
		answer_trouble(request, match->id, error);
		return;
	}
	match->route->handle(request, lab, match);
	if (!is_good(http_answer_status(request)))
		return;
	if (access_audit(lab, match->caller, match->route->action, http_request_path(request), &error) &&
	    db_commit(g_steal_pointer(&transaction), &error)) {
		access_log(match->caller, match->route->action, http_request_path(request));
		return;
	}
	http_answer_discard(request);
	answer_trouble(request, match->id, error);
}

static void handle(HttpRequest *request, gpointer data)
{
	const RouteMatch *match = http_request_data(request);

	if (http_request_is_read(request))
		match->route->handle(request, data, match);
	else
		handle_change(request, data, match);
	complete(request, data);
}

static gboolean prepare(HttpRequest *request, gpointer data)
{
	RouteMatch *match = http_request_data(request);
	const RouteWork *first = works[match->route->body];
	gboolean begun = first && first->begin(request, data, match);

	complete(request, data);
	return begun;
}

static void work(HttpRequest *request)
{
	RouteMatch *match = http_request_data(request);

	works[match->route->body]->work(request, match);
}

static void too_large(HttpRequest *request, gpointer data)
{
	const Lab *lab = data;
	const RouteMatch *match = http_request_data(request);

	answer_error(request, 413, "too-large", NULL, "a body here has at most %zu bytes", max_body(lab, match));
	complete(request, lab);
}

static void busy(HttpRequest *request, gpointer data)
{
	answer_error(request, 503, "busy", NULL, "others are sending much just now; try again in a moment");
	http_answer_header(request, "Retry-After", "2");
	complete(request, data);
}

const HttpRules route_rules = { begin, handle, too_large, busy, prepare, work };
