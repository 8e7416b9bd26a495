/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "client/options.h"

int cmd_report(int argc, char **argv)
{
	g_auto(Common) common = { 0 };
	gboolean csv = FALSE;
	const GOptionEntry entries[] = {
		{ "csv", 'c', 0, G_OPTION_ARG_NONE, &csv, "Print the raw samples as CSV", NULL },
		{ .long_name = NULL },
	};
	g_autoptr(Remote) remote = NULL;
	g_autoptr(GError) error = NULL;
	g_autofree char *path = NULL;
	gint64 job;

	if (!options_parse(argc, argv, entries, TRUE, "JOB",
			   "Prints the report of a job as plain text, or its result (--json), or its samples (--csv).", 1, 1,
			   &common) ||
	    !options_job(argv[0], common.words[0], &job))
		return EXIT_USAGE;
	remote = options_remote(argv[0], &common);
	if (!remote)
		return EXIT_TROUBLE;
	path = g_strdup_printf("/jobs/%" G_GINT64_FORMAT "/%s", job,
			       common.json ? "result" :
			       csv	   ? "samples.csv" :
					     "report.txt");
	if (!remote_copy(remote, path, stdout, &error))
		return options_trouble(argv[0], error);
	return EXIT_OK;
}
