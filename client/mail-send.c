/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The outbox, emptied. A mail is marked in the lab before it is handed over: killed after that, it is never sent, which
 * is better than twice. It is queued again only if the other side surely did not take it.
 */
#include <string.h>
#include <sysexits.h>

#include "client/mail-bot.h"
#include "client/mail-deliver.h"
#include "client/mail.h"
#include "jobs/spec/file.h"

#define MAX_MAILS 200	/* of one call */

static JsonObject *claim(Remote *remote, GError **error)
{
	g_autoptr(GError) problem = NULL;
	JsonObject *mail = remote_post_nothing(remote, "/mail/out/claim", &problem);

	/* nothing to send */
	if (!mail && !g_error_matches(problem, REMOTE_ERROR, REMOTE_ERROR_REFUSED))
		g_propagate_error(error, g_steal_pointer(&problem));
	return mail;
}

static gboolean tell(Remote *remote, JsonObject *mail, const char *state, const char *said, GError **error)
{
	g_autofree char *path = g_strdup_printf("/mail/out/%" G_GINT64_FORMAT, peek_int(mail, "id", 0));
	g_autofree char *line = text_plain(said);
	g_autoptr(JsonObject) object = json_object_new(), answer = NULL;

	g_strdelimit(line, "\n\t", ' ');
	json_object_set_string_member(object, "from", "sending");
	json_object_set_string_member(object, "state", state);
	json_object_set_string_member(object, "said", line);
	answer = remote_post_json(remote, path, object, error);
	fprintf(stderr, "mail %" G_GINT64_FORMAT ": %s%s%s\n", peek_int(mail, "id", 0), state, *line ? ": " : "", line);
	return answer != NULL;
}

static gboolean send_one(Remote *remote, const MailRoute *route, JsonObject *mail, GError **error)
{
	static const char *const states[] = { [DELIVERY_TAKEN] = "sent", [DELIVERY_LATER] = "later", [DELIVERY_FAILED] = "failed" };
	g_auto(GStrv) recipients = g_strsplit(peek_string(mail, "recipients"), " ", -1);
	g_autofree guchar *message = NULL;
	g_autofree char *said = NULL;
	gsize size;

	message = g_base64_decode(peek_string(mail, "message"), &size);
	Delivery delivery = mail_deliver(route, recipients, (const char *)message, size, &said);
	return tell(remote, mail, states[delivery], said, error);
}

static gboolean send_all(Remote *remote, MailRoute *route, GError **error)
{
	g_auto(MailBot) bot = { 0 };

	if (!mail_bot_load(&bot, remote, error) || !mail_bot_work(&bot, error))
		return FALSE;
	route->from = bot.settings.address;
	for (int i = 0; i < MAX_MAILS; i++) {
		g_autoptr(GError) problem = NULL;
		g_autoptr(JsonObject) mail = claim(remote, &problem);

		if (!mail && problem) {
			g_propagate_error(error, g_steal_pointer(&problem));
			return FALSE;
		}
		if (!mail)
			return TRUE;
		if (!send_one(remote, route, mail, error))
			return FALSE;
	}
	return TRUE;
}

/* What would be sent, as files; nothing is marked. */
static gboolean write_all(Remote *remote, const char *folder, GError **error)
{
	g_auto(MailBot) bot = { 0 };
	g_autoptr(JsonObject) answer = NULL;
	JsonArray *mails;

	if (!mail_bot_load(&bot, remote, error) || !mail_bot_work(&bot, error))
		return FALSE;
	answer = remote_get(remote, "/mail/out?state=queued", error);
	if (!answer)
		return FALSE;
	mails = peek_array(answer, "mails");
	for (guint i = 0; i < peek_length(mails); i++) {
		gint64 id = peek_int(peek_element(mails, i), "id", 0);
		g_autofree char *path = g_strdup_printf("/mail/out/%" G_GINT64_FORMAT, id);
		g_autofree char *file = g_strdup_printf("%s/%" G_GINT64_FORMAT ".eml", folder, id);
		g_autoptr(JsonObject) mail = remote_get(remote, path, error);
		g_autofree guchar *message = NULL;
		gsize size;

		if (!mail)
			return FALSE;
		message = g_base64_decode(peek_string(mail, "message"), &size);
		if (!file_write(file, (const char *)message, size, error))
			return FALSE;
	}
	return TRUE;
}

int mail_send(int argc, char **argv)
{
	g_auto(Common) common = { 0 };
	g_autofree char *sendmail = NULL, *smtp = NULL, *folder = NULL;
	const GOptionEntry entries[] = {
		{ "sendmail", 0, 0, G_OPTION_ARG_FILENAME, &sendmail, "Hand mails to this program, as sendmail takes them", "PROGRAM" },
		{ "smtp", 0, 0, G_OPTION_ARG_STRING, &smtp, "Hand them to a server: smtp://HOST:PORT, with TLS if it can, or smtps://", "URL" },
		{ "dry-run", 0, 0, G_OPTION_ARG_FILENAME, &folder, "Send nothing: write what would be sent as files there", "FOLDER" },
		{ .long_name = NULL },
	};
	g_autoptr(Remote) remote = NULL;
	g_autoptr(GError) error = NULL;
	gboolean ok;

	if (!options_parse(argc, argv, entries, FALSE, "",
			   "Answers what was taken in, reports jobs that have ended, and sends what the lab has queued, once: for a timer. "
			   "Without any of the three ways nothing is sent.", 0, 0, &common))
		return EXIT_USAGE;
	if (!!sendmail + !!smtp + !!folder != 1) {
		fputs("regrlab mail send: say how, with one of --sendmail, --smtp and --dry-run\n", stderr);
		return EXIT_USAGE;
	}
	remote = options_remote("mail send", &common);
	if (!remote)
		return EXIT_TROUBLE;
	MailRoute route = { .sendmail = sendmail, .smtp = smtp };
	ok = folder ? write_all(remote, folder, &error) : send_all(remote, &route, &error);
	return ok ? EXIT_OK : options_trouble("mail send", error);
}
