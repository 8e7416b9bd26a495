/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "client/options.h"

#define PAUSE_US (G_USEC_PER_SEC / 2)

int cmd_log(int argc, char **argv)
{
	g_auto(Common) common = { 0 };
	gboolean follow = FALSE, final = FALSE;
	gint64 offset = 0, before, job;
	const GOptionEntry entries[] = {
		{ "follow", 'f', 0, G_OPTION_ARG_NONE, &follow, "Go on until the job ends", NULL },
		{ "from", 0, 0, G_OPTION_ARG_INT64, &offset, "Begin at that byte (0)", "OFFSET" },
		{ .long_name = NULL },
	};
	g_autoptr(Remote) remote = NULL;
	g_autoptr(GError) error = NULL;
	g_autofree char *path = NULL;

	if (!options_parse(argc, argv, entries, FALSE, "JOB", "Prints what git, make and the guests of a job said.", 1, 1,
			   &common) ||
	    !options_job(argv[0], common.words[0], &job))
		return EXIT_USAGE;
	remote = options_remote(argv[0], &common);
	if (!remote)
		return EXIT_TROUBLE;
	path = g_strdup_printf("/jobs/%" G_GINT64_FORMAT "/log", job);
	do {
		before = offset;
		if (!remote_log(remote, path, &offset, stdout, &final, &error))
			return options_trouble(argv[0], error);
		if (follow && offset == before && !final)
			g_usleep(PAUSE_US);
	} while (!final && (follow || offset > before));
	return EXIT_OK;
}
