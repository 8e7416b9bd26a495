/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The parameter sets of a job: benchmark_plan() of benchmark.h. */
#include "jobs/spec/benchmark.h"

#include <string.h>

#include "jobs/spec/spec.h"

#define MAX_ARGV	64	/* words of a command line */
#define MAX_WORD	256	/* bytes of one */
#define MAX_LINE	2048	/* bytes of all: a line of the guest's plan */

/* Names of a profile that are no parameters of the benchmark. */
typedef struct {
	const char *name;
	int min, max;
} Reserved;

static const Reserved reserved[] = {
	{ "runs", 1, BENCHMARK_MAX_RUNS },
	{ "memory_mib", 64, 1024 * 1024 },
	{ "disk_mib", 0, 1024 * 1024 },
	{ "timeout_s", 1, 86400 },
};

static const char *const lrus[] = { "mglru", "classic" };

static gboolean is_value(const char *text)
{
	gsize size = strlen(text);

	for (gsize i = 0; i < size; i++)
		if (!g_ascii_isalnum(text[i]) && !strchr("._-", text[i]))
			return FALSE;
	return size > 0 && size <= SPEC_MAX_NAME;
}

static const Reserved *find_reserved(const char *name)
{
	for (gsize i = 0; i < G_N_ELEMENTS(reserved); i++)
		if (g_str_equal(reserved[i].name, name))
			return &reserved[i];
	return NULL;
}

static gboolean benchmark_error(GError **error, const Benchmark *benchmark, SpecError code, const char *what)
{
	return spec_error_set(error, code, "benchmarks", "%s.ini: %s", benchmark->name, what);
}

static void set_free(gpointer data)
{
	BenchmarkSet *set = data;

	g_free(set->benchmark);
	g_free(set->params);
	g_free(set->lru);
	g_strfreev(set->argv);
	g_free(set);
}

void benchmark_plan_free(BenchmarkPlan *plan)
{
	if (!plan)
		return;
	g_clear_pointer(&plan->sets, g_ptr_array_unref);
	g_free(plan);
}

/* One parameter of one benchmark: its values, of which `current` is in use. */
typedef struct {
	char *name;
	char **values;
	guint current;
	gboolean named;	/* is part of the set's name */
} Parameter;

static void parameter_free(gpointer data)
{
	Parameter *parameter = data;

	g_free(parameter->name);
	g_strfreev(parameter->values);
	g_free(parameter);
}

static Parameter *find_parameter(GPtrArray *parameters, const char *name)
{
	for (guint i = 0; i < parameters->len; i++) {
		Parameter *parameter = g_ptr_array_index(parameters, i);
		if (g_str_equal(parameter->name, name))
			return parameter;
	}
	return NULL;
}

/* "1, 8" to values; an empty or a doubled one is none. */
static char **split_values(const char *text)
{
	g_auto(GStrv) values = g_strsplit(text, ",", BENCHMARK_MAX_SETS + 1);

	for (char **value = values; *value; value++) {
		g_strstrip(*value);
		if (!is_value(*value))
			return NULL;
		for (char **before = values; before < value; before++)
			if (g_str_equal(*before, *value))
				return NULL;
	}
	return *values && g_strv_length(values) <= BENCHMARK_MAX_SETS ? g_steal_pointer(&values) : NULL;
}

/* Is every value of a reserved word, and of lru, one that we know? */
static gboolean check_parameter(const Benchmark *benchmark, const Parameter *parameter, GError **error)
{
	const Reserved *word = find_reserved(parameter->name);

	for (char **value = parameter->values; *value; value++) {
		guint64 number;
		gboolean is_lru = g_str_equal(*value, lrus[0]) || g_str_equal(*value, lrus[1]);
		if (word && !g_ascii_string_to_unsigned(*value, 10, (guint64)word->min, (guint64)word->max, &number, NULL))
			return spec_error_set(error, SPEC_ERROR_VALUE, "params", "%s.%s=%s is not a number from %d to %d",
					      benchmark->name, parameter->name, *value, word->min, word->max);
		if (!word && g_str_equal(parameter->name, "lru") && !is_lru)
			return spec_error_set(error, SPEC_ERROR_VALUE, "params", "%s.lru=%s is neither mglru nor classic",
					      benchmark->name, *value);
	}
	if (word && parameter->values[1])
		return spec_error_set(error, SPEC_ERROR_VALUE, "params", "%s.%s takes one value", benchmark->name,
				      parameter->name);
	return TRUE;
}

