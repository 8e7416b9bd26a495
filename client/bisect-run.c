/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "client/bisect-run.h"

#include <math.h>
#include <string.h>

#include "client/options.h"
#include "client/watch.h"

/* Options that are form fields of the same name. */
enum { TREE, BENCHMARKS, PROFILE, CONFIG, CLOCK, MAX_BOOTS, ALPHA, HOST, SUBJECT, N_FIELDS };

static const FieldOption rows[N_FIELDS] = {
	[TREE] = { "tree", "tree", "Tree of the lab that has these commits (its first)", "NAME" },
	[BENCHMARKS] = { "bench", "benchmarks", "What to run", "NAME" },
	[PROFILE] = { "profile", "profile", "quick, full or auto", "NAME" },
	[CONFIG] = { "config", "config", "Kernel configuration: a profile of the lab", "NAME" },
	[CLOCK] = { "clock", "clock", "kvm, tcg, icount or auto", "NAME" },
	[MAX_BOOTS] = { "max-boots", "max_boots", "Boots of each kernel, at most (10)", "N" },
	[ALPHA] = { "alpha", "alpha", "Rate of false alarms of a step (0.05)", "RATE" },
	[HOST] = { "host", "host", "The host to measure on (any that fits)", "NAME" },
	[SUBJECT] = { "subject", "subject", "What to call the jobs", "TEXT" },
};

typedef struct {
	Common common;
	char *values[N_FIELDS];
	char **params;
	char *good, *commit;
	double threshold_pct;
	char *key;
} Arguments;

static void arguments_clear(Arguments *arguments)
{
	common_clear(&arguments->common);
	for (int i = 0; i < N_FIELDS; i++)
		g_free(arguments->values[i]);
	g_strfreev(arguments->params);
	g_free(arguments->good);
	g_free(arguments->commit);
	g_free(arguments->key);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Arguments, arguments_clear)

static gboolean parse(int argc, char **argv, Arguments *arguments)
{
	GOptionEntry entries[N_FIELDS + 6] = {
		[N_FIELDS] = { "param", 'p', 0, G_OPTION_ARG_STRING_ARRAY, &arguments->params,
			       "Parameters of the benchmark; may be repeated", "BENCHMARK.NAME=VALUE" },
		{ "threshold", 0, 0, G_OPTION_ARG_DOUBLE, &arguments->threshold_pct,
		  "A regression of so many percent is bad, a smaller change good: about half of what good and bad end differ by (1)",
		  "PERCENT" },
		{ "good", 0, 0, G_OPTION_ARG_STRING, &arguments->good,
		  "The commit to compare with (the first that git bisect was told to be good)", "COMMIT" },
		{ "commit", 0, 0, G_OPTION_ARG_STRING, &arguments->commit, "The commit to judge (HEAD here)", "COMMIT" },
		{ "key", 0, 0, G_OPTION_ARG_STRING, &arguments->key,
		  "Another one measures again what was measured before with the same options", "TEXT" },
	};

	arguments->threshold_pct = 1;
	options_add_fields(entries, rows, arguments->values, N_FIELDS);
	return options_parse(argc, argv, entries, FALSE, "--bench NAME",
			     "For git bisect run: compares the commit that is checked out with the good end, and exits 0 if it is "
			     "good, 1 if it is bad, 125 if it cannot be judged, and 255, which ends the bisection, if the lab fails. "
			     "The lab's tree must have the commits; a step that was interrupted goes on with its job.",
			     0, 0, &arguments->common);
}

/* ---- git ---- */

/* What a git command prints here, or NULL. */
static char *ask_git(const char *const *argv)
{
	g_autofree char *output = NULL;
	int status;

	if (!g_spawn_sync(NULL, (char **)argv, NULL, G_SPAWN_SEARCH_PATH | G_SPAWN_STDERR_TO_DEV_NULL, NULL, NULL, &output, NULL,
			  &status, NULL) ||
	    !g_spawn_check_wait_status(status, NULL))
		return NULL;
	return g_steal_pointer(&output);
}

char *bisect_run_good(const char *log)
{
	static const char start[] = "# good: [";
	g_auto(GStrv) lines = g_strsplit(log, "\n", 0);

	for (char **line = lines; *line; line++)
		if (g_str_has_prefix(*line, start)) {
			const char *hash = *line + strlen(start);
			return g_strndup(hash, strcspn(hash, "]"));
		}
	return NULL;
}

static gboolean find_commits(Arguments *arguments)
{
	static const char *const head[] = { "git", "rev-parse", "--verify", "HEAD", NULL };
	static const char *const log[] = { "git", "bisect", "log", NULL };

	if (!arguments->commit) {
		arguments->commit = ask_git(head);
		if (arguments->commit)
			g_strchomp(arguments->commit);
	}
	if (!arguments->good) {
		g_autofree char *text = ask_git(log);
		arguments->good = text ? bisect_run_good(text) : NULL;
	}
	return arguments->commit && arguments->good;
}

/* ---- the job ---- */

static void add_field(GArray *fields, GChecksum *sum, const char *name, const char *value)
{
	RemoteField field = { .name = name, .data = value, .size = value ? strlen(value) : 0 };

	if (!value)
		return;
	g_array_append_val(fields, field);
	g_checksum_update(sum, (const guchar *)name, (gssize)strlen(name) + 1);
	g_checksum_update(sum, (const guchar *)value, (gssize)strlen(value) + 1);
}

