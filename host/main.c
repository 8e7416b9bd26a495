/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * regrlab-host: how a machine is set, and setting it. One static program, so
 * that it can be copied to any machine of the same architecture and run there.
 */
#include <locale.h>
#include <stdio.h>
#include <string.h>

#include "host/noise.h"
#include "host/prepare.h"
#include "host/print.h"

#define EXIT_FAILS	1	/* something is not as wanted, or could not be set */
#define EXIT_USAGE	2
#define NOISE_MS	200
#define WATCH_MS	1000
#define MS_MAX		60000
#define EXIT_TROUBLE	3	/* nothing could be done: no rights, a record that is none */

typedef struct {
	char *root, *cpus, *require, *record;
	gboolean json, no_versions;
	int ms;
	char *other_cpus;
	int guest_cpus, memory_mib, slots, slot;
	HostMachine machine;
} Options;

static void options_clear(Options *options)
{
	g_free(options->root);
	g_free(options->cpus);
	g_free(options->require);
	g_free(options->record);
	g_free(options->other_cpus);
	host_machine_clear(&options->machine);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Options, options_clear)

static int trouble(const GError *error)
{
	fprintf(stderr, "regrlab-host: %s\n", error->message);
	return EXIT_TROUBLE;
}

/* ---- the commands ---- */

static int run_check(Options *options)
{
	g_autoptr(GArray) facts = host_facts_read(&options->machine, options->require);
	g_autofree char *text = options->json ? host_facts_json(&options->machine, facts) : host_facts_table(facts);

	puts(text);
	if (!options->json)
		puts(host_facts_failing(facts) ? "This machine is not as its policy wants it." : "This machine is as its policy wants it.");
	return host_facts_failing(facts) ? EXIT_FAILS : 0;
}

static int run_facts(Options *options)
{
	run_check(options);
	return 0;
}

static int finish(gboolean done, const HostReport *report, const GError *error)
{
	fputs(report->text->str, stdout);
	if (!done)
		return trouble(error);
	return report->failed ? EXIT_FAILS : 0;
}

static int run_prepare(Options *options)
{
	g_auto(HostReport) report = { 0 };
	g_autoptr(GError) error = NULL;

	host_report_init(&report);
	gboolean done = host_prepare(&options->machine, options->require, options->record, &report, &error);
	return finish(done, &report, error);
}

static int run_restore(Options *options)
{
	g_auto(HostReport) report = { 0 };
	g_autoptr(GError) error = NULL;

	host_report_init(&report);
	gboolean done = host_restore(&options->machine, options->record, &report, &error);
	return finish(done, &report, error);
}

static int run_noise(Options *options)
{
	g_autofree char *line = host_noise(&options->machine, options->ms ? options->ms : NOISE_MS);

	puts(line);
	return 0;
}

static int run_watch(Options *options)
{
	host_watch(&options->machine, options->ms ? options->ms : WATCH_MS);
	return 0;
}

/* A plan that cannot be is an answer, too: what asks is a program. */
static int run_place(Options *options)
{
	HostPlacementAsk ask = {
		.vm_cpus = options->cpus ? options->cpus : "",
		.other_cpus = options->other_cpus ? options->other_cpus : "",
		.guest_cpus = options->guest_cpus,
		.memory_mib = options->memory_mib,
		.slots = options->slots,
		.slot = options->slot,
	};
	g_autoptr(HostTopology) topology = NULL;
	g_autoptr(HostPlacement) placement = NULL;
	g_autoptr(GError) error = NULL;
	g_autofree char *text = NULL;

	if (!host_topology_read(options->root, &topology, &error))
		return trouble(error);
	text = host_placement_plan(topology, &ask, &placement, &error) ? host_placement_json(placement) : host_refusal_json(error->message);
	puts(text);
	return 0;
}

static const struct {
	const char *name;
	int (*run)(Options *options);
	const char *help;
} commands[] = {
	{ "check", run_check, "What is, what is wanted, and what to do; exits 1 if something is not as wanted" },
	{ "facts", run_facts, "The same, but exits 0" },
	{ "prepare", run_prepare, "Set what can be set, and remember what was before" },
	{ "restore", run_restore, "Put back what was before, also after a crash or a reboot" },
	{ "noise", run_noise, "Spin on the measuring CPUs for --ms and tell how much of the time was lost" },
	{ "place", run_place, "Plan CPUs and memory for a guest of --guest-cpus and --memory, as JSON" },
	{ "watch", run_watch, "Tell steal and frequency every --ms until nobody reads it" },
};

/* ---- the command line ---- */

