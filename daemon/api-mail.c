/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Mail, for the bot: how it is set, and what the other handlers of it share. */
#include "daemon/api-mail.h"

#include <string.h>

#include "daemon/answer.h"
#include "daemon/job-json.h"
#include "jobs/spec/file.h"

gboolean api_mail_check(HttpRequest *request, const Lab *lab, const RouteMatch *match)
{
	const Caller *caller = match->caller;
	g_autofree char *bot = g_strdup_printf("token %d", lab->config->mail_token);

	if (!*lab->config->mail_address)
		answer_error(request, 409, "mail-off", NULL, "this lab has no address in [mail] of its configuration");
	else if (caller->role != ROLE_ADMIN && !(lab->config->mail_token && g_str_equal(caller->submitter, bot)))
		answer_error(request, 403, "not-the-bot", NULL, "mail is for the token that [mail] names, and for admins");
	else
		return TRUE;
	return FALSE;
}

gboolean api_mail_body(HttpRequest *request, const Member *members, gsize n, gpointer record)
{
	const char *type = http_request_header(request, "Content-Type");
	const GByteArray *body = http_request_body(request);
	g_autoptr(JsonObject) object = NULL;
	g_autoptr(GError) error = NULL;

	if (!type || g_ascii_strncasecmp(type, JSON_TYPE, strlen(JSON_TYPE)) != 0)
		answer_error(request, 415, "unsupported-type", NULL, "this is asked for in application/json");
	else if (!json_object_from_data((const char *)body->data, body->len, &object, &error) ||
		 !members_from_json(members, n, record, object, &error))
		answer_refusal(request, error);
	else
		return TRUE;
	return FALSE;
}

char *api_mail_state(HttpRequest *request, const char *standard)
{
	const char *state = http_request_query(request, "state");

	return g_strdup(state ? state : standard);
}

StoreMailIn *api_mail_find(HttpRequest *request, Lab *lab, const RouteMatch *match)
{
	StoreMailIn *mail = NULL;
	GError *error = NULL;

	if (!api_mail_check(request, lab, match))
		return NULL;
	if (!store_mail_in_get(lab->db, match->id, &mail, &error))
		answer_trouble(request, 0, error);
	else if (!mail)
		answer_error(request, 404, "not-found", NULL, "there is no mail %" G_GINT64_FORMAT, match->id);
	return mail;
}

void api_mail_empty(char **const *strings, gsize n)
{
	for (gsize i = 0; i < n; i++)
		*strings[i] = g_strdup("");
}

/* ---- how it is set ---- */

static void set_words(JsonObject *object, const char *name, const char *text)
{
	json_object_set_string_member(object, name, text);
}

void api_mail(HttpRequest *request, Lab *lab, const RouteMatch *match)
{
	const Config *config = lab->config;
	g_auto(GStrv) refusals = NULL;
	g_autofree char *since = NULL;
	GError *error = NULL;
	gint64 stopped_ns;
	JsonObject *object;
	JsonArray *array;

	if (!api_mail_check(request, lab, match))
		return;
	if (!store_mail_refusals(lab->db, &refusals, &error) || !store_mail_stopped(lab->db, &stopped_ns, &error)) {
		answer_trouble(request, 0, error);
		return;
	}
	object = json_object_new();
	array = json_array_new();
	for (char **address = refusals; *address; address++)
		json_array_add_string_element(array, *address);
	since = job_json_time(stopped_ns);
	set_words(object, "address", config->mail_address);
	set_words(object, "lists", config->mail_lists);
	set_words(object, "senders", config->mail_senders);
	set_words(object, "known_lists", config->mail_known_lists);
	set_words(object, "authserv_id", config->mail_authserv_id);
	set_words(object, "arc_sealers", config->mail_arc_sealers);
	set_words(object, "url", config->url);
	set_words(object, "benchmarks", config->mail_benchmarks);
	json_object_set_array_member(object, "refusals", array);
	json_object_set_boolean_member(object, "stopped", stopped_ns != 0);
	json_object_set_string_member(object, "stopped_since", since);
	answer_json(request, 200, object);
}

static void set_stop(HttpRequest *request, Lab *lab, const RouteMatch *match, gboolean stop)
{
	GError *error = NULL;

	if (!api_mail_check(request, lab, match))
		return;
	if (!store_mail_stop(lab->db, stop, lab->now_ns(), &error)) {
		answer_trouble(request, 0, error);
		return;
	}
	JsonObject *object = json_object_new();
	json_object_set_boolean_member(object, "stopped", stop);
	answer_json(request, 200, object);
}

void api_mail_stop(HttpRequest *request, Lab *lab, const RouteMatch *match)
{
	set_stop(request, lab, match, TRUE);
}

void api_mail_resume(HttpRequest *request, Lab *lab, const RouteMatch *match)
{
	set_stop(request, lab, match, FALSE);
}
