/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "client/mail-bot.h"

#include <stdio.h>
#include <string.h>

#include "jobs/spec/mime.h"
#include "jobs/spec/peek.h"
#include "mail/draft.h"

gboolean mail_bot_load(MailBot *bot, Remote *remote, GError **error)
{
	g_autoptr(JsonObject) answer = remote_get(remote, "/mail", error);

	if (!answer)
		return FALSE;
	bot->remote = remote;
	bot->url = g_strdup(peek_string(answer, "url"));
	bot->benchmarks = g_strdup(peek_string(answer, "benchmarks"));
	bot->settings.address = g_ascii_strdown(peek_string(answer, "address"), -1);
	bot->settings.lists = mail_settings_words(peek_string(answer, "lists"));
	bot->settings.senders = mail_settings_words(peek_string(answer, "senders"));
	bot->settings.known_lists = mail_settings_words(peek_string(answer, "known_lists"));
	bot->settings.authserv_id = g_strdup(peek_string(answer, "authserv_id"));
	bot->settings.arc_sealers = mail_settings_words(peek_string(answer, "arc_sealers"));
	return TRUE;
}

void mail_bot_clear(MailBot *bot)
{
	mail_settings_clear(&bot->settings);
	g_free(bot->url);
	g_free(bot->benchmarks);
}

/* ---- taking one in ---- */

static gboolean only_stops_mail(const Meaning *meaning)
{
	for (guint i = 0; i < meaning->commands->len; i++)
		if (((Command *)g_ptr_array_index(meaning->commands, i))->verb != VERB_NO_MAIL)
			return FALSE;
	return meaning->commands->len > 0;
}

/* Patches of strangers are kept for their threads: somebody else may ask for them. */
static const char *first_state(const Meaning *meaning)
{
	if (meaning->may_submit || (only_stops_mail(meaning) && meaning->trust != TRUST_NO))
		return "new";
	return meaning->part && !meaning->commands->len ? "done" : "held";
}

static JsonObject *arrival(const Meaning *meaning, GBytes *raw)
{
	const Message *message = meaning->message;
	JsonObject *object = json_object_new();
	gsize size;
	const guchar *data = g_bytes_get_data(raw, &size);
	g_autofree char *text = g_base64_encode(data, size);
	const char *root = message->references->len ? g_ptr_array_index(message->references, 0) : message->message_id;

	json_object_set_string_member(object, "message_id", message->message_id);
	json_object_set_string_member(object, "root", root);
	json_object_set_string_member(object, "sender", message->from);
	json_object_set_string_member(object, "subject", message->subject);
	json_object_set_string_member(object, "list", message->list_id);
	json_object_set_string_member(object, "state", first_state(meaning));
	json_object_set_string_member(object, "reason", meaning->may_submit ? "" : meaning->why);
	json_object_set_boolean_member(object, "is_part", meaning->part != NULL);
	json_object_set_string_member(object, "raw", text);
	return object;
}

gboolean mail_bot_take(const MailBot *bot, GBytes *raw, char **ret_said, GError **error)
{
	g_autoptr(Meaning) meaning = meaning_of(raw, &bot->settings);
	g_autoptr(JsonObject) object = NULL, answer = NULL;

	if (meaning->kind == MEANING_NOT_FOR_US || meaning->kind == MEANING_IGNORED) {
		*ret_said = g_strdup_printf("%s: %s", meaning_kind_name(meaning->kind), meaning->detail);
		return TRUE;
	}
	object = arrival(meaning, raw);
	answer = remote_post_json(bot->remote, "/mail/in", object, error);
	if (!answer)
		return FALSE;
	*ret_said = g_strdup_printf("mail %" G_GINT64_FORMAT ", %s, is %s%s%s", peek_int(answer, "id", 0),
				    meaning_kind_name(meaning->kind), peek_string(answer, "state"),
				    *peek_string(answer, "reason") ? ": " : "", peek_string(answer, "reason"));
	return TRUE;
}

/* ---- one that was taken ---- */

void taken_mail_free(TakenMail *mail)
{
	if (!mail)
		return;
	g_free(mail->state);
	g_free(mail->reason);
	meaning_free(mail->meaning);
	g_clear_pointer(&mail->raw, g_bytes_unref);
	g_free(mail);
}

TakenMail *taken_mail_get(const MailBot *bot, gint64 id, GError **error)
{
	g_autofree char *path = g_strdup_printf("/mail/in/%" G_GINT64_FORMAT, id);
	g_autoptr(JsonObject) answer = remote_get(bot->remote, path, error);
	g_autoptr(GDateTime) received = NULL;
	gsize size;

	if (!answer)
		return NULL;
	TakenMail *mail = g_new0(TakenMail, 1);
	guchar *data = g_base64_decode(peek_string(answer, "raw"), &size);
	mail->id = id;
	mail->state = g_strdup(peek_string(answer, "state"));
	mail->reason = g_strdup(peek_string(answer, "reason"));
	mail->job = peek_int(answer, "job", 0);
	mail->raw = g_bytes_new_take(data, size);
	mail->meaning = meaning_of(mail->raw, &bot->settings);
	received = g_date_time_new_from_iso8601(peek_string(answer, "received"), NULL);
	mail->age_s = received ? g_get_real_time() / G_USEC_PER_SEC - g_date_time_to_unix(received) : 0;
	return mail;
}