static GOptionContext *make_context(void)
{
	GOptionContext *context = g_option_context_new("COMMAND");
	g_autoptr(GString) text = g_string_new("Commands:\n");

	for (gsize i = 0; i < G_N_ELEMENTS(commands); i++)
		g_string_append_printf(text, "  %-8s  %s\n", commands[i].name, commands[i].help);
	g_string_append(text, "\nFacts that can be wanted:\n ");
	for (gsize i = 0; i < host_n_facts; i++)
		if (host_facts[i].rule != HOST_RULE_NOTE)
			g_string_append_printf(text, " %s", host_facts[i].name);
	g_string_append(text, "\n\nExit status: 0 good; 1 not as wanted, or something could not be set; 2 wrong usage;\n"
			      "3 nothing could be done.");
	g_option_context_set_description(context, text->str);
	g_option_context_set_summary(context, "How this machine is set for measuring, and setting it.");
	return context;
}

static gboolean parse(int argc, char **argv, Options *options, GError **error)
{
	const GOptionEntry entries[] = {
		{ "cpus", 0, 0, G_OPTION_ARG_STRING, &options->cpus, "CPUs that measure (default: all)", "LIST" },
		{ "require", 0, 0, G_OPTION_ARG_STRING, &options->require,
		  "What must hold: FACT=VALUE …; auto (the default): turbo off and the like", "WORDS" },
		{ "root", 0, 0, G_OPTION_ARG_FILENAME, &options->root, "A folder with proc and sys in it in place of /", "DIR" },
		{ "record", 0, 0, G_OPTION_ARG_FILENAME, &options->record,
		  "What was before (default: " HOST_RECORD_FILE " below the root)", "FILE" },
		{ "json", 0, 0, G_OPTION_ARG_NONE, &options->json, "One line of JSON, for programs", NULL },
		{ "no-versions", 0, 0, G_OPTION_ARG_NONE, &options->no_versions, "Run no other program to ask its version", NULL },
		{ "ms", 0, 0, G_OPTION_ARG_INT, &options->ms, "Milliseconds (default: noise 200, watch 1000)", "N" },
		{ "other-cpus", 0, 0, G_OPTION_ARG_STRING, &options->other_cpus,
		  "place: CPUs for emulator and I/O threads (default: of --cpus)", "LIST" },
		{ "guest-cpus", 0, 0, G_OPTION_ARG_INT, &options->guest_cpus, "place: CPUs of the guest (default: 2)", "N" },
		{ "memory", 0, 0, G_OPTION_ARG_INT, &options->memory_mib, "place: memory of the guest", "MIB" },
		{ "slots", 0, 0, G_OPTION_ARG_INT, &options->slots, "place: guests at once (default: 1)", "N" },
		{ "slot", 0, 0, G_OPTION_ARG_INT, &options->slot, "place: which of them, from 0 on", "N" },
		G_OPTION_ENTRY_NULL,
	};
	g_autoptr(GOptionContext) context = make_context();

	options->guest_cpus = 2;
	options->slots = 1;

	g_option_context_add_main_entries(context, entries, NULL);
	if (!g_option_context_parse(context, &argc, &argv, error))
		return FALSE;
	gboolean placed = options->guest_cpus > 0 && options->memory_mib >= 0 && options->slot >= 0 && options->slot < options->slots;
	if (argc == 2 && options->ms >= 0 && options->ms <= MS_MAX && placed)
		return TRUE;
	g_set_error(error, G_OPTION_ERROR, G_OPTION_ERROR_FAILED,
		    argc < 2 ? "which command?" : argc > 2 ? "one command at a time" : "a number is out of range");
	return FALSE;
}

static gboolean complete(Options *options, GError **error)
{
	if (!options->root || g_str_equal(options->root, "/")) {
		g_free(options->root);
		options->root = g_strdup("");
	}
	if (!options->require)
		options->require = g_strdup(HOST_POLICY_AUTO);
	if (!options->record)
		options->record = g_strconcat(options->root, HOST_RECORD_FILE, NULL);
	options->machine.ask_no_programs = options->no_versions;
	return host_policy_check(options->require, error) &&
	       host_machine_init(&options->machine, options->root, options->cpus ? options->cpus : "", error);
}

int main(int argc, char **argv)
{
	g_auto(Options) options = { 0 };
	g_autoptr(GError) error = NULL;
	const char *command = NULL;

	setlocale(LC_ALL, "C.UTF-8");
	if (!parse(argc, argv, &options, &error) || !complete(&options, &error)) {
		fprintf(stderr, "regrlab-host: %s; see regrlab-host --help\n", error->message);
		return EXIT_USAGE;
	}
	/* what is left is the command: options may stand on either side of it */
	command = argv[1];
	for (gsize i = 0; i < G_N_ELEMENTS(commands); i++)
		if (g_str_equal(commands[i].name, command))
			return commands[i].run(&options);
	fprintf(stderr, "regrlab-host: there is no command '%s'; see regrlab-host --help\n", command);
	return EXIT_USAGE;
}
