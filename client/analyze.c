/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "client/analyze.h"

#include <gio/gio.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "jobs/spec/sample.h"
#include "jobs/stats/control.h"
#include "jobs/stats/result-text.h"

#define READ_BYTES (1u << 16)

typedef struct {
	gboolean json;
	gboolean control;
	double alpha;
	double min_effect;
	int max_boots;
	StatsRule rule;
	char *rule_name;
	gint64 seed;
	int failed_base;
	int failed_patched;
	char **primary;
	char **files;
} Arguments;

static void arguments_clear(Arguments *arguments)
{
	g_free(arguments->rule_name);
	g_strfreev(arguments->primary);
	g_strfreev(arguments->files);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Arguments, arguments_clear)

static gboolean parse(int argc, char **argv, Arguments *arguments, GError **error)
{
	const GOptionEntry entries[] = {
		{ "json", 'j', 0, G_OPTION_ARG_NONE, &arguments->json, "Print the result as JSON, with every number", NULL },
		{ "control", 0, 0, G_OPTION_ARG_NONE, &arguments->control,
		  "Compare base with the control arm, which is the base again; any change is a false alarm", NULL },
		{ "alpha", 0, 0, G_OPTION_ARG_DOUBLE, &arguments->alpha, "Rate of false alarms of the whole job (0.05)", "RATE" },
		{ "min-effect", 0, 0, G_OPTION_ARG_DOUBLE, &arguments->min_effect,
		  "Smallest change that matters, in percent (1)", "PERCENT" },
		{ "max-boots", 0, 0, G_OPTION_ARG_INT, &arguments->max_boots,
		  "Boots an arm that there may be (10, or as many pairs as there are)", "N" },
		{ "rule", 0, 0, G_OPTION_ARG_STRING, &arguments->rule_name,
		  "fixed, sequential or open-ended (sequential if there may be more than 4 boots an arm, else fixed)", "NAME" },
		{ "seed", 0, 0, G_OPTION_ARG_INT64, &arguments->seed,
		  "Seed of the random steps (from the samples' job number)", "N" },
		{ "primary", 0, 0, G_OPTION_ARG_STRING_ARRAY, &arguments->primary,
		  "A benchmark's primary metric (its first); may be repeated", "BENCHMARK=METRIC" },
		{ "failed-base", 0, 0, G_OPTION_ARG_INT, &arguments->failed_base,
		  "Boots of base that failed without a sample (0)", "N" },
		{ "failed-patched", 0, 0, G_OPTION_ARG_INT, &arguments->failed_patched,
		  "Boots of patched that failed without a sample (0)", "N" },
		{ G_OPTION_REMAINING, 0, 0, G_OPTION_ARG_FILENAME_ARRAY, &arguments->files, NULL, "FILE [FILE2]" },
		{ .long_name = NULL },
	};
	g_autoptr(GOptionContext) context = g_option_context_new(NULL);

	g_option_context_set_summary(context, "Compares base and patched from raw samples, with the same numbers as the lab's "
					      "own result.");
	g_option_context_set_description(
		context,
		"FILE is samples.csv or samples.json as the lab serves them, samples.jsonl of a run directory, or - for\n"
		"standard input. The boots of FILE2 are counted after those of FILE, as if one job had run both: more boots\n"
		"of the same comparison, or one arm in each file.\n"
		"\n"
		"A job with the default options gives the very same numbers without any option here; for any other its report\n"
		"ends with the options that do. The random steps are seeded from the lowest job number in the samples unless\n"
		"--seed says otherwise. A sequential rule finds its boundary by simulation, which takes some seconds; what it\n"
		"found is kept below the user's cache folder, and can be removed there.\n"
		"\n"
		"Exit status: 0 analysed, 1 unusable samples, 2 wrong usage.\n");
	g_option_context_add_main_entries(context, entries, NULL);
	return g_option_context_parse(context, &argc, &argv, error);
}

static gboolean usage(GError **error, const char *message)
{
	g_set_error_literal(error, G_OPTION_ERROR, G_OPTION_ERROR_BAD_VALUE, message);
	return FALSE;
}

static gboolean check(Arguments *arguments, GError **error)
{
	guint files = arguments->files ? g_strv_length(arguments->files) : 0;

	if (files < 1 || files > 2)
		return usage(error, "one or two files of samples are needed");
	if (files == 2 && g_str_equal(arguments->files[0], "-") && g_str_equal(arguments->files[1], "-"))
		return usage(error, "standard input can be read only once");
	if (arguments->max_boots < 0 || arguments->failed_base < 0 || arguments->failed_patched < 0)
		return usage(error, "numbers of boots may not be negative");
	if (arguments->rule_name && !stats_rule_from_string(arguments->rule_name, &arguments->rule))
		return usage(error, "--rule takes auto, fixed, sequential or open-ended");
	for (gsize i = 0; arguments->primary && arguments->primary[i]; i++)
		if (!strchr(arguments->primary[i], '='))
			return usage(error, "--primary takes BENCHMARK=METRIC");
	return TRUE;
}

