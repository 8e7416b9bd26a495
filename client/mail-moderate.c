/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a person decides: mails that are held, and whether there is any mail at all. */
#include <string.h>

#include "client/mail.h"

static void print_mail(const char *way, JsonObject *mail)
{
	printf("%s %" G_GINT64_FORMAT "  %-7s  ", way, peek_int(mail, "id", 0), peek_string(mail, "state"));
	options_print(*peek_string(mail, "sender") ? peek_string(mail, "sender") : peek_string(mail, "recipients"));
	fputs("  ", stdout);
	options_print(peek_string(mail, "subject"));
	const char *why = *peek_string(mail, "reason") ? peek_string(mail, "reason") : peek_string(mail, "said");
	if (*why) {
		fputs("  (", stdout);
		options_print(why);
		putchar(')');
	}
	putchar('\n');
}

static gboolean print_mails(Remote *remote, const char *way, const char *state, GError **error)
{
	g_autofree char *path = g_strdup_printf("/mail/%s%s%s", way, *state ? "?state=" : "", state);
	g_autoptr(JsonObject) answer = remote_get(remote, path, error);
	JsonArray *mails = peek_array(answer, "mails");

	for (guint i = 0; i < peek_length(mails); i++)
		print_mail(way, peek_element(mails, i));
	return answer != NULL;
}

/* "in", "7": what came in is taken up or refused; "out", "7": sent or dropped. */
static gboolean decide(Remote *remote, const char *way, const char *id, gboolean approve, GError **error)
{
	gboolean in = g_str_equal(way, "in");
	g_autofree char *path = g_strdup_printf("/mail/%s/%s", way, id);
	g_autoptr(JsonObject) object = json_object_new(), answer = NULL;

	json_object_set_string_member(object, "from", "held");
	json_object_set_string_member(object, "state", in ? (approve ? "new" : "refused") : (approve ? "queued" : "dropped"));
	json_object_set_string_member(object, in ? "reason" : "said", approve ? "approved" : "refused by a moderator");
	answer = remote_post_json(remote, path, object, error);
	return answer != NULL;
}

static gboolean is_decision(char **words)
{
	return g_strv_length(words) == 3 && (g_str_equal(words[0], "approve") || g_str_equal(words[0], "refuse")) &&
	       (g_str_equal(words[1], "in") || g_str_equal(words[1], "out")) &&
	       g_ascii_string_to_unsigned(words[2], 10, 1, G_MAXINT64, NULL, NULL);
}

int mail_pending(int argc, char **argv)
{
	g_auto(Common) common = { 0 };
	g_autoptr(Remote) remote = NULL;
	g_autoptr(GError) error = NULL;
	gboolean ok;

	if (!options_parse(argc, argv, NULL, FALSE, "[approve|refuse in|out NUMBER]",
			   "Lists mails that wait for a moderator, those that came in and those that go out; or decides about one.", 0, 3,
			   &common))
		return EXIT_USAGE;
	if (common.words && !is_decision(common.words)) {
		fputs("regrlab mail pending: it is approve or refuse, in or out, and a number\n", stderr);
		return EXIT_USAGE;
	}
	remote = options_remote("mail pending", &common);
	if (!remote)
		return EXIT_TROUBLE;
	if (common.words)
		ok = decide(remote, common.words[1], common.words[2], g_str_equal(common.words[0], "approve"), &error);
	else
		ok = print_mails(remote, "in", "held", &error) && print_mails(remote, "out", "held", &error);
	return ok ? EXIT_OK : options_trouble("mail pending", error);
}

int mail_outbox(int argc, char **argv)
{
	g_auto(Common) common = { 0 };
	g_autoptr(Remote) remote = NULL;
	g_autoptr(GError) error = NULL;

	if (!options_parse(argc, argv, NULL, FALSE, "[STATE]",
			   "Lists the mails that go out, newest first: all, or those held, queued, sending, sent, failed or dropped. One that "
			   "stays in sending was begun by a program that died; nobody knows whether it went out, and it does not again.", 0, 1,
			   &common))
		return EXIT_USAGE;
	remote = options_remote("mail outbox", &common);
	if (!remote)
		return EXIT_TROUBLE;
	return print_mails(remote, "out", common.words ? common.words[0] : "", &error) ? EXIT_OK : options_trouble("mail outbox", error);
}

static int set_stop(int argc, char **argv, const char *name, const char *summary)
{
	g_auto(Common) common = { 0 };
	g_autofree char *path = g_strdup_printf("/mail/%s", name), *called = g_strdup_printf("mail %s", name);
	g_autoptr(Remote) remote = NULL;
	g_autoptr(JsonObject) answer = NULL;
	g_autoptr(GError) error = NULL;

	if (!options_parse(argc, argv, NULL, FALSE, "", summary, 0, 0, &common))
		return EXIT_USAGE;
	remote = options_remote(called, &common);
	if (!remote)
		return EXIT_TROUBLE;
	answer = remote_post_nothing(remote, path, &error);
	return answer ? EXIT_OK : options_trouble(called, error);
}

int mail_stop(int argc, char **argv)
{
	return set_stop(argc, argv, "stop", "Takes no mail in and sends none, until regrlab mail resume.");
}

int mail_resume(int argc, char **argv)
{
	return set_stop(argc, argv, "resume", "Ends what regrlab mail stop began.");
}
