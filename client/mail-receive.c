/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One mail on standard input, or those of a Maildir. */
#include <errno.h>
#include <fcntl.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

#include "client/mail-bot.h"
#include "client/mail.h"
#include "jobs/spec/file.h"

#define WATCH_S 30

static int trouble(const char *name, const GError *error)
{
	fprintf(stderr, "regrlab mail %s: %s\n", name, error->message);
	return EX_TEMPFAIL;
}

static gboolean take_file(const MailBot *bot, int fd, const char *name, GError **error)
{
	g_autofree char *said = NULL, *clean = NULL;
	g_autoptr(GError) problem = NULL;
	char *data;
	gsize size;

	if (!file_read_fd(fd, name, MESSAGE_MAX_BYTES, &data, &size, &problem)) {
		/* brought again it would be no smaller */
		if (!g_error_matches(problem, SPEC_ERROR, SPEC_ERROR_LIMIT)) {
			g_propagate_error(error, g_steal_pointer(&problem));
			return FALSE;
		}
		fprintf(stderr, "%s: ignored: %s\n", name, problem->message);
		return TRUE;
	}
	g_autoptr(GBytes) raw = g_bytes_new_take(data, size);
	if (!mail_bot_take(bot, raw, &said, error))
		return FALSE;
	clean = text_plain(said);
	fprintf(stderr, "%s: %s\n", name, clean);
	return TRUE;
}

int mail_receive(int argc, char **argv)
{
	g_auto(Common) common = { 0 };
	g_auto(MailBot) bot = { 0 };
	g_autoptr(Remote) remote = NULL;
	g_autoptr(GError) error = NULL;

	if (!options_parse(argc, argv, NULL, FALSE, "",
			   "Hands the mail on standard input to the lab, if it is for it, and does what it asks for: for procmail, Postfix "
			   "and the like. Exits with 75 if it has to be brought again.", 0, 0, &common))
		return EXIT_USAGE;
	remote = options_remote("mail receive", &common);
	if (!remote)
		return EX_TEMPFAIL;
	if (!mail_bot_load(&bot, remote, &error) || !take_file(&bot, STDIN_FILENO, "standard input", &error))
		return trouble(argv[0], error);
	/* it is the lab's now: what cannot be done at once is done by the next one, or by watch and send */
	if (!mail_bot_work(&bot, &error))
		fprintf(stderr, "regrlab mail receive: %s\n", error->message);
	return EXIT_OK;
}

/* ---- a Maildir ---- */

/* From new/ to cur/ once the lab has it: killed before that, it is brought again, and the lab knows it. */
static gboolean take_one(const MailBot *bot, const char *maildir, const char *name, GError **error)
{
	g_autofree char *from = g_build_filename(maildir, "new", name, NULL);
	g_autofree char *seen = g_strconcat(name, ":2,S", NULL), *to = g_build_filename(maildir, "cur", seen, NULL);
	int fd = g_open(from, O_RDONLY | O_CLOEXEC, 0);
	gboolean ok;

	if (fd < 0)
		return spec_error_set(error, SPEC_ERROR_IO, NULL, "cannot read %s: %s", from, g_strerror(errno));
	ok = take_file(bot, fd, name, error);
	close(fd);
	if (ok && g_rename(from, to) < 0)
		return spec_error_set(error, SPEC_ERROR_IO, NULL, "cannot move %s to cur: %s", from, g_strerror(errno));
	return ok;
}

static gboolean take_maildir(const MailBot *bot, const char *maildir, GError **error)
{
	g_autofree char *folder = g_build_filename(maildir, "new", NULL);
	g_auto(GStrv) names = file_names(folder, "", error);

	for (char **name = names; name && *name; name++)
		if (**name != '.' && !take_one(bot, maildir, *name, error))
			return FALSE;
	return names && mail_bot_work(bot, error);
}

static gboolean watch_round(Remote *remote, const char *maildir, GError **error)
{
	g_auto(MailBot) bot = { 0 };

	return mail_bot_load(&bot, remote, error) && take_maildir(&bot, maildir, error);
}

int mail_watch(int argc, char **argv)
{
	g_auto(Common) common = { 0 };
	gboolean once = FALSE;
	int every_s = WATCH_S;
	const GOptionEntry entries[] = {
		{ "once", 0, 0, G_OPTION_ARG_NONE, &once, "Take what is there, and end", NULL },
		{ "every", 0, 0, G_OPTION_ARG_INT, &every_s, "Seconds between two looks (30)", "S" },
		{ .long_name = NULL },
	};
	g_autoptr(Remote) remote = NULL;

	if (!options_parse(argc, argv, entries, FALSE, "MAILDIR",
			   "Hands the mails of MAILDIR/new to the lab, does what they ask for, and moves them to MAILDIR/cur.", 1, 1, &common))
		return EXIT_USAGE;
	remote = options_remote("mail watch", &common);
	if (!remote)
		return EXIT_TROUBLE;
	for (;;) {
		g_autoptr(GError) error = NULL;
		gboolean ok = watch_round(remote, common.words[0], &error);

		if (!ok)
			options_trouble("mail watch", error);
		if (once)
			return ok ? EXIT_OK : EXIT_TROUBLE;
		sleep((unsigned)CLAMP(every_s, 1, 3600));
	}
}
