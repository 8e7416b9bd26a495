/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/openapi.h"

#include <string.h>

#include "daemon/routes.h"
#include "jobs/spec/series.h"
#include "jobs/spec/spec.h"

static const struct {
	const char *name, *help;
} fields[] = {
	{ "kind", "compare, or calibrate: the base kernel alone, max_boots times two boots, to learn how much its figures vary" },
	{ "series", "the patches as an mbox (git format-patch --stdout, b4 am); or head" },
	{ "base", "commit, tag or branch to compare with; else the series' base-commit trailer, else the tree's branch" },
	{ "head", "a second commit instead of a series" },
	{ "tree", "a tree of the configuration; else the first" },
	{ "benchmarks", "names, separated by commas; may come more than once" },
	{ "params", "BENCHMARK.PARAMETER=VALUE[,VALUE...]; may come more than once" },
	{ "profile", "of the benchmarks: quick, full or auto (full on kvm, else quick)" },
	{ "config", "a kernel configuration profile by name, or a configuration as a file" },
	{ "clock", "kvm, tcg, icount or auto (kvm if guests run on it, else icount)" },
	{ "max_boots", "boots of each arm, at most; measuring stops before when they decide" },
	{ "rule", "auto, fixed or sequential; auto: sequential if there may be more than 4 boots of each arm, else fixed" },
	{ "min_effect", "the smallest change that matters, per cent" },
	{ "alpha", "the rate of false alarms of the whole job" },
	{ "priority", "-10 to 10: higher first among your own jobs, and below 0 after those of others" },
	{ "host", "the host to measure on, by its name; any that fits if not given" },
	{ "labels", "labels that the host must have, separated by commas" },
	{ "replicate", "on how many hosts it is measured, each a job of its own with all boots (1)" },
	{ "seed", "of every random choice; 0: the lab picks one" },
	{ "notify", "a mail address, kept with the job; nothing is sent there" },
	{ "subject", "for people; else the series' own" },
};

static JsonObject *text(const char *name, const char *value)
{
	JsonObject *object = json_object_new();

	json_object_set_string_member(object, name, value);
	return object;
}

static JsonObject *reference(const char *schema)
{
	g_autofree char *path = g_strconcat("#/components/schemas/", schema, NULL);

	return text("$ref", path);
}

static JsonObject *content(const char *type, JsonObject *schema)
{
	JsonObject *media = json_object_new(), *object = json_object_new();
	g_autofree char *bare = g_strndup(type, strcspn(type, ";"));

	json_object_set_object_member(media, "schema", schema);
	json_object_set_object_member(object, bare, media);
	return object;
}

static void add_parameter(JsonArray *parameters, const char *name, const char *in, const char *type, const char *help)
{
	JsonObject *object = json_object_new();

	json_object_set_string_member(object, "name", name);
	json_object_set_string_member(object, "in", in);
	json_object_set_boolean_member(object, "required", g_str_equal(in, "path"));
	json_object_set_string_member(object, "description", help);
	json_object_set_object_member(object, "schema", text("type", type));
	json_array_add_object_element(parameters, object);
}

static JsonArray *parameters_of(const Route *route)
{
	JsonArray *parameters = json_array_new();

	if (strstr(route->pattern, "{id}"))
		add_parameter(parameters, "id", "path", "integer", "the job's number");
	if (strstr(route->pattern, "{name}"))
		add_parameter(parameters, "name", "path", "string", "the file's name");
	for (const RouteQuery *query = route->queries; query && query->name; query++)
		add_parameter(parameters, query->name, "query", query->type, query->help);
	if (route->body == BODY_SUBMISSION)
		add_parameter(parameters, "Idempotency-Key", "header", "string",
			      "the same key with the same submission gives the same job, with another one 409");
	return parameters;
}

static JsonObject *submission_schema(gboolean is_form)
{
	JsonObject *schema = json_object_new(), *properties = json_object_new();

	json_object_set_string_member(schema, "type", "object");
	for (gsize i = 0; i < G_N_ELEMENTS(fields); i++) {
		JsonObject *property = text("type", "string");

		json_object_set_string_member(property, "description", fields[i].help);
		if (is_form && g_str_equal(fields[i].name, "series"))
			json_object_set_string_member(property, "format", "binary");
		json_object_set_object_member(properties, fields[i].name, property);
	}
	json_object_set_object_member(schema, "properties", properties);
	return schema;
}