/* The same question gives the same job, so that a bisection that was interrupted does not measure again. */
static JsonObject *submit(Remote *remote, const Arguments *arguments, GError **error)
{
	g_autoptr(GArray) fields = g_array_new(FALSE, FALSE, sizeof(RemoteField));
	g_autoptr(GChecksum) sum = g_checksum_new(G_CHECKSUM_SHA256);
	char threshold[G_ASCII_DTOSTR_BUF_SIZE];
	g_autofree char *key = NULL;

	g_ascii_formatd(threshold, sizeof(threshold), "%.9g", arguments->threshold_pct);
	add_field(fields, sum, "base", arguments->good);
	add_field(fields, sum, "head", arguments->commit);
	add_field(fields, sum, "min_effect", threshold);
	for (int i = 0; i < N_FIELDS; i++)
		add_field(fields, sum, rows[i].field, arguments->values[i]);
	for (char **param = arguments->params; param && *param; param++)
		add_field(fields, sum, "params", *param);
	if (arguments->key)
		g_checksum_update(sum, (const guchar *)arguments->key, -1);
	key = g_strconcat("bisect-run ", g_checksum_get_string(sum), NULL);
	return remote_post(remote, "/jobs", fields, key, error);
}

/* ---- what it says ---- */

static gboolean is_bad(JsonObject *comparison, double threshold_pct)
{
	return g_str_equal(peek_string(comparison, "verdict"), "REGRESSION") &&
	       fabs(peek_double(comparison, "change_pct", 0)) >= threshold_pct;
}

static gboolean is_open(JsonObject *comparison)
{
	const char *verdict = peek_string(comparison, "verdict");

	return g_str_equal(verdict, "INCONCLUSIVE") || g_str_equal(verdict, "INSUFFICIENT") || g_str_equal(verdict, "INVALID");
}

static char *describe(JsonObject *comparison)
{
	return g_strdup_printf("%s %s: %+.2f %%, %s", peek_string(comparison, "benchmark"), peek_string(comparison, "params"),
			       peek_double(comparison, "change_pct", 0), peek_string(comparison, "verdict"));
}

/* The first bad comparison decides, else the first open one, else the first. */
static BisectExit judge_result(JsonArray *comparisons, double threshold_pct, char **ret_why)
{
	JsonObject *open = NULL, *first = NULL;

	for (guint i = 0; i < peek_length(comparisons); i++) {
		JsonObject *comparison = peek_element(comparisons, i);

		if (!peek_bool(comparison, "primary"))
			continue;
		if (is_bad(comparison, threshold_pct)) {
			*ret_why = describe(comparison);
			return BISECT_BAD;
		}
		if (!open && is_open(comparison))
			open = comparison;
		if (!first)
			first = comparison;
	}
	*ret_why = first ? describe(open ? open : first) : g_strdup("there is no primary comparison in the result");
	return !first ? BISECT_STOP : open ? BISECT_SKIP : BISECT_GOOD;
}

BisectExit bisect_run_judge(JsonObject *job, JsonObject *result, double threshold_pct, char **ret_why)
{
	const char *state = peek_string(job, "state");
	gboolean of_kernel = g_str_equal(state, "build-failed") || g_str_equal(state, "boot-failed");

	if (result)
		return judge_result(peek_array(result, "comparisons"), threshold_pct, ret_why);
	*ret_why = g_strdup_printf("%s: %s", state, peek_string(job, "message"));
	return of_kernel && g_str_equal(peek_string(job, "failed_arm"), "patched") ? BISECT_SKIP : BISECT_STOP;
}

/* ---- all of it ---- */

static BisectExit judge(Remote *remote, gint64 id, double threshold_pct, GError **error)
{
	g_autofree char *path = g_strdup_printf("/jobs/%" G_GINT64_FORMAT, id), *result_path = g_strconcat(path, "/result", NULL);
	g_autoptr(JsonObject) job = remote_get(remote, path, error), result = NULL;
	g_autofree char *why = NULL, *plain = NULL;
	BisectExit status;

	if (!job)
		return BISECT_STOP;
	if (g_str_equal(peek_string(job, "state"), "done")) {
		result = remote_get(remote, result_path, error);
		if (!result)
			return BISECT_STOP;
	}
	status = bisect_run_judge(job, result, threshold_pct, &why);
	plain = text_plain(why);
	printf("%s (%s)\n", status == BISECT_GOOD ? "good" : status == BISECT_BAD ? "bad" : status == BISECT_SKIP ? "skip" : "stop",
	       plain);
	return status;
}

int cmd_bisect_run(int argc, char **argv)
{
	g_auto(Arguments) arguments = { 0 };
	g_autoptr(Remote) remote = NULL;
	g_autoptr(JsonObject) answer = NULL;
	g_autoptr(GError) error = NULL;
	BisectExit status = BISECT_STOP;
	gint64 id;

	/* git takes every status below 128 for an answer about the commit */
	if (!parse(argc, argv, &arguments))
		return BISECT_STOP;
	if (!arguments.values[BENCHMARKS] || !(arguments.threshold_pct > 0)) {
		fputs("regrlab bisect-run: name a benchmark with --bench, and a threshold above 0; see regrlab help bisect-run\n", stderr);
		return BISECT_STOP;
	}
	if (!find_commits(&arguments)) {
		fputs("regrlab bisect-run: there is no git bisection here: say --good and --commit\n", stderr);
		return BISECT_STOP;
	}
	remote = options_remote(argv[0], &arguments.common);
	if (!remote)
		return BISECT_STOP;
	answer = submit(remote, &arguments, &error);
	if (answer) {
		id = peek_int(answer, "id", 0);
		if (watch_job(argv[0], remote, id) != EXIT_TROUBLE)
			status = judge(remote, id, arguments.threshold_pct, &error);
	}
	if (error)
		options_trouble(argv[0], error);
	return status;
}
