/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "client/options.h"

int cmd_cancel(int argc, char **argv)
{
	g_auto(Common) common = { 0 };
	g_autoptr(Remote) remote = NULL;
	g_autoptr(JsonObject) answer = NULL;
	g_autoptr(GError) error = NULL;
	g_autofree char *path = NULL;
	gint64 job;

	if (!options_parse(argc, argv, NULL, TRUE, "JOB", "Cancels a job: what runs for it is ended.", 1, 1, &common) ||
	    !options_job(argv[0], common.words[0], &job))
		return EXIT_USAGE;
	remote = options_remote(argv[0], &common);
	if (!remote)
		return EXIT_TROUBLE;
	path = g_strdup_printf("/jobs/%" G_GINT64_FORMAT, job);
	answer = remote_delete(remote, path, &error);
	if (!answer)
		return options_trouble(argv[0], error);
	if (common.json)
		options_print_json(answer);
	else
		printf("job %" G_GINT64_FORMAT " is %s\n", job,
		       peek_bool(answer, "final") ? "cancelled" : "being cancelled");
	return EXIT_OK;
}
