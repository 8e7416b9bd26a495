/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "jobs/spec/benchmark.h"

#include <string.h>

#include "jobs/spec/file.h"
#include "jobs/spec/spec.h"

static gboolean is_word(const char *text, const char *others)
{
	if (!*text || strlen(text) > SPEC_MAX_NAME)
		return FALSE;
	for (; *text; text++)
		if (!g_ascii_isalnum(*text) && !strchr(others, *text))
			return FALSE;
	return TRUE;
}

static void metric_free(gpointer data)
{
	BenchmarkMetric *metric = data;

	g_free(metric->name);
	g_free(metric->unit);
	g_free(metric);
}

void benchmark_free(Benchmark *benchmark)
{
	if (!benchmark)
		return;
	g_free(benchmark->name);
	g_free(benchmark->title);
	g_free(benchmark->program);
	g_free(benchmark->args);
	g_strfreev(benchmark->needs);
	g_clear_pointer(&benchmark->metrics, g_ptr_array_unref);
	g_clear_pointer(&benchmark->file, g_key_file_unref);
	g_free(benchmark);
}

const BenchmarkMetric *benchmark_metric(const Benchmark *benchmark, const char *name)
{
	for (guint i = 0; i < benchmark->metrics->len; i++) {
		const BenchmarkMetric *metric = g_ptr_array_index(benchmark->metrics, i);
		if (g_str_equal(metric->name, name))
			return metric;
	}
	return NULL;
}

static gboolean benchmark_error(GError **error, const Benchmark *benchmark, SpecError code, const char *what)
{
	return spec_error_set(error, code, "benchmarks", "%s.ini: %s", benchmark->name, what);
}

/* The guest's plan has nothing else in its words. */
static gboolean is_printable(const char *text, const char *others)
{
	for (; *text; text++)
		if (!g_ascii_isgraph(*text) && !strchr(others, *text))
			return FALSE;
	return TRUE;
}

static char *get_string(const Benchmark *benchmark, const char *group, const char *key, GError **error)
{
	g_autofree char *text = g_key_file_get_string(benchmark->file, group, key, NULL);

	if (!text) {
		g_autofree char *what = g_strdup_printf("[%s] lacks %s=", group, key);
		benchmark_error(error, benchmark, SPEC_ERROR_MISSING, what);
		return NULL;
	}
	g_strstrip(text);
	return g_steal_pointer(&text);
}

/* "[metric time]", in the order of the file. */
static gboolean load_metrics(Benchmark *benchmark, const char *primary, GError **error)
{
	g_auto(GStrv) groups = g_key_file_get_groups(benchmark->file, NULL);

	for (char **group = groups; *group; group++) {
		if (!g_str_has_prefix(*group, "metric "))
			continue;
		g_autofree char *unit = get_string(benchmark, *group, "unit", error);
		g_autofree char *better = unit ? get_string(benchmark, *group, "better", error) : NULL;
		if (!better)
			return FALSE;
		const char *name = *group + strlen("metric ");
		gboolean higher = g_str_equal(better, "higher");
		if (!is_word(name, "._-") || (!higher && !g_str_equal(better, "lower")))
			return benchmark_error(error, benchmark, SPEC_ERROR_VALUE, "a metric is a word, and better is lower or higher");

		BenchmarkMetric *metric = g_new0(BenchmarkMetric, 1);
		metric->name = g_strdup(name);
		metric->unit = g_steal_pointer(&unit);
		metric->higher_is_better = higher;
		metric->primary = g_str_equal(name, primary);
		g_ptr_array_add(benchmark->metrics, metric);
	}
	if (!benchmark_metric(benchmark, primary))
		return benchmark_error(error, benchmark, SPEC_ERROR_MISSING, "the primary metric has no [metric ...] of its own");
	return TRUE;
}

