/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <glib.h>
#include <locale.h>
#include <signal.h>
#include <stdio.h>

#include "client/analyze.h"
#include "client/client.h"

#define VERSION "0.1"

static const struct {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *help;
} commands[] = {
	{ "submit", cmd_submit, "Submit a patch series, or two commits" },
	{ "watch", cmd_watch, "Show how a job gets on until it ends" },
	{ "report", cmd_report, "Print the report of a job" },
	{ "show", cmd_show, "Print what is known of a job" },
	{ "list", cmd_list, "List jobs, the newest first" },
	{ "log", cmd_log, "Print the log of a job" },
	{ "cancel", cmd_cancel, "Cancel a job" },
	{ "more", cmd_more, "Add boots to a job that did not decide" },
	{ "calibrate", cmd_calibrate, "Learn how much the figures of a host vary" },
	{ "bisect-run", cmd_bisect_run, "For git bisect run: is the commit here good or bad?" },
	{ "hosts", cmd_hosts, "List the machines that run virtual machines" },
	{ "host", cmd_host, "How a host is set, setting it; out of service, and back" },
	{ "token", cmd_token, "Make, list and revoke tokens" },
	{ "mail", cmd_mail, "Answer mail: commands and patches of lists" },
	{ "backup", cmd_backup, "Copy what the lab of this machine cannot make again" },
	{ "analyze", cmd_analyze, "Compute a result from raw samples, without a lab" },
};

static void print_help(FILE *out)
{
	fputs("Usage: regrlab COMMAND [OPTION …] [ARGUMENT …]\n\n"
	      "Asks a regression lab whether a change to the kernel makes memory management\nslower or faster.\n\n",
	      out);
	for (gsize i = 0; i < G_N_ELEMENTS(commands); i++)
		fprintf(out, "  %-10s  %s\n", commands[i].name, commands[i].help);
	fputs("\nregrlab help COMMAND says more. The lab is --server URL, else $REGRLAB_SERVER,\n"
	      "else http://127.0.0.1:8642. A token, if it wants one, is in --token-file FILE,\n"
	      "else $REGRLAB_TOKEN, else ~/.config/regrlab/token.\n\n"
	      "Exit status: 0 done; 1 the lab said no or does not answer, or a file cannot be\n"
	      "read; 2 wrong usage; 3 the job that was watched ended without a verdict. bisect-run\n"
	      "exits as git bisect run wants it.\n",
	      out);
}

static int run(const char *name, int argc, char **argv)
{
	g_autofree char *program = g_strdup_printf("regrlab %s", name);

	/* what --help and complaints about options call it */
	g_set_prgname(program);
	for (gsize i = 0; i < G_N_ELEMENTS(commands); i++)
		if (g_str_equal(commands[i].name, name))
			return commands[i].run(argc, argv);
	fprintf(stderr, "regrlab: there is no command '%s'; see regrlab help\n", name);
	return EXIT_USAGE;
}

int main(int argc, char **argv)
{
	setlocale(LC_ALL, "");
	/* numbers look the same everywhere */
	setlocale(LC_NUMERIC, "C");
	signal(SIGPIPE, SIG_DFL);
	if (argc < 2) {
		print_help(stderr);
		return EXIT_USAGE;
	}
	if (g_str_equal(argv[1], "--version")) {
		puts("regrlab " VERSION);
		return EXIT_OK;
	}
	if (g_str_equal(argv[1], "help") && argc > 2) {
		char help[] = "--help";
		char *words[] = { argv[2], help, NULL };

		return run(argv[2], 2, words);
	}
	if (g_str_equal(argv[1], "help") || g_str_equal(argv[1], "--help") || g_str_equal(argv[1], "-h")) {
		print_help(stdout);
		return EXIT_OK;
	}
	if (*argv[1] == '-') {
		fprintf(stderr, "regrlab: options come after the command, such as regrlab list %s%s; see regrlab help\n", argv[1],
			g_str_equal(argv[1], "--server") ? " URL" : "");
		return EXIT_USAGE;
	}
	return run(argv[1], argc - 1, argv + 1);
}
