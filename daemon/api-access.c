/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tokens and the audit log: for admins. */
#include <string.h>

#include "daemon/answer.h"
#include "daemon/api.h"
#include "daemon/job-json.h"
#include "jobs/spec/file.h"
#include "jobs/spec/members.h"

#define AUDIT_DEFAULT 50
#define AUDIT_MAX 200
#define DAY_NS (G_GINT64_CONSTANT(86400) * 1000000000)

/* ---- making one ---- */

typedef struct {
	char *name, *role;
	int queue_max, requests_per_min, hours_per_day, days;
} Wanted;

static gboolean is_name(const char *text)
{
	if (!*text || *text == ' ')
		return FALSE;
	for (; *text; text++)
		if (g_ascii_iscntrl(*text))
			return FALSE;
	return TRUE;
}

static gboolean is_role(const char *text)
{
	Role role;

	return role_from_name(text, &role);
}

#define WANTED(member) #member, .offset = G_STRUCT_OFFSET(Wanted, member)
static const Member members[] = {
	{ WANTED(name), .kind = MEMBER_STRING, .max = STORE_TOKEN_MAX_NAME, .check = is_name,
	  .allowed = "text on one line that does not begin with a space" },
	{ WANTED(role), .kind = MEMBER_STRING, .max = 16, .check = is_role, .allowed = "read, submit or admin" },
	{ WANTED(queue_max), .kind = MEMBER_INT, .min = 0, .max = 100000 },
	{ WANTED(requests_per_min), .kind = MEMBER_INT, .min = 0, .max = 1000000 },
	{ WANTED(hours_per_day), .kind = MEMBER_INT, .min = 0, .max = 100000 },
	{ WANTED(days), .kind = MEMBER_INT, .min = 0, .max = CONFIG_TOKEN_MAX_DAYS },
};

static void wanted_clear(Wanted *wanted)
{
	members_clear(members, G_N_ELEMENTS(members), wanted);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Wanted, wanted_clear)

static gboolean read_wanted(HttpRequest *request, Wanted *wanted)
{
	const char *type = http_request_header(request, "Content-Type");
	const GByteArray *body = http_request_body(request);
	g_autoptr(JsonObject) object = NULL;
	g_autoptr(GError) error = NULL;

	if (!type || g_ascii_strncasecmp(type, JSON_TYPE, strlen(JSON_TYPE)) != 0) {
		answer_error(request, 415, "unsupported-type", NULL, "a token is asked for in application/json");
		return FALSE;
	}
	if (!json_object_from_data((const char *)body->data, body->len, &object, &error) ||
	    !members_from_json(members, G_N_ELEMENTS(members), wanted, object, &error)) {
		answer_refusal(request, error);
		return FALSE;
	}
	if (*wanted->name && *wanted->role)
		return TRUE;
	answer_error(request, 422, "invalid", *wanted->name ? "role" : "name", "a token has a name and a role");
	return FALSE;
}

static JsonObject *token_json(const StoreToken *token)
{
	JsonObject *object = json_object_new();
	g_autofree char *created = job_json_time(token->created_ns), *revoked = job_json_time(token->revoked_ns);
	g_autofree char *expires = job_json_time(token->expires_ns);

	json_object_set_int_member(object, "id", token->id);
	json_object_set_string_member(object, "name", token->name);
	json_object_set_string_member(object, "role", role_name(token->role));
	json_object_set_int_member(object, "queue_max", token->queue_max);
	json_object_set_int_member(object, "requests_per_min", token->requests_per_min);
	json_object_set_int_member(object, "hours_per_day", token->hours_per_day);
	json_object_set_string_member(object, "created", created);
	json_object_set_string_member(object, "expires", expires);
	json_object_set_string_member(object, "revoked", revoked);
	return object;
}