/* Standard input up to the limit of a document, and one block more to show that it is over. */
static gboolean read_stdin(GString *text, GError **error)
{
	char block[READ_BYTES];
	gsize got;

	while (text->len <= SAMPLE_TEXT_MAX_BYTES && (got = fread(block, 1, sizeof block, stdin)) > 0)
		g_string_append_len(text, block, (gssize)got);
	if (!ferror(stdin))
		return TRUE;
	g_set_error_literal(error, G_FILE_ERROR, G_FILE_ERROR_IO, "standard input cannot be read");
	return FALSE;
}

static SampleTable *read_samples(const char *path, GError **error)
{
	g_autoptr(SampleTable) table = NULL;

	if (g_str_equal(path, "-")) {
		g_autoptr(GString) text = g_string_new(NULL);

		if (!read_stdin(text, error))
			return NULL;
		table = sample_table_from_text(text->str, text->len, error);
	} else {
		g_autoptr(GMappedFile) file = g_mapped_file_new(path, FALSE, error);
		const char *text;

		if (!file)
			return NULL;
		text = g_mapped_file_get_contents(file);
		table = sample_table_from_text(text ? text : "", g_mapped_file_get_length(file), error);
	}
	if (!table)
		g_prefix_error(error, "%s: ", g_str_equal(path, "-") ? "standard input" : path);
	return g_steal_pointer(&table);
}

/* Boots that failed are something to tell of, too. */
static gboolean check_samples(const Arguments *arguments, const SampleTable *table, GError **error)
{
	const char *problem = NULL;

	if (arguments->control && !stats_has_control(table))
		problem = "there are no samples of a control arm";
	else if (!sample_table_length(table) && !arguments->failed_base && !arguments->failed_patched)
		problem = "there are no samples (a last line without its end is none)";
	if (problem)
		g_set_error_literal(error, STATS_ANALYSIS_ERROR, STATS_ANALYSIS_ERROR_LIMIT, problem);
	return !problem;
}

static char *analyse(const Arguments *arguments, GError **error)
{
	g_autofree char *cache = g_build_filename(g_get_user_cache_dir(), "regrlab", "boundaries", NULL);
	StatsOptions options = {
		.alpha = arguments->alpha,
		.min_effect_pct = arguments->min_effect,
		.max_boots = (guint)arguments->max_boots,
		.rule = arguments->rule,
		.seed = arguments->seed,
		.failed_boots = { (guint)arguments->failed_base, (guint)arguments->failed_patched },
		.primary = (const char *const *)arguments->primary,
		.cache_dir = cache,
	};
	g_autoptr(SampleTable) table = read_samples(arguments->files[0], error), more = NULL;
	g_autoptr(StatsResult) result = NULL;

	if (!table)
		return NULL;
	if (arguments->files[1]) {
		more = read_samples(arguments->files[1], error);
		if (!more || !sample_table_append_boots(table, more, error))
			return NULL;
	}
	if (!check_samples(arguments, table, error))
		return NULL;
	result = (arguments->control ? stats_analyse_control : stats_analyse)(table, &options, error);
	if (!result)
		return NULL;
	return arguments->json ? stats_result_to_json_text(result) : stats_result_to_text(result);
}

int cmd_analyze(int argc, char **argv)
{
	g_auto(Arguments) arguments = { .alpha = STATS_OPTIONS_DEFAULT.alpha,
					.min_effect = STATS_OPTIONS_DEFAULT.min_effect_pct };
	g_autoptr(GError) error = NULL;
	g_autofree char *text = NULL;

	if (!parse(argc, argv, &arguments, &error) || !check(&arguments, &error)) {
		g_printerr("regrlab analyze: %s\nTry 'regrlab analyze --help'.\n", error->message);
		return 2;
	}
	text = analyse(&arguments, &error);
	if (!text) {
		g_printerr("regrlab analyze: %s\n", error->message);
		return g_error_matches(error, STATS_ANALYSIS_ERROR, STATS_ANALYSIS_ERROR_OPTION) ? 2 : 1;
	}
	if (fputs(text, stdout) == EOF || fflush(stdout) == EOF) {
		g_printerr("regrlab analyze: the result cannot be written\n");
		return 1;
	}
	return 0;
}
