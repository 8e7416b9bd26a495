/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "client/mail-test.h"

#include <string.h>

#include "jobs/spec/peek.h"
#include "jobs/spec/series.h"
#include "mail/reply.h"

#define PATIENCE_S (15 * 60)	/* that an answer waits for parts that may still come */

typedef struct {
	Series *series;
	GString *mbox;		/* its patches, for the lab */
	guint prerequisites;
	gboolean is_reported;	/* another mail of the thread has its job */
	JsonObject *thread;
} Found;

static void found_clear(Found *found)
{
	series_free(found->series);
	if (found->mbox)
		g_string_free(found->mbox, TRUE);
	g_clear_pointer(&found->thread, json_object_unref);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Found, found_clear)

static char *path_of(const char *message_id)
{
	g_autofree char *escaped = g_uri_escape_string(message_id, NULL, FALSE);

	return g_strdup_printf("/mail/in?thread=%s", escaped);
}

char *mail_thread_path(const Message *message)
{
	return path_of(message->references->len ? g_ptr_array_index(message->references, 0) : message->message_id);
}

/* ---- the series ---- */

static void add_mail(GString *mbox, GBytes *raw)
{
	gsize size;
	const char *data = g_bytes_get_data(raw, &size);

	g_string_append(mbox, "From 0000000000000000000000000000000000000000 Mon Sep 17 00:00:00 2001\n");
	g_string_append_len(mbox, data, (gssize)size);
	g_string_append(mbox, size && data[size - 1] == '\n' ? "\n" : "\n\n");
}

static void add_part(Found *found, GString *all, const char *raw)
{
	g_autofree guchar *data = NULL;
	gsize size;

	data = g_base64_decode(raw, &size);
	g_autoptr(GBytes) bytes = g_bytes_new(data, size);
	g_autoptr(GBytes) mail = message_without_mbox_line(bytes);
	g_autoptr(Mail) part = NULL;
	if (mail_parse(mail, &part, NULL) && mail_is_part(part)) {
		add_mail(all, mail);
		found->prerequisites = MAX(found->prerequisites, part->prerequisites->len);
	}
}

/* The patches alone and in order, so that the same series is the same submission whatever came between them. */
static void write_mbox(Found *found)
{
	found->mbox = g_string_new(NULL);
	for (guint i = 0; i < found->series->patches->len; i++)
		add_mail(found->mbox, ((SeriesPatch *)g_ptr_array_index(found->series->patches, i))->mail);
}

/* A diff that came with the command, as a patch of who sent it. */
static void wrap_diff(GString *all, const TakenMail *mail)
{
	const Message *message = mail->meaning->message;

	g_string_append_printf(all, "From: %s\nMessage-ID: <%s>\nSubject: [PATCH] a diff of %s\nContent-Type: text/plain; charset=UTF-8\n"
			       "Content-Transfer-Encoding: 8bit\n\nSent with a command.\n---\n%s\n",
			       message->from, message->message_id, message->from, mail->meaning->diff);
}

/* FALSE: SPEC_ERROR says what is missing of it or wrong with it, REMOTE_ERROR that the lab is not there. */
static gboolean find_series(const MailBot *bot, const TakenMail *mail, const Command *command, Found *found, GError **error)
{
	g_autofree char *path = command && *command->message_id ? path_of(command->message_id) :
								   mail_thread_path(mail->meaning->message);
	g_autoptr(GString) all = g_string_new(NULL);
	JsonArray *mails;

	found->thread = remote_get(bot->remote, path, error);
	if (!found->thread)
		return FALSE;
	mails = peek_array(found->thread, "mails");
	if (mail->meaning->diff)
		wrap_diff(all, mail);
	for (guint i = 0; !mail->meaning->diff && i < peek_length(mails); i++)
		if (peek_bool(peek_element(mails, i), "is_part"))
			add_part(found, all, peek_string(peek_element(mails, i), "raw"));
	if (!all->len) {
		spec_error_set(error, SPEC_ERROR_INCOMPLETE, NULL, "the lab has not got a patch of this thread: its list is not watched, or "
			       "the patch was posted before it was");
		return FALSE;
	}
	if (!series_parse(all->str, all->len, &found->series, error))
		return FALSE;
	g_assert(found->series);
	write_mbox(found);
	return TRUE;
}

/* ---- the job ---- */

static void add_field(GArray *fields, const char *name, const char *value)
{
	RemoteField field = { .name = name, .data = value, .size = strlen(value) };

	g_array_append_val(fields, field);
}

static gboolean names_benchmarks(const Command *command)
{
	for (guint i = 0; command && i < command->fields->len; i++)
		if (g_str_equal(((CommandField *)g_ptr_array_index(command->fields, i))->name, "benchmarks"))
			return TRUE;
	return FALSE;
}

