/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "client/options.h"

static void append(GString *path, const char *name, const char *value)
{
	if (!value)
		return;
	g_string_append_printf(path, "%c%s=", strchr(path->str, '?') ? '&' : '?', name);
	g_string_append_uri_escaped(path, value, NULL, FALSE);
}

static void print_jobs(JsonArray *jobs)
{
	for (guint i = 0; i < peek_length(jobs); i++) {
		JsonObject *job = peek_element(jobs, i);

		printf("%6" G_GINT64_FORMAT "  %-16s  ", peek_int(job, "id", 0), peek_string(job, "state"));
		options_print(peek_string(job, "subject"));
		putchar('\n');
	}
}

int cmd_list(int argc, char **argv)
{
	g_auto(Common) common = { 0 };
	g_autofree char *state = NULL, *tree = NULL, *benchmark = NULL, *limit = NULL, *cursor = NULL;
	const GOptionEntry entries[] = {
		{ "state", 0, 0, G_OPTION_ARG_STRING, &state, "Only jobs in that state; live: that have not ended", "STATE" },
		{ "tree", 0, 0, G_OPTION_ARG_STRING, &tree, "Only jobs on that tree", "NAME" },
		{ "benchmark", 0, 0, G_OPTION_ARG_STRING, &benchmark, "Only jobs with that benchmark", "NAME" },
		{ "limit", 'n', 0, G_OPTION_ARG_STRING, &limit, "At most so many (50)", "N" },
		{ "cursor", 0, 0, G_OPTION_ARG_STRING, &cursor, "Go on where a list before ended", "CURSOR" },
		{ .long_name = NULL },
	};
	g_autoptr(Remote) remote = NULL;
	g_autoptr(JsonObject) answer = NULL;
	g_autoptr(GError) error = NULL;
	g_autoptr(GString) path = g_string_new("/jobs");

	if (!options_parse(argc, argv, entries, TRUE, "", "Lists jobs, the newest first.", 0, 0, &common))
		return EXIT_USAGE;
	remote = options_remote(argv[0], &common);
	if (!remote)
		return EXIT_TROUBLE;
	append(path, "state", state);
	append(path, "tree", tree);
	append(path, "benchmark", benchmark);
	append(path, "limit", limit);
	append(path, "cursor", cursor);
	answer = remote_get(remote, path->str, &error);
	if (!answer)
		return options_trouble(argv[0], error);
	if (common.json) {
		options_print_json(answer);
		return EXIT_OK;
	}
	print_jobs(peek_array(answer, "jobs"));
	if (*peek_string(answer, "cursor"))
		printf("there are more: --cursor %s\n", peek_string(answer, "cursor"));
	return EXIT_OK;
}