/* Everybody of the mail, but the lab, whom it is to, and doubles. */
static GPtrArray *others_of(const MailBot *bot, const Message *message)
{
	GPtrArray *others = g_ptr_array_new_with_free_func(g_free);
	g_autoptr(GHashTable) seen = g_hash_table_new(g_str_hash, g_str_equal);

	g_hash_table_add(seen, bot->settings.address);
	g_hash_table_add(seen, message->from);
	for (guint i = 0; i < message->recipients->len; i++) {
		char *address = g_ptr_array_index(message->recipients, i);

		if (g_hash_table_add(seen, address))
			g_ptr_array_add(others, g_strdup(address));
	}
	return others;
}

static void set_answer(JsonObject *object, const MailBot *bot, const TakenMail *mail, const Settlement *settlement)
{
	const Message *message = mail->meaning->message;
	g_autofree char *about = g_strdup_printf("%s of mail %" G_GINT64_FORMAT, settlement->about, mail->id);
	g_autoptr(GPtrArray) nobody = g_ptr_array_new();
	g_autoptr(GPtrArray) others = settlement->is_public ? others_of(bot, message) : g_ptr_array_ref(nobody);
	g_autoptr(GString) recipients = g_string_new(message->from);
	gint64 job = settlement->job ? settlement->job : mail->job;
	g_autofree char *url = job ? g_strdup_printf("%s/jobs/%" G_GINT64_FORMAT, bot->url, job) : g_strdup(bot->url);
	const Draft draft = {
		.from = bot->settings.address, .url = url, .about = about, .to = message->from, .cc = others,
		.subject = message->subject, .in_reply_to = message->message_id, .references = message->references,
		.date_ns = g_get_real_time() * 1000, .body = settlement->body,
	};
	g_autofree char *text = draft_text(&draft), *subject = draft_reply_subject(message->subject);
	g_autofree char *coded = g_base64_encode((const guchar *)text, strlen(text));

	for (guint i = 0; i < others->len; i++)
		g_string_append_printf(recipients, " %s", (const char *)g_ptr_array_index(others, i));
	json_object_set_string_member(object, "about", about);
	json_object_set_string_member(object, "recipients", recipients->str);
	json_object_set_string_member(object, "subject", subject);
	json_object_set_string_member(object, "message", coded);
	json_object_set_boolean_member(object, "public", settlement->is_public);
}

gboolean mail_bot_settle(const MailBot *bot, const TakenMail *mail, const Settlement *settlement, GError **error)
{
	g_autofree char *path = g_strdup_printf("/mail/in/%" G_GINT64_FORMAT, mail->id);
	g_autofree char *reason = mime_line(settlement->reason);
	g_autoptr(JsonObject) object = json_object_new(), answer = NULL;

	json_object_set_string_member(object, "from", mail->state);
	json_object_set_string_member(object, "state", settlement->state);
	json_object_set_string_member(object, "reason", reason);
	if (settlement->refuse)
		json_object_set_string_member(object, "refuse", settlement->refuse);
	if (settlement->job)
		json_object_set_int_member(object, "job", settlement->job);
	if (settlement->body)
		set_answer(object, bot, mail, settlement);
	answer = remote_post_json(bot->remote, path, object, error);
	return answer != NULL;
}

/* ---- all of them ---- */

typedef gboolean (*Step)(const MailBot *bot, const TakenMail *mail, GError **error);

/* What the lab refuses of one mail is said, and does not hold up the others. */
static gboolean do_step(const MailBot *bot, gint64 id, Step step, GError **error)
{
	g_autoptr(GError) problem = NULL;
	g_autoptr(TakenMail) mail = taken_mail_get(bot, id, &problem);

	if (mail && (!mail->meaning->message || step(bot, mail, &problem)))
		return TRUE;
	if (g_error_matches(problem, REMOTE_ERROR, REMOTE_ERROR_REFUSED)) {
		fprintf(stderr, "mail %" G_GINT64_FORMAT ": %s\n", id, problem->message);
		return TRUE;
	}
	g_propagate_error(error, g_steal_pointer(&problem));
	return FALSE;
}

static gboolean each(const MailBot *bot, const char *state, Step step, GError **error)
{
	g_autofree char *path = g_strdup_printf("/mail/in?state=%s", state);
	g_autoptr(JsonObject) answer = remote_get(bot->remote, path, error);
	JsonArray *mails = peek_array(answer, "mails");

	for (guint i = 0; i < peek_length(mails); i++)
		if (!do_step(bot, peek_int(peek_element(mails, i), "id", 0), step, error))
			return FALSE;
	return answer != NULL;
}

gboolean mail_bot_work(const MailBot *bot, GError **error)
{
	return each(bot, "new", mail_bot_act, error) && each(bot, "waiting", mail_bot_act, error) &&
	       each(bot, "due", mail_bot_report, error);
}
