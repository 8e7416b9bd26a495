/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Mail that comes in: taken once, listed, shown. */
#include "daemon/api-mail.h"

#include "daemon/answer.h"
#include "daemon/job-json.h"

/* ---- one comes in ---- */

static gboolean is_new_state(const char *text)
{
	return g_str_equal(text, "new") || g_str_equal(text, "held") || g_str_equal(text, "done");
}

typedef struct {
	char *message_id, *root, *sender, *subject, *list, *state, *reason, *raw;
	gboolean is_part;
} Arrival;

#define ARRIVAL(member) #member, .offset = G_STRUCT_OFFSET(Arrival, member)
static const Member arrival_members[] = {
	{ ARRIVAL(message_id), .kind = MEMBER_STRING, .max = API_MAIL_TEXT_MAX },
	{ ARRIVAL(root), .kind = MEMBER_STRING, .max = API_MAIL_TEXT_MAX },
	{ ARRIVAL(sender), .kind = MEMBER_STRING, .max = API_MAIL_ADDRESS_MAX },
	{ ARRIVAL(subject), .kind = MEMBER_STRING, .max = API_MAIL_TEXT_MAX },
	{ ARRIVAL(list), .kind = MEMBER_STRING, .max = API_MAIL_ADDRESS_MAX },
	{ ARRIVAL(state), .kind = MEMBER_STRING, .max = 16, .check = is_new_state, .allowed = "new, held or done" },
	{ ARRIVAL(reason), .kind = MEMBER_STRING, .max = API_MAIL_TEXT_MAX },
	{ ARRIVAL(raw), .kind = MEMBER_STRING, .max = API_MAIL_RAW_MAX },
	{ ARRIVAL(is_part), .kind = MEMBER_BOOL },
};

static void arrival_clear(Arrival *arrival)
{
	members_clear(arrival_members, G_N_ELEMENTS(arrival_members), arrival);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Arrival, arrival_clear)

static StoreMailIn *mail_from(Arrival *arrival, gint64 now_ns)
{
	StoreMailIn *mail = g_new0(StoreMailIn, 1);
	gsize size;
	guchar *data = g_base64_decode(arrival->raw, &size);

	mail->message_id = g_steal_pointer(&arrival->message_id);
	mail->root = g_steal_pointer(&arrival->root);
	mail->received_ns = now_ns;
	mail->sender = g_steal_pointer(&arrival->sender);
	mail->subject = g_steal_pointer(&arrival->subject);
	mail->list = g_steal_pointer(&arrival->list);
	mail->state = g_steal_pointer(&arrival->state);
	mail->reason = g_steal_pointer(&arrival->reason);
	mail->is_part = arrival->is_part;
	mail->raw = g_bytes_new_take(data, size);
	return mail;
}

/* Beyond what a sender may ask for in a day it is kept, and nothing comes of it. */
static gboolean apply_quota(const Lab *lab, StoreMailIn *mail, GError **error)
{
	int count;

	if (mail->is_part || !lab->config->mail_per_day)
		return TRUE;
	if (!store_mail_count(lab->db, mail->sender, mail->received_ns, &count, error))
		return FALSE;
	if (count >= lab->config->mail_per_day) {
		g_free(mail->state);
		mail->state = g_strdup("refused");
		g_free(mail->reason);
		mail->reason = g_strdup_printf("its sender has asked %d times in 24 hours", count);
	}
	return TRUE;
}

static JsonObject *mail_json(const StoreMailIn *mail)
{
	JsonObject *object = json_object_new();
	g_autofree char *received = job_json_time(mail->received_ns);

	json_object_set_int_member(object, "id", mail->id);
	json_object_set_string_member(object, "message_id", mail->message_id);
	json_object_set_string_member(object, "root", mail->root);
	json_object_set_string_member(object, "received", received);
	json_object_set_string_member(object, "sender", mail->sender);
	json_object_set_string_member(object, "subject", mail->subject);
	json_object_set_string_member(object, "list", mail->list);
	json_object_set_boolean_member(object, "is_part", mail->is_part);
	json_object_set_string_member(object, "state", mail->state);
	json_object_set_string_member(object, "reason", mail->reason);
	if (mail->job)
		json_object_set_int_member(object, "job", mail->job);
	if (mail->raw) {
		gsize size;
		const guchar *data = g_bytes_get_data(mail->raw, &size);
		g_autofree char *raw = g_base64_encode(data, size);

		json_object_set_string_member(object, "raw", raw);
	}
	return object;
}

void api_mail_in_add(HttpRequest *request, Lab *lab, const RouteMatch *match)
{
	g_auto(Arrival) arrival = { 0 };
	g_autoptr(StoreMailIn) mail = NULL, known = NULL;
	GError *error = NULL;
	gint64 stopped_ns;
	gboolean is_new;

	char **const strings[] = { &arrival.message_id, &arrival.root, &arrival.sender, &arrival.subject, &arrival.list,
				   &arrival.state, &arrival.reason, &arrival.raw };
	api_mail_empty(strings, G_N_ELEMENTS(strings));
	if (!api_mail_check(request, lab, match) ||
	    !api_mail_body(request, arrival_members, G_N_ELEMENTS(arrival_members), &arrival))
		return;
	if (!*arrival.message_id || !*arrival.root || !*arrival.sender || !*arrival.state) {
		answer_error(request, 422, "invalid", "message_id", "a mail has message_id, root, sender and state");
		return;
	}
	mail = mail_from(&arrival, lab->now_ns());
	if (!store_mail_stopped(lab->db, &stopped_ns, &error) ||
	    (!stopped_ns && (!apply_quota(lab, mail, &error) || !store_mail_in_add(lab->db, mail, &is_new, &error) ||
			     !store_mail_in_get(lab->db, mail->id, &known, &error)))) {
		answer_trouble(request, 0, error);
	} else if (stopped_ns) {
		answer_error(request, 409, "stopped", NULL, "no mail is taken in: regrlab mail resume ends that");
	} else {
		g_clear_pointer(&known->raw, g_bytes_unref);
		caller_set_target(match->caller, "mail %" G_GINT64_FORMAT " of %s", known->id, known->sender);
		answer_json(request, is_new ? 201 : 200, mail_json(known));
	}
}

/* ---- what there is ---- */

void api_mail_in_list(HttpRequest *request, Lab *lab, const RouteMatch *match)
{
	const char *thread = http_request_query(request, "thread");
	g_autofree char *state = api_mail_state(request, "new");
	g_autoptr(GPtrArray) mails = NULL;
	GError *error = NULL;
	gboolean ok;

	if (!api_mail_check(request, lab, match))
		return;
	ok = thread ? store_mail_thread(lab->db, thread, API_MAIL_MAX_LIST, &mails, &error)
		    : store_mail_in_list(lab->db, state, lab->now_ns(), API_MAIL_MAX_LIST, &mails, &error);
	if (!ok) {
		answer_trouble(request, 0, error);
		return;
	}
	JsonObject *object = json_object_new();
	JsonArray *array = json_array_new();
	for (guint i = 0; i < mails->len; i++)
		json_array_add_object_element(array, mail_json(g_ptr_array_index(mails, i)));
	json_object_set_array_member(object, "mails", array);
	answer_json(request, 200, object);
}

void api_mail_in(HttpRequest *request, Lab *lab, const RouteMatch *match)
{
	g_autoptr(StoreMailIn) mail = api_mail_find(request, lab, match);

	if (mail)
		answer_json(request, 200, mail_json(mail));
}