static gboolean load_needs(Benchmark *benchmark, GError **error)
{
	g_autofree char *text = g_key_file_get_string(benchmark->file, "benchmark", "needs", NULL);
	g_auto(GStrv) words = g_strsplit_set(text ? text : "", " \t", 0);
	g_autoptr(GPtrArray) needs = g_ptr_array_new_with_free_func(g_free);

	for (char **word = words; *word; word++) {
		if (!**word)
			continue;
		if (!g_str_has_prefix(*word, "CONFIG_") || !strchr(*word, '='))
			return benchmark_error(error, benchmark, SPEC_ERROR_VALUE, "needs= takes words like CONFIG_LRU_GEN=y");
		g_ptr_array_add(needs, g_strdup(*word));
	}
	g_ptr_array_add(needs, NULL);
	benchmark->needs = g_strdupv((char **)needs->pdata);
	return TRUE;
}

static gboolean check_profiles(const Benchmark *benchmark, GError **error)
{
	static const char *const groups[] = { "profile quick", "profile full" };

	for (gsize i = 0; i < G_N_ELEMENTS(groups); i++)
		if (!g_key_file_has_group(benchmark->file, groups[i]))
			return benchmark_error(error, benchmark, SPEC_ERROR_MISSING, "wants a [profile quick] and a [profile full]");
	return TRUE;
}

static gboolean load_all(Benchmark *benchmark, GError **error)
{
	static const struct {
		const char *key;
		gsize offset;
	} rows[] = {
		{ "title", G_STRUCT_OFFSET(Benchmark, title) },
		{ "program", G_STRUCT_OFFSET(Benchmark, program) },
		{ "args", G_STRUCT_OFFSET(Benchmark, args) },
	};

	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
		char *text = get_string(benchmark, "benchmark", rows[i].key, error);
		if (!text)
			return FALSE;
		*(char **)G_STRUCT_MEMBER_P(benchmark, rows[i].offset) = text;
	}
	g_autofree char *name = get_string(benchmark, "benchmark", "name", error);
	g_autofree char *primary = name ? get_string(benchmark, "benchmark", "primary", error) : NULL;
	if (!primary)
		return FALSE;
	if (!g_str_equal(name, benchmark->name))
		return benchmark_error(error, benchmark, SPEC_ERROR_VALUE, "name= is not the file's name");
	if (*benchmark->program != '/' || !is_printable(benchmark->program, ""))
		return benchmark_error(error, benchmark, SPEC_ERROR_VALUE, "program= is not an absolute path without spaces");
	if (!is_printable(benchmark->args, " \t"))
		return benchmark_error(error, benchmark, SPEC_ERROR_VALUE, "args= is not printable ASCII");
	return load_metrics(benchmark, primary, error) && load_needs(benchmark, error) && check_profiles(benchmark, error);
}

static void no_benchmark(const char *dir, const char *name, GError **error)
{
	g_auto(GStrv) names = benchmark_list(dir, NULL);
	g_autofree char *list = names ? g_strjoinv(", ", names) : g_strdup("none");

	spec_error_set(error, SPEC_ERROR_VALUE, "benchmarks", "there is no benchmark '%s'; there are: %s", name, list);
}

Benchmark *benchmark_load(const char *dir, const char *name, GError **error)
{
	g_autoptr(Benchmark) benchmark = g_new0(Benchmark, 1);
	g_autoptr(GError) problem = NULL;

	if (!is_word(name, "_-")) {
		spec_error_set(error, SPEC_ERROR_VALUE, "benchmarks", "'%s' is not the name of a benchmark", name);
		return NULL;
	}
	g_autofree char *file = g_strconcat(name, ".ini", NULL);
	g_autofree char *path = g_build_filename(dir, file, NULL);

	benchmark->name = g_strdup(name);
	benchmark->metrics = g_ptr_array_new_with_free_func(metric_free);
	benchmark->file = g_key_file_new();
	if (!g_key_file_load_from_file(benchmark->file, path, G_KEY_FILE_NONE, &problem)) {
		if (g_error_matches(problem, G_FILE_ERROR, G_FILE_ERROR_NOENT))
			no_benchmark(dir, name, error);
		else
			benchmark_error(error, benchmark, SPEC_ERROR_SYNTAX, problem->message);
		return NULL;
	}
	return load_all(benchmark, error) ? g_steal_pointer(&benchmark) : NULL;
}

char **benchmark_list(const char *dir, GError **error)
{
	return file_names(dir, ".ini", error);
}
