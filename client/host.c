/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "client/host-setup.h"

static const char *const actions[] = { "drain", "resume", NULL };
static const char *const setups[] = { "check", "prepare", "restore", NULL };

static int tell_lab(const char *name, const Common *common)
{
	g_autoptr(Remote) remote = options_remote(name, common);
	g_autoptr(JsonObject) answer = NULL;
	g_autoptr(GError) error = NULL;
	g_autofree char *path = NULL, *host = g_uri_escape_string(common->words[1], NULL, FALSE);

	if (!remote)
		return EXIT_TROUBLE;
	path = g_strdup_printf("/hosts/%s/%s", host, common->words[0]);
	answer = remote_post_nothing(remote, path, &error);
	if (!answer)
		return options_trouble(name, error);
	if (common->json) {
		options_print_json(answer);
	} else {
		options_print(peek_string(answer, "name"));
		fputs(" is ", stdout);
		options_print(peek_string(answer, "state"));
		fputs("\n", stdout);
	}
	return EXIT_OK;
}

int cmd_host(int argc, char **argv)
{
	g_auto(Common) common = { 0 };
	g_auto(HostSetup) setup = { 0 };
	const GOptionEntry entries[] = {
		{ "host", 0, 0, G_OPTION_ARG_STRING, &setup.host, "A host of the lab, or a libvirt URI (default: this machine)", "NAME" },
		{ "require", 0, 0, G_OPTION_ARG_STRING, &setup.require,
		  "What must hold: FACT=VALUE …, auto (default: what the lab wants of the host, else auto)", "WORDS" },
		{ "cpus", 0, 0, G_OPTION_ARG_STRING, &setup.cpus, "CPUs that measure (default: the host's vm_cpus, else all)", "LIST" },
		{ "root", 0, 0, G_OPTION_ARG_STRING, &setup.root, "A folder there with proc and sys in it in place of /", "DIR" },
		{ "record", 0, 0, G_OPTION_ARG_STRING, &setup.record, "The file there of what was before", "FILE" },
		G_OPTION_ENTRY_NULL,
	};
	guint words;

	if (!options_parse(argc, argv, entries, TRUE, "check|prepare|restore | drain|resume NAME",
			   "check: how a machine that measures is set, what is wanted, and what to do about it.\n"
			   "prepare: sets what can be set (turbo off and the like), and remembers what was before.\n"
			   "restore: puts back what was before, also after a crash or a reboot half-way.\n"
			   "These are for this machine, or for --host by ssh (qemu+ssh URIs), with a copy of regrlab-host.\n"
			   "They exit as it does: 0 good; 1 not as wanted, or something could not be set; 3 nothing could be done.\n\n"
			   "drain: the host takes no more jobs, and what is measured there runs on.\n"
			   "resume: it takes jobs again.", 1, 2, &common))
		return EXIT_USAGE;
	words = g_strv_length(common.words);
	if (words == 1 && g_strv_contains(setups, common.words[0]))
		return host_setup_run(argv[0], common.words[0], &common, &setup);
	if (words == 2 && g_strv_contains(actions, common.words[0]))
		return tell_lab(argv[0], &common);
	g_printerr("regrlab host: wanted check, prepare or restore, or drain or resume with a host's name; see regrlab help host\n");
	return EXIT_USAGE;
}
