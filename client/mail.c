/* SPDX-License-Identifier: GPL-2.0-or-later */
/* regrlab mail: one file per action, client/mail-*.c. */
#include "client/mail.h"

#include <string.h>

static const struct {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *help;
} actions[] = {
	{ "receive", mail_receive, "Hand one mail to the lab, and do what it asks for" },
	{ "watch", mail_watch, "The same with the mails of a Maildir, as they come" },
	{ "send", mail_send, "Answer, report, and send what is queued" },
	{ "pending", mail_pending, "What waits for a moderator; decide about it" },
	{ "outbox", mail_outbox, "What goes out, and what came of it" },
	{ "stop", mail_stop, "No mail in and none out" },
	{ "resume", mail_resume, "Mail again" },
	{ "read", mail_read, "Say what mails mean to a lab; asks none" },
};

static void print_help(FILE *out)
{
	fputs("Usage: regrlab mail ACTION [OPTION …] [ARGUMENT …]\n\nReads mail, does what it asks of a lab, and answers in its thread.\n\n", out);
	for (gsize i = 0; i < G_N_ELEMENTS(actions); i++)
		fprintf(out, "  %-8s  %s\n", actions[i].name, actions[i].help);
	fputs("\nregrlab mail ACTION --help says more.\n", out);
}

int cmd_mail(int argc, char **argv)
{
	if (argc < 2) {
		print_help(stderr);
		return EXIT_USAGE;
	}
	if (g_str_equal(argv[1], "--help") || g_str_equal(argv[1], "-h")) {
		print_help(stdout);
		return EXIT_OK;
	}
	for (gsize i = 0; i < G_N_ELEMENTS(actions); i++) {
		if (g_str_equal(actions[i].name, argv[1])) {
			g_autofree char *program = g_strdup_printf("regrlab mail %s", argv[1]);

			g_set_prgname(program);
			return actions[i].run(argc - 1, argv + 1);
		}
	}
	fprintf(stderr, "regrlab mail: there is no action '%s'; see regrlab help mail\n", argv[1]);
	return EXIT_USAGE;
}
