/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "client/options.h"
#include "client/watch.h"

#define BOOTS_MIN 8
#define BOOTS_MAX 200
#define BOOTS_STANDARD 40

/* Options that are fields of the same name. */
enum { HOST, BENCHMARKS, CLOCK, PROFILE, CONFIG, TREE, BASE, N_FIELDS };

static const FieldOption rows[N_FIELDS] = {
	[HOST] = { "host", "host", "The host to calibrate (any that is idle)", "NAME" },
	[BENCHMARKS] = { "benchmarks", "benchmarks", "What to run", "NAME,…" },
	[CLOCK] = { "clock", "clock", "kvm, tcg, icount or auto", "NAME" },
	[PROFILE] = { "profile", "profile", "quick, full or auto", "NAME" },
	[CONFIG] = { "config", "config", "Kernel configuration: a profile of the lab", "NAME" },
	[TREE] = { "tree", "tree", "Tree of the lab (its first)", "NAME" },
	[BASE] = { "base", "base", "The kernel to boot (the tree's branch)", "COMMIT" },
};

typedef struct {
	Common common;
	char *values[N_FIELDS];
	char **params;
	int boots;
	gboolean watch;
} Arguments;

static void arguments_clear(Arguments *arguments)
{
	common_clear(&arguments->common);
	for (int i = 0; i < N_FIELDS; i++)
		g_free(arguments->values[i]);
	g_strfreev(arguments->params);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Arguments, arguments_clear)

static gboolean parse(int argc, char **argv, Arguments *arguments)
{
	GOptionEntry entries[N_FIELDS + 4] = {
		[N_FIELDS] = { "params", 'p', 0, G_OPTION_ARG_STRING_ARRAY, &arguments->params,
			       "Parameters of a benchmark; may be repeated", "BENCHMARK.NAME=VALUE,…" },
		{ "boots", 0, 0, G_OPTION_ARG_INT, &arguments->boots, "How many boots, 8 to 200 (40)", "N" },
		{ "watch", 'w', 0, G_OPTION_ARG_NONE, &arguments->watch, "Stay until it ends", NULL },
	};

	options_add_fields(entries, rows, arguments->values, N_FIELDS);
	return options_parse(argc, argv, entries, TRUE, "--benchmarks NAME,…",
			     "Boots one kernel many times, to learn how much the figures of a host vary, from where, and which "
			     "change it can see. /hosts shows what came out.", 0, 0, &arguments->common);
}

/* Two arms of the same kernel are booted in turn, so there is an even number of boots. */
static JsonObject *job_of(const Arguments *arguments)
{
	JsonObject *object = json_object_new();

	json_object_set_string_member(object, "kind", "calibrate");
	json_object_set_int_member(object, "max_boots", (arguments->boots + 1) / 2);
	for (int i = 0; i < N_FIELDS; i++)
		if (arguments->values[i])
			json_object_set_string_member(object, rows[i].field, arguments->values[i]);
	if (arguments->params) {
		JsonArray *params = json_array_new();

		for (char **param = arguments->params; *param; param++)
			json_array_add_string_element(params, *param);
		json_object_set_array_member(object, "params", params);
	}
	return object;
}

int cmd_calibrate(int argc, char **argv)
{
	g_auto(Arguments) arguments = { .boots = BOOTS_STANDARD };
	g_autoptr(Remote) remote = NULL;
	g_autoptr(JsonObject) job = NULL, answer = NULL;
	g_autoptr(GError) error = NULL;
	gint64 number;

	if (!parse(argc, argv, &arguments))
		return EXIT_USAGE;
	if (!arguments.values[BENCHMARKS] || arguments.boots < BOOTS_MIN || arguments.boots > BOOTS_MAX) {
		fprintf(stderr, "regrlab calibrate: %s; see regrlab help calibrate\n",
			arguments.values[BENCHMARKS] ? "--boots is from 8 to 200" : "name what to run with --benchmarks");
		return EXIT_USAGE;
	}
	remote = options_remote(argv[0], &arguments.common);
	if (!remote)
		return EXIT_TROUBLE;
	job = job_of(&arguments);
	answer = remote_post_json(remote, "/jobs", job, &error);
	if (!answer)
		return options_trouble(argv[0], error);
	number = peek_int(answer, "id", 0);
	if (arguments.common.json)
		options_print_json(answer);
	else
		printf("job %" G_GINT64_FORMAT ": %s/jobs/%" G_GINT64_FORMAT "\n", number, remote_server(remote), number);
	fflush(stdout);
	return arguments.watch ? watch_job(argv[0], remote, number) : EXIT_OK;
}