static JsonObject *request_body(void)
{
	static const char *const mbox[] = { "text/plain", "application/mbox", "message/rfc822" };
	JsonObject *body = json_object_new();
	JsonObject *types = content("multipart/form-data", submission_schema(TRUE));
	JsonObject *json = content("application/json", submission_schema(FALSE));
	g_autofree char *help = g_strdup_printf(
		"A form, JSON with the same names, or the mbox alone with the other fields in the query. "
		"At most %d patches in %d MiB.", SERIES_MAX_PATCHES, SERIES_MAX_BYTES / 1024 / 1024);

	json_object_set_member(types, "application/json", json_node_copy(json_object_get_member(json, "application/json")));
	json_object_unref(json);
	for (gsize i = 0; i < G_N_ELEMENTS(mbox); i++) {
		JsonObject *media = json_object_new();

		json_object_set_object_member(media, "schema", text("type", "string"));
		json_object_set_object_member(types, mbox[i], media);
	}
	json_object_set_string_member(body, "description", help);
	json_object_set_boolean_member(body, "required", TRUE);
	json_object_set_object_member(body, "content", types);
	return body;
}

static JsonObject *token_body(void)
{
	static const struct {
		const char *name, *type, *help;
	} rows[] = {
		{ "name", "string", "for people" },
		{ "role", "string", "read, submit or admin" },
		{ "queue_max", "integer", "jobs that have not ended; of each limit, 0 is none, and absent is as configured" },
		{ "requests_per_min", "integer", "requests in a minute" },
		{ "hours_per_day", "integer", "machine time in 24 hours" },
		{ "days", "integer", "after which it expires; 0: never" },
	};
	JsonObject *schema = text("type", "object"), *properties = json_object_new(), *body = json_object_new();

	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
		JsonObject *property = text("type", rows[i].type);

		json_object_set_string_member(property, "description", rows[i].help);
		json_object_set_object_member(properties, rows[i].name, property);
	}
	json_object_set_object_member(schema, "properties", properties);
	json_object_set_boolean_member(body, "required", TRUE);
	json_object_set_object_member(body, "content", content("application/json", schema));
	return body;
}

static const char *meaning(const char *status)
{
	static const struct {
		const char *status, *meaning;
	} rows[] = {
		{ "200", "as asked" },
		{ "201", "made" },
		{ "202", "accepted; it goes on by itself" },
		{ "303", "done; Location is the page to look at next" },
		{ "304", "as the client has it (If-None-Match)" },
		{ "400", "malformed request" },
		{ "401", "a token is needed, or this one does not work" },
		{ "403", "the token's role is too low, it is somebody else's, or a page of another site asks" },
		{ "404", "no such thing" },
		{ "409", "not in this state, or the key was used for something else" },
		{ "411", "neither Content-Length nor chunks" },
		{ "413", "body too large" },
		{ "415", "a content type that is not taken" },
		{ "421", "the Host header is not this lab" },
		{ "422", "understood, but cannot be done; the field is named" },
		{ "429", "too many requests, too much is queued, or machine time is used; see Retry-After" },
		{ "500", "the lab's own trouble" },
		{ "503", "the lab cannot store anything now" },
	};

	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++)
		if (g_str_equal(rows[i].status, status))
			return rows[i].meaning;
	g_assert_not_reached();
}

static JsonObject *responses_of(const Route *route)
{
	g_autofree char *all = g_strconcat(route->statuses, route->access == ACCESS_ANYONE ? "" : " 401 403 429", NULL);
	g_auto(GStrv) statuses = g_strsplit(all, " ", -1);
	JsonObject *responses = json_object_new();

	for (char **status = statuses; *status; status++) {
		JsonObject *response = text("description", meaning(*status));
		gboolean good = **status == '2';

		if (good)
			json_object_set_object_member(
				response, "content",
				content(route->produces, text("type", g_str_equal(route->produces, "application/json") ? "object" : "string")));
		else if (!route->is_page && !g_str_equal(*status, "304"))
			json_object_set_object_member(response, "content", content("application/json", reference("Error")));
		json_object_set_object_member(responses, *status, response);
	}
	return responses;
}

static gboolean takes_token(const Route *route)
{
	return route->access != ACCESS_ANYONE;
}

static gboolean needs_none(const Route *route)
{
	return route->access != ACCESS_TOKENS;
}

static gboolean is_read(const Route *route)
{
	return takes_token(route) && g_str_equal(route->method, "GET");
}

/* One of these is enough. An open lab, and for reading most, ask for none. */
static JsonObject *mail_body(const Route *route)
{
	static const struct {
		const char *pattern, *members;
	} rows[] = {
		{ API "/mail/in", "message_id, root, sender, state (new, done or held); subject, list, reason, is_part; raw in base64" },
		{ API "/mail/in/{id}", "from and state (of the mail), reason, job, refuse (who wants no mail); of an answer about, recipients, "
				       "subject, public, message in base64" },
		{ API "/mail/out/{id}", "from (sending, held or queued) and state (sent, later, failed, queued or dropped), said" },
	};
	JsonObject *schema = text("type", "object"), *body = json_object_new();

	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++)
		if (g_str_equal(rows[i].pattern, route->pattern))
			json_object_set_string_member(schema, "description", rows[i].members);
	json_object_set_object_member(body, "content", content("application/json", schema));
	return body;
}