void api_token_create(HttpRequest *request, Lab *lab, const RouteMatch *match)
{
	const Config *config = lab->config;
	g_auto(Wanted) wanted = { g_strdup(""), g_strdup(""), config->token_queue_max, config->token_requests_per_min,
				  config->token_hours_per_day, config->token_days };
	g_autoptr(StoreToken) token = g_new0(StoreToken, 1);
	g_autofree char *text = NULL;
	GError *error = NULL;
	JsonObject *object;

	if (!read_wanted(request, &wanted))
		return;
	token->name = g_strdup(wanted.name);
	role_from_name(wanted.role, &token->role);
	token->queue_max = wanted.queue_max;
	token->requests_per_min = wanted.requests_per_min;
	token->hours_per_day = wanted.hours_per_day;
	token->created_ns = lab->now_ns();
	token->expires_ns = wanted.days ? token->created_ns + wanted.days * DAY_NS : 0;
	text = access_new_token(access_key(lab->access), lab->db, token, &error);
	if (!text && g_error_matches(error, DB_ERROR, DB_ERROR_CONFLICT)) {
		answer_error(request, 409, "too-many-tokens", NULL, "%s", error->message);
		g_error_free(error);
		return;
	}
	if (!text) {
		answer_trouble(request, 0, error);
		return;
	}
	caller_set_target(match->caller, "token %" G_GINT64_FORMAT ", %s, %s", token->id, role_name(token->role), token->name);
	object = token_json(token);
	json_object_set_string_member(object, "token", text);
	answer_json(request, 201, object);
}

/* ---- all of them ---- */

void api_tokens(HttpRequest *request, Lab *lab, const RouteMatch *match G_GNUC_UNUSED)
{
	g_autoptr(GPtrArray) tokens = NULL;
	JsonObject *object;
	JsonArray *array;
	GError *error = NULL;

	if (!store_tokens(lab->db, &tokens, &error)) {
		answer_trouble(request, 0, error);
		return;
	}
	object = json_object_new();
	array = json_array_new();
	for (guint i = 0; i < tokens->len; i++)
		json_array_add_object_element(array, token_json(g_ptr_array_index(tokens, i)));
	json_object_set_array_member(object, "tokens", array);
	answer_json(request, 200, object);
}

void api_token_revoke(HttpRequest *request, Lab *lab, const RouteMatch *match)
{
	g_autoptr(StoreToken) token = NULL;
	GError *error = NULL;

	if (!store_token_revoke(lab->db, match->id, lab->now_ns(), &error) ||
	    !store_token_get(lab->db, match->id, &token, &error)) {
		answer_trouble(request, 0, error);
		return;
	}
	if (!token) {
		answer_error(request, 404, "not-found", NULL, "there is no token %" G_GINT64_FORMAT, match->id);
		return;
	}
	caller_set_target(match->caller, "token %" G_GINT64_FORMAT, token->id);
	answer_json(request, 200, token_json(token));
}

/* ---- the audit log ---- */

typedef struct {
	JsonArray *entries;
	gint64 last_id;
} Listing;

static void add_entry(const StoreAudit *entry, gpointer data)
{
	Listing *listing = data;
	JsonObject *object = json_object_new();
	g_autofree char *time = job_json_time(entry->time_ns);

	json_object_set_int_member(object, "id", entry->id);
	json_object_set_string_member(object, "time", time);
	json_object_set_string_member(object, "who", entry->who);
	json_object_set_string_member(object, "name", entry->name);
	json_object_set_string_member(object, "address", entry->address);
	json_object_set_string_member(object, "action", entry->action);
	json_object_set_string_member(object, "target", entry->target);
	json_array_add_object_element(listing->entries, object);
	listing->last_id = entry->id;
}

void api_audit(HttpRequest *request, Lab *lab, const RouteMatch *match G_GNUC_UNUSED)
{
	Listing listing = { json_array_new(), 0 };
	g_autoptr(JsonObject) object = json_object_new();
	gint64 limit = AUDIT_DEFAULT, before_id = 0;
	GError *error = NULL;

	json_object_set_array_member(object, "entries", listing.entries);
	if (!api_int_query(request, "limit", 1, AUDIT_MAX, &limit) ||
	    !api_int_query(request, "cursor", 1, G_MAXINT64, &before_id))
		return;
	if (!store_audit_list(lab->db, before_id, (int)limit, add_entry, &listing, &error)) {
		answer_trouble(request, 0, error);
		return;
	}
	if (json_array_get_length(listing.entries) == (guint)limit && listing.last_id > 1) {
		g_autofree char *cursor = g_strdup_printf("%" G_GINT64_FORMAT, listing.last_id);

		json_object_set_string_member(object, "cursor", cursor);
	} else {
		json_object_set_null_member(object, "cursor");
	}
	answer_json(request, 200, g_steal_pointer(&object));
}
