/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/routes.h"

#include <gio/gio.h>
#include <string.h>

#include "daemon/answer.h"
#include "daemon/api.h"

static const RouteQuery list_queries[] = {
	{ "state", "string", "only jobs in this state; live: all that have not ended" },
	{ "tree", "string", "only jobs on this tree" },
	{ "benchmark", "string", "only jobs with this benchmark" },
	{ "limit", "integer", "how many at most, 1 to 200, 50 if not given" },
	{ "cursor", "integer", "of the answer before, for the jobs after it" },
	{ NULL, NULL, NULL },
};

static const RouteQuery log_queries[] = {
	{ "from", "integer", "offset in bytes; X-Next-Offset of the answer is where to go on" },
	{ NULL, NULL, NULL },
};

static const RouteQuery submit_queries[] = {
	{ "base", "string", "as in the form" },
	{ "head", "string", "as in the form" },
	{ "tree", "string", "as in the form" },
	{ "benchmarks", "string", "as in the form" },
	{ "params", "string", "as in the form" },
	{ "profile", "string", "as in the form" },
	{ "config", "string", "as in the form" },
	{ "clock", "string", "as in the form" },
	{ "max_boots", "integer", "as in the form" },
	{ "min_effect", "number", "as in the form" },
	{ "alpha", "number", "as in the form" },
	{ "priority", "integer", "as in the form" },
	{ "seed", "string", "as in the form" },
	{ "notify", "string", "as in the form" },
	{ "subject", "string", "as in the form" },
	{ NULL, NULL, NULL },
};

#define METRICS_TYPE "text/plain; version=0.0.4; charset=utf-8"

const Route routes[] = {
	{ "POST", API "/jobs", api_submit, FALSE, TRUE, submit_queries, JSON_TYPE,
	  "202 400 403 409 411 413 415 421 422 429 500 503", "Submit a job" },
	{ "GET", API "/jobs", api_jobs, FALSE, FALSE, list_queries, JSON_TYPE, "200 304 400 421 500", "List jobs, newest first" },
	{ "GET", API "/jobs/{id}", api_job, FALSE, FALSE, NULL, JSON_TYPE, "200 304 400 404 421 500", "Everything about a job" },
	{ "DELETE", API "/jobs/{id}", api_cancel, FALSE, FALSE, NULL, JSON_TYPE, "200 202 400 403 404 409 421 500 503", "Cancel a job" },
	{ "GET", API "/jobs/{id}/result", api_result, FALSE, FALSE, NULL, JSON_TYPE, "200 304 400 404 409 421 500",
	  "The verdicts and their numbers" },
	{ "GET", API "/jobs/{id}/samples.csv", api_samples_csv, FALSE, FALSE, NULL, "text/csv; charset=utf-8",
	  "200 304 400 404 421 500", "Raw samples, RFC 4180" },
	{ "GET", API "/jobs/{id}/samples.json", api_samples_json, FALSE, FALSE, NULL, JSON_TYPE, "200 304 400 404 421 500",
	  "Raw samples, an array" },
	{ "GET", API "/jobs/{id}/report.txt", pages_report, FALSE, FALSE, NULL, TEXT_TYPE, "200 304 400 404 421 500",
	  "The report as plain text" },
	{ "GET", API "/jobs/{id}/log", api_log, FALSE, FALSE, log_queries, TEXT_TYPE, "200 400 404 421 500",
	  "What git, make and the guests said, from an offset on" },
	{ "GET", API "/jobs/{id}/artifacts/{name}", api_artifact, FALSE, FALSE, NULL, "application/octet-stream",
	  "200 400 404 421 500", "A configuration, a console, a domain" },
	{ "GET", API "/hosts", api_hosts, FALSE, FALSE, NULL, JSON_TYPE, "200 304 400 421 500", "The machines that run virtual machines" },
	{ "GET", API "/healthz", api_healthz, FALSE, FALSE, NULL, JSON_TYPE, "200 304 400 421 503", "Whether the lab can work" },
	{ "GET", API "/metrics", api_metrics, FALSE, FALSE, NULL, METRICS_TYPE, "200 400 421 500", "For Prometheus" },
	{ "GET", API "/openapi.json", api_openapi, FALSE, FALSE, NULL, JSON_TYPE, "200 304 400 421", "This description" },
	{ "GET", "/healthz", api_healthz, FALSE, FALSE, NULL, JSON_TYPE, "200 304 400 421 503", "The same as " API "/healthz" },
	{ "GET", "/metrics", api_metrics, FALSE, FALSE, NULL, METRICS_TYPE, "200 400 421 500", "The same as " API "/metrics" },
	{ "GET", "/openapi.json", api_openapi, FALSE, FALSE, NULL, JSON_TYPE, "200 304 400 421", "The same as " API "/openapi.json" },
	{ "GET", "/", pages_index, TRUE, FALSE, NULL, HTML_TYPE, "200 304 421 500", "Page: what runs, waits, and came out lately" },
	{ "GET", "/jobs/{id}", pages_job, TRUE, FALSE, NULL, HTML_TYPE, "200 304 404 421 500", "Page: a job" },
	{ "GET", "/hosts", pages_hosts, TRUE, FALSE, NULL, HTML_TYPE, "200 304 421 500", "Page: hosts" },
	{ "GET", "/static/{name}", pages_static, TRUE, FALSE, NULL, "application/octet-stream", "200 304 404 421", "What pages need" },
};
const gsize routes_n = G_N_ELEMENTS(routes);

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

	if (route->is_page || route->has_body)
		return;
	if (!http_request_each_query(request, known_query, &known))
		answer_error(request, 400, "malformed", NULL, "the query is not UTF-8 text");
	else if (!known)
		answer_error(request, 400, "unknown-parameter", NULL, "the query has a parameter that is not known here");
}

