/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "client/options.h"
#include "client/quote.h"
#include "client/watch.h"

#define MAX_BYTES (64u * 1024 * 1024)	/* more than any lab takes */

/* Options that are form fields of the same name: one row each. */
enum { BASE, HEAD, TREE, BENCHMARKS, PROFILE, CLOCK, MAX_BOOTS, RULE, MIN_EFFECT, ALPHA, PRIORITY, HOST, LABELS, REPLICATE,
       SEED, NOTIFY, SUBJECT, N_FIELDS };

static const FieldOption rows[N_FIELDS] = {
	[BASE] = { "base", "base", "Compare with that commit (from the series' base-commit, else the tree's)", "COMMIT" },
	[HEAD] = { "head", "head", "Compare that commit, instead of a series", "COMMIT" },
	[TREE] = { "tree", "tree", "Tree of the lab (its first)", "NAME" },
	[BENCHMARKS] = { "benchmarks", "benchmarks", "What to run", "NAME,…" },
	[PROFILE] = { "profile", "profile", "quick, full or auto", "NAME" },
	[CLOCK] = { "clock", "clock", "kvm, tcg, icount or auto", "NAME" },
	[MAX_BOOTS] = { "max-boots", "max_boots", "Boots of each kernel, at most (10)", "N" },
	[RULE] = { "rule", "rule", "sequential: stop when it is decided; fixed: make all boots; auto", "NAME" },
	[MIN_EFFECT] = { "min-effect", "min_effect", "Smallest change that matters, in percent (1)", "PERCENT" },
	[ALPHA] = { "alpha", "alpha", "Rate of false alarms of the whole job (0.05)", "RATE" },
	[PRIORITY] = { "priority", "priority", "-10 … 10, the highest first", "N" },
	[HOST] = { "host", "host", "The host to measure on (any that fits)", "NAME" },
	[LABELS] = { "labels", "labels", "What the host must have", "LABEL,…" },
	[REPLICATE] = { "replicate", "replicate", "Measure it on so many hosts, and say whether they agree (1)", "N" },
	[SEED] = { "seed", "seed", "Of every random choice", "N" },
	[NOTIFY] = { "notify", "notify", "Kept with the job; nothing is sent there", "ADDRESS" },
	[SUBJECT] = { "subject", "subject", "What to call it (the series' subject)", "TEXT" },
};

typedef struct {
	Common common;
	char *values[N_FIELDS];
	char **params;
	char *config;
	char *key;
	gboolean watch;
	gboolean quote;
	GString *series;	/* NULL: none */
	GString *config_file;	/* NULL: config is a name */
} Arguments;

static void arguments_clear(Arguments *arguments)
{
	common_clear(&arguments->common);
	for (int i = 0; i < N_FIELDS; i++)
		g_free(arguments->values[i]);
	g_strfreev(arguments->params);
	g_free(arguments->config);
	g_free(arguments->key);
	if (arguments->series)
		g_string_free(arguments->series, TRUE);
	if (arguments->config_file)
		g_string_free(arguments->config_file, TRUE);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Arguments, arguments_clear)

static gboolean parse(int argc, char **argv, Arguments *arguments)
{
	GOptionEntry entries[N_FIELDS + 6] = {
		[N_FIELDS] = { "params", 'p', 0, G_OPTION_ARG_STRING_ARRAY, &arguments->params,
			       "Parameters of a benchmark; may be repeated", "BENCHMARK.NAME=VALUE,…" },
		{ "config", 'c', 0, G_OPTION_ARG_STRING, &arguments->config,
		  "Kernel configuration: a profile of the lab, or a file of yours", "NAME|@FILE" },
		{ "key", 0, 0, G_OPTION_ARG_STRING, &arguments->key,
		  "Submitting again with the same key gives the same job", "TEXT" },
		{ "watch", 'w', 0, G_OPTION_ARG_NONE, &arguments->watch, "Stay until the job ends, then print its report", NULL },
		{ "quote", 0, 0, G_OPTION_ARG_NONE, &arguments->quote,
		  "Submit nothing: say what the job could see, how long it would take and when it would start", NULL },
	};

	options_add_fields(entries, rows, arguments->values, N_FIELDS);
	return options_parse(argc, argv, entries, TRUE, "[PATCH-FILE …]",
			     "Submits a patch series (git format-patch files or an mbox; '-' reads it from standard input), or a "
			     "commit (--head), to be compared with its base.",
			     0, -1, &arguments->common);
}

