/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Mail that goes out: listed, marked before it is handed over, and what came of that. */
#include "daemon/api-mail.h"

#include <string.h>

#include "daemon/answer.h"
#include "daemon/job-json.h"

#define MIN_NS (G_GINT64_CONSTANT(60) * 1000000000)
#define MAX_ATTEMPTS 12		/* the last one about a day and a half after the first */
#define MAX_WAIT_MIN 360

static JsonObject *out_json(const StoreMailOut *mail)
{
	JsonObject *object = json_object_new();
	g_autofree char *queued = job_json_time(mail->queued_ns), *changed = job_json_time(mail->changed_ns);

	json_object_set_int_member(object, "id", mail->id);
	json_object_set_string_member(object, "about", mail->about);
	json_object_set_string_member(object, "queued", queued);
	json_object_set_string_member(object, "changed", changed);
	json_object_set_string_member(object, "recipients", mail->recipients);
	json_object_set_string_member(object, "subject", mail->subject);
	json_object_set_string_member(object, "state", mail->state);
	json_object_set_int_member(object, "attempts", mail->attempts);
	json_object_set_string_member(object, "said", mail->said);
	if (mail->message) {
		gsize size;
		const guchar *data = g_bytes_get_data(mail->message, &size);
		g_autofree char *message = g_base64_encode(data, size);

		json_object_set_string_member(object, "message", message);
	}
	return object;
}

void api_mail_out_list(HttpRequest *request, Lab *lab, const RouteMatch *match)
{
	g_autofree char *state = api_mail_state(request, "");
	g_autoptr(GPtrArray) mails = NULL;
	GError *error = NULL;

	if (!api_mail_check(request, lab, match))
		return;
	if (!store_mail_out_list(lab->db, state, API_MAIL_MAX_LIST, &mails, &error)) {
		answer_trouble(request, 0, error);
		return;
	}
	JsonObject *object = json_object_new();
	JsonArray *array = json_array_new();
	for (guint i = 0; i < mails->len; i++)
		json_array_add_object_element(array, out_json(g_ptr_array_index(mails, i)));
	json_object_set_array_member(object, "mails", array);
	answer_json(request, 200, object);
}

static StoreMailOut *find_out(HttpRequest *request, Lab *lab, const RouteMatch *match)
{
	StoreMailOut *mail = NULL;
	GError *error = NULL;

	if (!api_mail_check(request, lab, match))
		return NULL;
	if (!store_mail_out_get(lab->db, match->id, &mail, &error))
		answer_trouble(request, 0, error);
	else if (!mail)
		answer_error(request, 404, "not-found", NULL, "there is no mail %" G_GINT64_FORMAT " that goes out", match->id);
	return mail;
}

void api_mail_out(HttpRequest *request, Lab *lab, const RouteMatch *match)
{
	g_autoptr(StoreMailOut) mail = find_out(request, lab, match);

	if (mail)
		answer_json(request, 200, out_json(mail));
}

void api_mail_claim(HttpRequest *request, Lab *lab, const RouteMatch *match)
{
	g_autoptr(StoreMailOut) mail = NULL;
	GError *error = NULL;

	if (!api_mail_check(request, lab, match))
		return;
	if (!store_mail_claim(lab->db, lab->config->mail_per_hour, lab->now_ns(), &mail, &error)) {
		answer_trouble(request, 0, error);
	} else if (!mail) {
		answer_error(request, 404, "nothing-to-send", NULL, "no mail is to be sent now");
	} else {
		caller_set_target(match->caller, "mail %" G_GINT64_FORMAT ", %s", mail->id, mail->about);
		answer_json(request, 200, out_json(mail));
	}
}

/* ---- what came of it ---- */

typedef struct {
	char *from, *state, *said;
} Change;

#define CHANGE(member) #member, .offset = G_STRUCT_OFFSET(Change, member)
static const Member change_members[] = {
	{ CHANGE(from), .kind = MEMBER_STRING, .max = 16 },
	{ CHANGE(state), .kind = MEMBER_STRING, .max = 16 },
	{ CHANGE(said), .kind = MEMBER_STRING, .max = API_MAIL_TEXT_MAX },
};

static void change_clear(Change *change)
{
	members_clear(change_members, G_N_ELEMENTS(change_members), change);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Change, change_clear)

/* What may follow what. Nothing leaves "sending" for "queued" but what a server surely did not take ("later"). */
static const struct {
	const char *from, *asked, *state;
} changes[] = {
	{ "sending", "sent", "sent" },	  { "sending", "failed", "failed" }, { "sending", "later", "queued" },
	{ "held", "queued", "queued" },	  { "held", "dropped", "dropped" },  { "queued", "dropped", "dropped" },
	{ "sending", "dropped", "dropped" },
};

static const char *state_after(const StoreMailOut *mail, const Change *change)
{
	for (gsize i = 0; i < G_N_ELEMENTS(changes); i++)
		if (g_str_equal(changes[i].from, change->from) && g_str_equal(changes[i].asked, change->state))
			return g_str_equal(change->state, "later") && mail->attempts >= MAX_ATTEMPTS ? "failed" : changes[i].state;
	return NULL;
}

/* 5, 10, 20 … minutes after the first, second, third attempt. */
static gint64 wait_ns(int attempts)
{
	return MIN(5 << CLAMP(attempts - 1, 0, 8), MAX_WAIT_MIN) * MIN_NS;
}

static void apply(HttpRequest *request, Lab *lab, StoreMailOut *mail, const Change *change)
{
	const char *state = state_after(mail, change);
	gint64 now_ns = lab->now_ns();
	GError *error = NULL;
	gboolean was;

	if (!state) {
		answer_error(request, 422, "invalid", "state", "'%s' does not follow '%s'", change->state, change->from);
		return;
	}
	g_free(mail->state);
	mail->state = g_strdup(state);
	g_free(mail->said);
	mail->said = g_strdup(change->said);
	mail->next_ns = g_str_equal(change->state, "later") ? now_ns + wait_ns(mail->attempts) : 0;
	mail->changed_ns = now_ns;
	if (!store_mail_out_set(lab->db, mail, change->from, &was, &error)) {
		answer_trouble(request, 0, error);
	} else if (!was) {
		answer_error(request, 409, "not-so", "from", "mail %" G_GINT64_FORMAT " is not %s", mail->id, change->from);
	} else {
		g_clear_pointer(&mail->message, g_bytes_unref);
		answer_json(request, 200, out_json(mail));
	}
}

void api_mail_out_set(HttpRequest *request, Lab *lab, const RouteMatch *match)
{
	g_autoptr(StoreMailOut) mail = find_out(request, lab, match);
	g_auto(Change) change = { g_strdup(""), g_strdup(""), g_strdup("") };

	if (mail && api_mail_body(request, change_members, G_N_ELEMENTS(change_members), &change))
		apply(request, lab, mail, &change);
}
