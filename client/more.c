/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "client/options.h"

int cmd_more(int argc, char **argv)
{
	g_auto(Common) common = { 0 };
	int boots = 0;
	const GOptionEntry entries[] = {
		{ "boots", 'b', 0, G_OPTION_ARG_INT, &boots, "How many boots of each kernel to add", "N" },
		{ .long_name = NULL },
	};
	g_autoptr(Remote) remote = NULL;
	g_autoptr(JsonObject) answer = NULL;
	g_autoptr(GError) error = NULL;
	g_autofree char *path = NULL;
	gint64 job;

	if (!options_parse(argc, argv, entries, TRUE, "JOB",
			   "Adds boots to a job that is done and did not decide. Its result stays as it was; a second one, of all "
			   "boots by the open-ended rule, stands beside it.", 1, 1, &common) ||
	    !options_job(argv[0], common.words[0], &job))
		return EXIT_USAGE;
	if (boots < 1) {
		fputs("regrlab more: say how many boots of each kernel with --boots; see regrlab help more\n", stderr);
		return EXIT_USAGE;
	}
	remote = options_remote(argv[0], &common);
	if (!remote)
		return EXIT_TROUBLE;
	path = g_strdup_printf("/jobs/%" G_GINT64_FORMAT "/more?boots=%d", job, boots);
	answer = remote_post_nothing(remote, path, &error);
	if (!answer)
		return options_trouble(argv[0], error);
	if (common.json)
		options_print_json(answer);
	else
		printf("job %" G_GINT64_FORMAT " is measured again; its report is renewed when that is done\n", job);
	return EXIT_OK;
}