static GPtrArray *read_profile(const Benchmark *benchmark, const char *profile, GError **error)
{
	g_autoptr(GPtrArray) parameters = g_ptr_array_new_with_free_func(parameter_free);
	g_autofree char *group = g_strconcat("profile ", profile, NULL);
	g_auto(GStrv) keys = g_key_file_get_keys(benchmark->file, group, NULL, NULL);

	for (char **key = keys; key && *key; key++) {
		if (!is_value(*key)) {
			benchmark_error(error, benchmark, SPEC_ERROR_VALUE, "a parameter's name is a word of letters, digits and ._-");
			return NULL;
		}
		g_autofree char *text = g_key_file_get_string(benchmark->file, group, *key, NULL);
		Parameter *parameter = g_new0(Parameter, 1);
		g_ptr_array_add(parameters, parameter);
		parameter->name = g_strdup(*key);
		parameter->values = split_values(text ? text : "");
		if (!parameter->values) {
			g_autofree char *what = g_strdup_printf("[%s] %s= is not a list of values", group, *key);
			benchmark_error(error, benchmark, SPEC_ERROR_VALUE, what);
			return NULL;
		}
		parameter->named = parameter->values[1] && !find_reserved(*key);
	}
	if (!keys || !find_parameter(parameters, "lru")) {
		benchmark_error(error, benchmark, SPEC_ERROR_MISSING, "the profile is not there, or has no lru=");
		return NULL;
	}
	return g_steal_pointer(&parameters);
}

/* Those of the overrides "BENCH.PARAM=V,V" that are this benchmark's. */
static gboolean apply_overrides(const Benchmark *benchmark, GPtrArray *parameters, char **overrides, GError **error)
{
	g_autofree char *prefix = g_strconcat(benchmark->name, ".", NULL);

	for (; overrides && *overrides; overrides++) {
		if (!g_str_has_prefix(*overrides, prefix))
			continue;
		const char *name = *overrides + strlen(prefix);
		const char *equals = strchr(name, '=');
		g_autofree char *key = equals ? g_strndup(name, (gsize)(equals - name)) : NULL;
		Parameter *parameter = key ? find_parameter(parameters, key) : NULL;
		if (!parameter)
			return spec_error_set(error, SPEC_ERROR_VALUE, "params", "%s: %s has no such parameter", *overrides,
					      benchmark->name);
		char **values = split_values(equals + 1);
		if (!values)
			return spec_error_set(error, SPEC_ERROR_VALUE, "params",
					      "%s: wanted values of letters, digits, '.', '_' and '-', each once, at most %d",
					      *overrides, BENCHMARK_MAX_SETS);
		g_strfreev(parameter->values);
		parameter->values = values;
		parameter->named |= !find_reserved(key);
	}
	for (guint i = 0; i < parameters->len; i++)
		if (!check_parameter(benchmark, g_ptr_array_index(parameters, i), error))
			return FALSE;
	return TRUE;
}

/* A reserved word's value; those that are not in the profile are the smallest there is. */
static int get_number(GPtrArray *parameters, const char *name)
{
	const Parameter *parameter = find_parameter(parameters, name);

	return parameter ? (int)g_ascii_strtoll(parameter->values[0], NULL, 10) : find_reserved(name)->min;
}

/* "nproc=8;lru=mglru": what varies in the profile or was asked for, in the profile's order, and lru last. */
static char *set_name(GPtrArray *parameters)
{
	GString *name = g_string_new(NULL);
	const Parameter *lru = find_parameter(parameters, "lru");

	for (guint i = 0; i < parameters->len; i++) {
		const Parameter *parameter = g_ptr_array_index(parameters, i);
		if (parameter != lru && parameter->named)
			g_string_append_printf(name, "%s=%s;", parameter->name, parameter->values[parameter->current]);
	}
	g_string_append_printf(name, "lru=%s", lru->values[lru->current]);
	return g_string_free(name, FALSE);
}

/* A word of args with its {parameter}s filled in; NULL: one of them is not in the profile. */
static char *fill_word(GPtrArray *parameters, const char *word)
{
	g_autoptr(GString) text = g_string_new(NULL);

	while (*word) {
		const char *close = *word == '{' ? strchr(word, '}') : NULL;
		if (!close) {
			g_string_append_c(text, *word++);
			continue;
		}
		g_autofree char *name = g_strndup(word + 1, (gsize)(close - word - 1));
		const Parameter *parameter = find_parameter(parameters, name);
		if (!parameter)
			return NULL;
		g_string_append(text, parameter->values[parameter->current]);
		word = close + 1;
	}
	return g_string_free(g_steal_pointer(&text), FALSE);
}