static GArray *fields_of(const MailBot *bot, const Command *command, const Found *found)
{
	GArray *fields = g_array_new(FALSE, FALSE, sizeof(RemoteField));
	const RemoteField series = { .name = "series", .data = found->mbox->str, .size = found->mbox->len, .file_name = "series.mbox" };

	g_array_append_val(fields, series);
	if (!names_benchmarks(command))
		add_field(fields, "benchmarks", bot->benchmarks);
	if (command && *command->tree)
		add_field(fields, "tree", command->tree);
	if (command && *command->commit)
		add_field(fields, "base", command->commit);
	for (guint i = 0; command && i < command->fields->len; i++) {
		const CommandField *field = g_ptr_array_index(command->fields, i);
		add_field(fields, field->name, field->value);
	}
	return fields;
}

/* The same mail, the same job; a series that is posted is one job, whichever of its mails completes it. */
static char *key_of(const TakenMail *mail, const Command *command, const Found *found)
{
	const Message *message = mail->meaning->message;
	const char *root = message->references->len ? g_ptr_array_index(message->references, 0) : message->message_id;
	g_autofree char *name = command ? g_strdup_printf("command %s", message->message_id)
					: g_strdup_printf("series %s v%d", root, found->series->version);
	g_autofree char *digest = g_compute_checksum_for_string(G_CHECKSUM_SHA256, name, -1);

	return g_strdup_printf("mail-%.32s", digest);
}

static gboolean has_job(const Found *found, const TakenMail *mail, gint64 job)
{
	JsonArray *mails = peek_array(found->thread, "mails");

	for (guint i = 0; i < peek_length(mails); i++)
		if (peek_int(peek_element(mails, i), "job", 0) == job && peek_int(peek_element(mails, i), "id", 0) != mail->id)
			return TRUE;
	return FALSE;
}

/* Who posts a patch did not ask, and gets the report alone. */
static gboolean settle_job(const MailBot *bot, const TakenMail *mail, const Command *command, const Found *found, JsonObject *quote,
			   JsonObject *job, GError **error)
{
	gint64 number = peek_int(job, "id", 0);
	const Settlement known = { .state = "done", .reason = "another mail of its series has the job", .job = number };
	g_autofree char *body = command ? reply_accepted(command, found->series, found->prerequisites, quote, job, bot->url) : NULL;
	const Settlement taken = { .state = "testing", .job = number, .about = "answer", .body = body };

	return mail_bot_settle(bot, mail, !command && has_job(found, mail, number) ? &known : &taken, error);
}

static gboolean submit(const MailBot *bot, const TakenMail *mail, const Command *command, const Found *found, GError **error)
{
	g_autofree char *key = key_of(mail, command, found), *path = NULL;
	g_autoptr(GArray) fields = fields_of(bot, command, found);
	g_autoptr(JsonObject) quote = remote_post(bot->remote, "/jobs?dry_run=1", fields, NULL, error);
	g_autoptr(JsonObject) taken = quote ? remote_post(bot->remote, "/jobs", fields, key, error) : NULL;
	g_autoptr(JsonObject) job = NULL;

	if (!taken)
		return FALSE;
	path = g_strdup_printf("/jobs/%" G_GINT64_FORMAT, peek_int(taken, "id", 0));
	job = remote_get(bot->remote, path, error);
	return job && settle_job(bot, mail, command, found, quote, job, error);
}

/* ---- what comes of it ---- */

/* A patch that only the cover letter or the first patch speaks for. */
static gboolean is_other_part(const TakenMail *mail, const Command *command)
{
	return !command && mail->meaning->part->number > 1;
}

static gboolean wait_for_parts(const MailBot *bot, const TakenMail *mail, const GError *problem, GError **error)
{
	const Settlement settlement = { .state = "waiting", .reason = problem->message };

	return g_str_equal(mail->state, "waiting") || mail_bot_settle(bot, mail, &settlement, error);
}

gboolean mail_test(const MailBot *bot, const TakenMail *mail, const Command *command, GError **error)
{
	g_auto(Found) found = { 0 };
	g_autoptr(GError) problem = NULL;
	g_autofree char *sentence = NULL, *body = NULL;

	if (is_other_part(mail, command)) {
		const Settlement part = { .state = "done", .reason = "a part of a series" };
		return mail_bot_settle(bot, mail, &part, error);
	}
	if (find_series(bot, mail, command, &found, &problem) && submit(bot, mail, command, &found, &problem))
		return TRUE;
	if (!g_error_matches(problem, REMOTE_ERROR, REMOTE_ERROR_REFUSED) && problem->domain != SPEC_ERROR) {
		g_propagate_error(error, g_steal_pointer(&problem));
		return FALSE;
	}
	if (g_error_matches(problem, SPEC_ERROR, SPEC_ERROR_INCOMPLETE) && (!command || mail->age_s < PATIENCE_S))
		return wait_for_parts(bot, mail, problem, error);
	sentence = g_strdup_printf("The lab cannot test this: %s.", problem->message);
	body = command ? reply_sentence(command, sentence, FALSE) : NULL;
	const Settlement settlement = { .state = "done", .reason = problem->message, .about = "answer", .body = body };
	return mail_bot_settle(bot, mail, &settlement, error);
}