static gboolean append_file(GString *content, const char *path, GError **error)
{
	FILE *file = strcmp(path, "-") == 0 ? stdin : fopen(path, "re");
	gboolean good = FALSE;
	char buffer[64 * 1024];
	size_t got;

	if (!file) {
		g_set_error(error, REMOTE_ERROR, REMOTE_ERROR_FILE, "%s: %s", path, g_strerror(errno));
		return FALSE;
	}
	if (content->len > 0 && content->str[content->len - 1] != '\n')
		g_string_append_c(content, '\n');
	while ((got = fread(buffer, 1, sizeof(buffer), file)) > 0 && content->len <= MAX_BYTES)
		g_string_append_len(content, buffer, (gssize)got);
	if (ferror(file))
		g_set_error(error, REMOTE_ERROR, REMOTE_ERROR_FILE, "%s: %s", path, g_strerror(errno));
	else if (content->len > MAX_BYTES)
		g_set_error(error, REMOTE_ERROR, REMOTE_ERROR_FILE, "%s: more than %u bytes", path, MAX_BYTES);
	else
		good = TRUE;
	if (file != stdin)
		fclose(file);
	return good;
}

static gboolean read_files(Arguments *arguments, GError **error)
{
	for (char **path = arguments->common.words; path && *path; path++) {
		if (!arguments->series)
			arguments->series = g_string_new(NULL);
		if (!append_file(arguments->series, *path, error))
			return FALSE;
	}
	if (arguments->config && *arguments->config == '@') {
		arguments->config_file = g_string_new(NULL);
		return append_file(arguments->config_file, arguments->config + 1, error);
	}
	return TRUE;
}

static void add_field(GArray *fields, const char *name, const char *value)
{
	RemoteField field = { .name = name, .data = value, .size = value ? strlen(value) : 0 };

	if (value)
		g_array_append_val(fields, field);
}

static void add_file(GArray *fields, const char *name, const GString *content, const char *file_name)
{
	RemoteField field = { .name = name, .file_name = file_name };

	if (!content)
		return;
	field.data = content->str;
	field.size = content->len;
	g_array_append_val(fields, field);
}

static JsonObject *post(Remote *remote, const Arguments *arguments, GError **error)
{
	g_autoptr(GArray) fields = g_array_new(FALSE, FALSE, sizeof(RemoteField));

	for (int i = 0; i < N_FIELDS; i++)
		add_field(fields, rows[i].field, arguments->values[i]);
	for (char **params = arguments->params; params && *params; params++)
		add_field(fields, "params", *params);
	add_file(fields, "series", arguments->series, "series.mbox");
	if (arguments->config_file)
		add_file(fields, "config", arguments->config_file, "config");
	else
		add_field(fields, "config", arguments->config);
	return remote_post(remote, arguments->quote ? "/jobs?dry_run=1" : "/jobs", fields, arguments->key, error);
}

static int watch_and_report(Remote *remote, gint64 job)
{
	g_autofree char *path = g_strdup_printf("/jobs/%" G_GINT64_FORMAT "/report.txt", job);
	g_autoptr(GError) error = NULL;
	int status = watch_job("submit", remote, job);

	if (status != EXIT_OK && status != EXIT_JOB_FAILED)
		return status;
	putchar('\n');
	return remote_copy(remote, path, stdout, &error) ? status : options_trouble("submit", error);
}

int cmd_submit(int argc, char **argv)
{
	g_auto(Arguments) arguments = { 0 };
	g_autoptr(Remote) remote = NULL;
	g_autoptr(JsonObject) answer = NULL;
	g_autoptr(GError) error = NULL;
	gint64 job;

	if (!parse(argc, argv, &arguments))
		return EXIT_USAGE;
	if (!arguments.common.words && !arguments.values[HEAD]) {
		fputs("regrlab submit: name the files of a series, or a commit with --head; see regrlab help submit\n", stderr);
		return EXIT_USAGE;
	}
	remote = options_remote(argv[0], &arguments.common);
	if (!remote)
		return EXIT_TROUBLE;
	if (!read_files(&arguments, &error))
		return options_trouble(argv[0], error);
	answer = post(remote, &arguments, &error);
	if (!answer)
		return options_trouble(argv[0], error);
	if (arguments.quote) {
		arguments.common.json ? options_print_json(answer) : quote_print(answer);
		return EXIT_OK;
	}
	job = peek_int(answer, "id", 0);
	if (arguments.common.json)
		options_print_json(answer);
	else
		printf("job %" G_GINT64_FORMAT ": %s/jobs/%" G_GINT64_FORMAT "\n", job, remote_server(remote), job);
	fflush(stdout);
	return arguments.watch ? watch_and_report(remote, job) : EXIT_OK;
}
