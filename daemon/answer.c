/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/answer.h"

#include <string.h>

#include "daemon/routes.h"
#include "jobs/spec/error.h"
#include "jobs/spec/json-text.h"
#include "web/page-error.h"

#define ETAG_DIGITS 32

gboolean answer_is_known(HttpRequest *request, const char *etag)
{
	const char *known = http_request_header(request, "If-None-Match");
	g_auto(GStrv) tags = g_strsplit(known ? known : "", ",", 64);

	for (char **tag = tags; *tag; tag++) {
		const char *name = g_strstrip(*tag);

		if (g_str_has_prefix(name, "W/"))
			name += 2;
		if (g_str_equal(name, etag) || g_str_equal(name, "*"))
			return TRUE;
	}
	return FALSE;
}

static void add_caching(HttpRequest *request, const char *etag)
{
	http_answer_header(request, "ETag", etag);
	http_answer_header(request, "Cache-Control", "no-cache");
}

void answer_not_modified(HttpRequest *request, const char *etag)
{
	http_answer(request, 304, NULL, NULL, 0);
	add_caching(request, etag);
}

void answer_text(HttpRequest *request, const char *content_type, char *text, gsize size)
{
	g_autofree char *digest = g_compute_checksum_for_data(G_CHECKSUM_SHA256, (const guchar *)text, size);
	g_autofree char *etag = g_strdup_printf("\"%.*s\"", ETAG_DIGITS, digest);

	if (answer_is_known(request, etag)) {
		g_free(text);
		answer_not_modified(request, etag);
		return;
	}
	http_answer(request, 200, content_type, text, size);
	add_caching(request, etag);
}

static char *object_text(JsonObject *object)
{
	g_autoptr(JsonNode) node = json_node_new(JSON_NODE_OBJECT);
	g_autofree char *text = NULL;

	json_node_take_object(node, object);
	text = json_text(node, TRUE);
	return g_strconcat(text, "\n", NULL);
}

void answer_json(HttpRequest *request, unsigned status, JsonObject *object)
{
	char *text = object_text(object);

	if (status == 200) {
		answer_text(request, JSON_TYPE, text, strlen(text));
		return;
	}
	http_answer(request, status, JSON_TYPE, text, strlen(text));
	http_answer_header(request, "Cache-Control", "no-store");
}

static JsonObject *error_object(const char *code, const char *field, const char *message)
{
	JsonObject *error = json_object_new(), *object = json_object_new();

	json_object_set_string_member(error, "code", code);
	json_object_set_string_member(error, "message", message);
	if (field)
		json_object_set_string_member(error, "field", field);
	else
		json_object_set_null_member(error, "field");
	json_object_set_object_member(object, "error", error);
	return object;
}

/* Paths outside the API are a person's, also those that lead nowhere. */
static gboolean wants_page(HttpRequest *request)
{
	const RouteMatch *match = http_request_data(request);

	return match ? match->route->is_page : !g_str_has_prefix(http_request_path(request), "/api/");
}

void answer_error(HttpRequest *request, unsigned status, const char *code, const char *field,
		  const char *format, ...)
{
	g_autofree char *raw = NULL, *message = NULL;
	va_list args;

	va_start(args, format);
	raw = g_strdup_vprintf(format, args);
	va_end(args);
	message = g_utf8_make_valid(raw, -1);
	if (wants_page(request)) {
		gsize size;
		g_autofree char *named = field && status == 422 ? g_strdup_printf("%s: %s", field, message) : NULL;
		char *page = page_error(status, named ? named : message, &size);

		http_answer(request, status, HTML_TYPE, page, size);
		http_answer_header(request, "Cache-Control", "no-store");
		return;
	}
	answer_json(request, status, error_object(code, field, message));
}

void answer_refusal(HttpRequest *request, const GError *problem)
{
	g_autofree char *field = spec_error_field(problem);
	gboolean syntax = problem->code == SPEC_ERROR_SYNTAX && !field;

	answer_error(request, syntax ? 400 : 422, syntax ? "malformed" : "invalid", field, "%s", problem->message);
}

void answer_trouble(HttpRequest *request, gint64 job, GError *error)
{
	g_autoptr(GError) owned = error;
	gboolean full = g_error_matches(owned, DB_ERROR, DB_ERROR_FULL);

	lab_log(G_LOG_LEVEL_WARNING, job, "%s %s: %s", http_request_method(request), http_request_path(request),
		owned->message);
	if (full) {
		answer_error(request, 503, "disk-full", NULL, "the lab's disk is full; try again later");
		http_answer_header(request, "Retry-After", "60");
		return;
	}
	answer_error(request, 500, "internal", NULL, "the lab could not do this; its log says why");
}