static JsonArray *security_of(const Route *route)
{
	static const struct {
		const char *scheme;	/* NULL: none is needed */
		gboolean (*with)(const Route *route);
	} rows[] = {
		{ NULL, needs_none },
		{ "bearer", takes_token },
		{ "basic", is_read },
	};
	JsonArray *security = json_array_new();

	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
		JsonObject *row;

		if (!rows[i].with(route))
			continue;
		row = json_object_new();
		if (rows[i].scheme)
			json_object_set_array_member(row, rows[i].scheme, json_array_new());
		json_array_add_object_element(security, row);
	}
	return security;
}

static const char *role_of(const Route *route)
{
	static const char *const names[] = {
		[ACCESS_UNDECLARED] = "nobody",
		[ACCESS_ANYONE] = "anyone",
		[ACCESS_READ] = "read",
		[ACCESS_SUBMIT] = "submit",
		[ACCESS_ADMIN] = "admin",
		[ACCESS_TOKENS] = "admin",
	};

	return names[route->access];
}

static JsonObject *operation(const Route *route)
{
	JsonObject *object = text("summary", route->summary);
	JsonArray *parameters = parameters_of(route);

	if (json_array_get_length(parameters))
		json_object_set_array_member(object, "parameters", parameters);
	else
		json_array_unref(parameters);
	if (route->body == BODY_SUBMISSION && !route->is_page)
		json_object_set_object_member(object, "requestBody", request_body());
	else if (route->body == BODY_TOKEN)
		json_object_set_object_member(object, "requestBody", token_body());
	else if (route->body == BODY_MAIL)
		json_object_set_object_member(object, "requestBody", mail_body(route));
	json_object_set_object_member(object, "responses", responses_of(route));
	json_object_set_array_member(object, "security", security_of(route));
	json_object_set_string_member(object, "x-role", role_of(route));
	return object;
}

static JsonObject *error_schema(void)
{
	static const char *const members[] = { "code", "message", "field" };
	JsonObject *schema = text("type", "object"), *error = text("type", "object");
	JsonObject *outer = json_object_new(), *inner = json_object_new();

	for (gsize i = 0; i < G_N_ELEMENTS(members); i++) {
		JsonObject *member = text("type", "string");

		if (g_str_equal(members[i], "field"))
			json_object_set_boolean_member(member, "nullable", TRUE);
		json_object_set_object_member(inner, members[i], member);
	}
	json_object_set_object_member(error, "properties", inner);
	json_object_set_object_member(outer, "error", error);
	json_object_set_object_member(schema, "properties", outer);
	return schema;
}

static JsonObject *security_schemes(void)
{
	static const struct {
		const char *name, *help;
	} rows[] = {
		{ "bearer", "a token: regrlab_ID_SECRET" },
		{ "basic", "the token as the password, for reading alone; the name does not matter" },
	};
	JsonObject *schemes = json_object_new();

	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
		JsonObject *scheme = text("type", "http");

		json_object_set_string_member(scheme, "scheme", rows[i].name);
		json_object_set_string_member(scheme, "description", rows[i].help);
		json_object_set_object_member(schemes, rows[i].name, scheme);
	}
	return schemes;
}

JsonObject *openapi_document(void)
{
	JsonObject *document = text("openapi", "3.0.3"), *info = text("title", "regrlab"), *paths = json_object_new();
	JsonObject *components = json_object_new(), *schemas = json_object_new();

	json_object_set_string_member(info, "version", "1");
	json_object_set_string_member(info, "description", "A regression lab for the performance of Linux memory management.");
	json_object_set_object_member(document, "info", info);
	for (gsize i = 0; i < routes_n; i++) {
		const Route *route = &routes[i];
		g_autofree char *method = g_ascii_strdown(route->method, -1);
		JsonObject *path = json_object_has_member(paths, route->pattern) ?
					   json_object_get_object_member(paths, route->pattern) : NULL;

		if (!path) {
			path = json_object_new();
			json_object_set_object_member(paths, route->pattern, path);
		}
		json_object_set_object_member(path, method, operation(route));
	}
	json_object_set_object_member(document, "paths", paths);
	json_object_set_object_member(schemas, "Error", error_schema());
	json_object_set_object_member(components, "schemas", schemas);
	json_object_set_object_member(components, "securitySchemes", security_schemes());
	json_object_set_object_member(document, "components", components);
	return document;
}