/* "name", "name:port", "[::1]:port": what a browser was told to reach. */
static gboolean is_ours(const Lab *lab, const char *host)
{
	g_autofree char *url = g_strconcat("http://", host, NULL);
	g_autoptr(GUri) uri = g_uri_parse(url, G_URI_FLAGS_NONE, NULL);
	g_autoptr(GUri) own = g_uri_parse(lab->config->url, G_URI_FLAGS_NONE, NULL);
	const char *name = uri ? g_uri_get_host(uri) : NULL;
	g_autoptr(GInetAddress) address = name ? g_inet_address_new_from_string(name) : NULL;

	if (!name)
		return FALSE;
	return (address && g_inet_address_get_is_loopback(address)) || g_ascii_strcasecmp(name, "localhost") == 0 ||
	       (own && g_ascii_strcasecmp(name, g_uri_get_host(own)) == 0);
}

/*
 * The lab is reachable from its own machine, and so from any page that is
 * open in a browser there: names that are made to point here are refused, and
 * so are changes that another site's page asks for.
 */
static void check_origin(HttpRequest *request, const Lab *lab)
{
	const char *host = http_request_header(request, "Host");
	const char *origin = http_request_header(request, "Origin");
	const char *method = http_request_method(request);
	g_autofree char *own = g_strconcat("http://", host ? host : "", NULL);

	if (host && !is_ours(lab, host)) {
		answer_error(request, 421, "misdirected", "Host", "this is not the lab of that name");
		return;
	}
	if (!origin || g_str_equal(method, "GET") || g_str_equal(method, "HEAD"))
		return;
	if (!g_str_equal(origin, own) && !g_str_equal(origin, lab->config->url))
		answer_error(request, 403, "cross-site", "Origin", "a page of another site may not do this");
}

static void begin(HttpRequest *request, gpointer data)
{
	Lab *lab = data;
	const char *method = http_request_method(request);
	g_autofree char *allowed = NULL;
	RouteMatch *match = route_find(method, http_request_path(request), &allowed);

	http_request_set_data(request, match, (GDestroyNotify)route_match_free);
	check_origin(request, lab);
	if (http_answered(request))
		return;
	if (allowed) {
		answer_error(request, 405, "method-not-allowed", NULL, "%.20s is not for this; allowed: %s", method, allowed);
		http_answer_header(request, "Allow", allowed);
	} else if (!match) {
		answer_error(request, 404, "not-found", NULL, "there is nothing here");
	} else if (match->route->has_body && !http_request_has_body(request)) {
		answer_error(request, 411, "length-required", NULL, "the request has no body");
	} else {
		check_query(request, match->route);
		if (match->route->has_body)
			http_request_set_max_body(request, (gsize)lab->config->max_body_mib * 1024 * 1024);
	}
}

static void handle(HttpRequest *request, gpointer data)
{
	const RouteMatch *match = http_request_data(request);

	match->route->handle(request, data, match);
}

static void too_large(HttpRequest *request, gpointer data)
{
	const Lab *lab = data;
	const RouteMatch *match = http_request_data(request);

	answer_error(request, 413, "too-large", NULL, "a body here has at most %d MiB",
		     match && match->route->has_body ? lab->config->max_body_mib : 0);
}

const HttpRules route_rules = { begin, handle, too_large };
