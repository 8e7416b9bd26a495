/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "client/options.h"

static const char *const actions[] = { "drain", "resume", NULL };

int cmd_host(int argc, char **argv)
{
	g_auto(Common) common = { 0 };
	g_autoptr(Remote) remote = NULL;
	g_autoptr(JsonObject) answer = NULL, nothing = json_object_new();
	g_autoptr(GError) error = NULL;
	g_autofree char *path = NULL, *name = NULL;

	if (!options_parse(argc, argv, NULL, TRUE, "drain|resume NAME",
			   "drain: the host takes no more jobs, and what is measured there runs on.\n"
			   "resume: it takes jobs again.", 2, 2, &common))
		return EXIT_USAGE;
	if (!g_strv_contains(actions, common.words[0])) {
		g_printerr("regrlab host: wanted drain or resume, not '%s'\n", common.words[0]);
		return EXIT_USAGE;
	}
	remote = options_remote(argv[0], &common);
	if (!remote)
		return EXIT_TROUBLE;
	name = g_uri_escape_string(common.words[1], NULL, FALSE);
	path = g_strdup_printf("/hosts/%s/%s", name, common.words[0]);
	answer = remote_post_json(remote, path, nothing, &error);
	if (!answer)
		return options_trouble(argv[0], error);
	if (common.json) {
		options_print_json(answer);
	} else {
		options_print(peek_string(answer, "name"));
		fputs(" is ", stdout);
		options_print(peek_string(answer, "state"));
		fputs("\n", stdout);
	}
	return EXIT_OK;
}