static char **fill_argv(const Benchmark *benchmark, GPtrArray *parameters, GError **error)
{
	g_auto(GStrv) words = g_strsplit_set(benchmark->args, " \t", 0);
	g_autoptr(GPtrArray) argv = g_ptr_array_new_with_free_func(g_free);
	gsize bytes = strlen(benchmark->program);

	g_ptr_array_add(argv, g_strdup(benchmark->program));
	for (char **word = words; *word; word++) {
		if (!**word)
			continue;
		char *filled = fill_word(parameters, *word);
		if (!filled || strlen(filled) > MAX_WORD || argv->len == MAX_ARGV || (bytes += strlen(filled)) > MAX_LINE) {
			g_free(filled);
			benchmark_error(error, benchmark, SPEC_ERROR_VALUE, "args= names a parameter that no profile has, or is too long");
			return NULL;
		}
		g_ptr_array_add(argv, filled);
	}
	g_ptr_array_add(argv, NULL);
	return g_strdupv((char **)argv->pdata);
}

/* The next combination of values, the last parameter first; FALSE after the last one. */
static gboolean next_combination(GPtrArray *parameters)
{
	for (guint i = parameters->len; i-- > 0;) {
		Parameter *parameter = g_ptr_array_index(parameters, i);
		if (parameter->values[++parameter->current])
			return TRUE;
		parameter->current = 0;
	}
	return FALSE;
}

static gboolean add_sets(BenchmarkPlan *plan, const Benchmark *benchmark, GPtrArray *parameters, GError **error)
{
	const Parameter *lru = find_parameter(parameters, "lru");
	guint before = plan->sets->len;

	do {
		if (plan->sets->len - before == BENCHMARK_MAX_SETS)
			return spec_error_set(error, SPEC_ERROR_LIMIT, "params", "%s: more than %d parameter sets",
					      benchmark->name, BENCHMARK_MAX_SETS);
		char **argv = fill_argv(benchmark, parameters, error);
		if (!argv)
			return FALSE;

		BenchmarkSet *set = g_new0(BenchmarkSet, 1);
		set->benchmark = g_strdup(benchmark->name);
		set->params = set_name(parameters);
		set->lru = g_strdup(lru->values[lru->current]);
		set->argv = argv;
		set->runs = get_number(parameters, "runs");
		set->timeout_s = get_number(parameters, "timeout_s");
		g_ptr_array_add(plan->sets, set);
	} while (next_combination(parameters));
	plan->memory_mib = MAX(plan->memory_mib, get_number(parameters, "memory_mib"));
	plan->disk_mib = MAX(plan->disk_mib, get_number(parameters, "disk_mib"));
	return TRUE;
}

/* Every override is of a benchmark that the job runs. */
static gboolean check_overrides(char **names, char **overrides, GError **error)
{
	for (; overrides && *overrides; overrides++) {
		const char *dot = strchr(*overrides, '.');
		g_autofree char *name = g_strndup(*overrides, dot ? (gsize)(dot - *overrides) : 0);
		if (!g_strv_contains((const char *const *)names, name))
			return spec_error_set(error, SPEC_ERROR_VALUE, "params", "%s: the job does not run a benchmark '%s'",
					      *overrides, name);
	}
	return TRUE;
}

gboolean benchmark_plan(const char *dir, char **names, char **overrides, const char *profile, BenchmarkPlan **ret_plan,
			GError **error)
{
	g_autoptr(BenchmarkPlan) plan = g_new0(BenchmarkPlan, 1);

	plan->sets = g_ptr_array_new_with_free_func(set_free);
	if (!check_overrides(names, overrides, error))
		return FALSE;
	for (char **name = names; *name; name++) {
		for (char **before = names; before < name; before++)
			if (g_str_equal(*before, *name))
				return spec_error_set(error, SPEC_ERROR_VALUE, "benchmarks", "%s is named twice", *name);
		g_autoptr(Benchmark) benchmark = benchmark_load(dir, *name, error);
		g_autoptr(GPtrArray) parameters = benchmark ? read_profile(benchmark, profile, error) : NULL;
		if (!parameters || !apply_overrides(benchmark, parameters, overrides, error) ||
		    !add_sets(plan, benchmark, parameters, error))
			return FALSE;
	}
	*ret_plan = g_steal_pointer(&plan);
	return TRUE;
}
