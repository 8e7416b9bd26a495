/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "jobs/spec/spec.h"

#include <string.h>

#include "jobs/spec/file.h"
#include "jobs/spec/members.h"

static gboolean all_of(const char *text, const char *others)
{
	for (; *text; text++)
		if (!g_ascii_isalnum(*text) && !strchr(others, *text))
			return FALSE;
	return TRUE;
}

/* A word of configuration: safe as a file name. */
static gboolean is_name(const char *text)
{
	return *text != '.' && *text != '-' && all_of(text, "_.-");
}

/* A commit-ish that git cannot take for an option, a range or a path. */
static gboolean is_commit(const char *text)
{
	return *text != '-' && *text != '/' && !strstr(text, "..") && all_of(text, "_./-~^+");
}

/* BENCH.PARAM=V[,V...] */
static gboolean is_override(const char *text)
{
	const char *dot = strchr(text, '.'), *equals = strchr(text, '=');

	return dot && equals && dot < equals && dot > text && equals > dot + 1 && equals[1] &&
	       all_of(text, "_.-,=");
}

static gboolean is_address(const char *text)
{
	const char *at = strchr(text, '@');

	return at && at > text && at[1] && !strchr(at + 1, '@') && !strpbrk(text, " <>\",;:\\");
}

static gboolean is_profile(const char *text)
{
	return g_str_equal(text, "quick") || g_str_equal(text, "full") || g_str_equal(text, "auto");
}

static gboolean is_rule(const char *text)
{
	return g_str_equal(text, "auto") || g_str_equal(text, "fixed") || g_str_equal(text, "sequential");
}

static gboolean is_kind(const char *text)
{
	return g_str_equal(text, "compare") || g_str_equal(text, "calibrate");
}

#define M(name_, kind_, ...) \
	{ .name = #name_, .kind = kind_, .offset = G_STRUCT_OFFSET(JobSpec, name_), __VA_ARGS__ }
#define NAME .max = SPEC_MAX_NAME, .check = is_name, .allowed = "a name of letters, digits, '_', '.' and '-'"
#define COMMIT .max = SPEC_MAX_TEXT, .check = is_commit, .allowed = "a commit, tag or branch"

static const Member members[] = {
	M(job, MEMBER_INT64, .min = 0, .max = 9e15, .internal = TRUE),
	M(kind, MEMBER_STRING, .max = SPEC_MAX_NAME, .check = is_kind, .allowed = "compare or calibrate"),
	M(tree, MEMBER_STRING, NAME),
	M(base, MEMBER_STRING, COMMIT),
	M(head, MEMBER_STRING, COMMIT),
	M(has_series, MEMBER_BOOL, .internal = TRUE),
	M(config, MEMBER_STRING, NAME),
	M(has_config, MEMBER_BOOL, .internal = TRUE),
	M(benchmarks, MEMBER_STRV, .max = SPEC_MAX_BENCHMARKS, .commas = TRUE, .check = is_name,
	  .allowed = "a benchmark's name"),
	M(params, MEMBER_STRV, .max = SPEC_MAX_PARAMS, .check = is_override,
	  .allowed = "BENCHMARK.PARAMETER=VALUE[,VALUE...]"),
	M(profile, MEMBER_STRING, .max = SPEC_MAX_NAME, .check = is_profile,
	  .allowed = "quick, full or auto"),
	M(clock, MEMBER_CLOCK),
	M(max_boots, MEMBER_INT, .min = SPEC_MIN_BOOTS, .max = SPEC_MAX_BOOTS),
	M(rule, MEMBER_STRING, .max = SPEC_MAX_NAME, .check = is_rule, .allowed = "auto, fixed or sequential"),
	M(more_boots, MEMBER_INT, .min = 0, .max = SPEC_MAX_MORE, .internal = TRUE),
	M(min_effect_pct, MEMBER_DOUBLE, .min = 0, .max = 99, .open_min = TRUE),
	M(alpha, MEMBER_DOUBLE, .min = 1e-6, .max = .5),
	M(priority, MEMBER_INT, .min = -10, .max = 10),
	M(host, MEMBER_STRING, NAME),
	M(labels, MEMBER_STRV, .max = SPEC_MAX_LABELS, .commas = TRUE, .check = is_name, .allowed = "a host's label"),
	M(replicate, MEMBER_INT, .min = 1, .max = SPEC_MAX_REPLICAS),
	M(replicate_of, MEMBER_INT64, .min = 0, .max = 9e15, .internal = TRUE),
	M(seed, MEMBER_UINT64),
	M(notify, MEMBER_STRING, .max = SPEC_MAX_TEXT, .check = is_address, .allowed = "a mail address"),
	M(subject, MEMBER_STRING, .max = SPEC_MAX_TEXT),
	M(author, MEMBER_STRING, .max = SPEC_MAX_TEXT, .internal = TRUE),
	M(change_id, MEMBER_STRING, .max = SPEC_MAX_TEXT, .internal = TRUE),
	M(version, MEMBER_INT, .min = 1, .max = G_MAXINT, .internal = TRUE),
};

JobSpec *job_spec_new(void)
{
	JobSpec *spec = g_new0(JobSpec, 1);

	spec->kind = g_strdup("compare");
	spec->tree = g_strdup("");
	spec->base = g_strdup("");
	spec->head = g_strdup("");
	spec->config = g_strdup("lab-min");
	spec->benchmarks = g_new0(char *, 1);
	spec->params = g_new0(char *, 1);
	spec->host = g_strdup("");
	spec->labels = g_new0(char *, 1);
	spec->replicate = 1;
	spec->profile = g_strdup("auto");
	spec->max_boots = SPEC_DEFAULT_BOOTS;
	spec->rule = g_strdup("auto");
	spec->min_effect_pct = 1;
	spec->alpha = .05;
	spec->notify = g_strdup("");
	spec->subject = g_strdup("");
	spec->author = g_strdup("");
	spec->change_id = g_strdup("");
	spec->version = 1;
	return spec;
}

void job_spec_free(JobSpec *spec)
{
	if (!spec)
		return;
	members_clear(members, G_N_ELEMENTS(members), spec);
	g_free(spec);
}

gboolean job_spec_set(JobSpec *spec, const char *name, const char *value, GError **error)
{
	/* the form's short name of min_effect_pct */
	if (g_str_equal(name, "min_effect"))
		name = "min_effect_pct";
	return members_set_text(members, G_N_ELEMENTS(members), spec, name, value, error);
}

gboolean job_spec_is_calibration(const JobSpec *spec)
{
	return g_str_equal(spec->kind, "calibrate");
}

static void replace(char **text, const char *by)
{
	char *copy = g_strdup(by);

	g_free(*text);
	*text = copy;
}

void job_spec_complete(JobSpec *spec, const char *branch)
{
	if (!job_spec_is_calibration(spec))
		return;
	if (!*spec->base)
		replace(&spec->base, branch);
	replace(&spec->head, spec->base);
	replace(&spec->rule, "fixed");
	if (!*spec->subject)
		replace(&spec->subject, "calibration");
}

gboolean job_spec_check(const JobSpec *spec, GError **error)
{
	if (job_spec_is_calibration(spec) && (spec->has_series || (*spec->head && !g_str_equal(spec->head, spec->base))))
		return spec_error_set(error, SPEC_ERROR_VALUE, spec->has_series ? "series" : "head",
				      "a calibration measures the base kernel alone");
	if (spec->has_series && *spec->head)
		return spec_error_set(error, SPEC_ERROR_VALUE, "head",
				      "a series and a second commit exclude each other");
	if (!spec->has_series && !*spec->head && !job_spec_is_calibration(spec))
		return spec_error_set(error, SPEC_ERROR_MISSING, "series",
				      "needs a patch series (series=) or a second commit (head=)");
	if (!spec->benchmarks[0])
		return spec_error_set(error, SPEC_ERROR_MISSING, "benchmarks", "names no benchmark");
	for (char **name = spec->benchmarks; *name; name++)
		if (g_strv_contains((const char *const *)name + 1, *name))
			return spec_error_set(error, SPEC_ERROR_VALUE, "benchmarks",
					      "'%.60s' is named twice", *name);
	if (spec->replicate > 1 && *spec->host && !spec->replicate_of)
		return spec_error_set(error, SPEC_ERROR_VALUE, "replicate",
				      "several hosts and one by its name exclude each other");
	if (!*spec->profile || !*spec->config)
		return spec_error_set(error, SPEC_ERROR_VALUE, *spec->profile ? "config" : "profile",
				      "is empty");
	return TRUE;
}

gboolean job_spec_from_json(JsonObject *object, JobSpec **ret_spec, GError **error)
{
	g_autoptr(JobSpec) spec = job_spec_new();

	if (!members_from_json(members, G_N_ELEMENTS(members), spec, object, error))
		return FALSE;
	*ret_spec = g_steal_pointer(&spec);
	return TRUE;
}

JsonObject *job_spec_to_json(const JobSpec *spec)
{
	return members_to_json(members, G_N_ELEMENTS(members), spec);
}

gboolean job_spec_load(const char *dir, JobSpec **ret_spec, GError **error)
{
	g_autofree char *path = g_build_filename(dir, "spec.json", NULL);
	g_autoptr(JsonObject) object = NULL;

	return file_read_json(path, SPEC_MAX_BYTES, &object, error) &&
	       job_spec_from_json(object, ret_spec, error);
}

gboolean job_spec_save(const JobSpec *spec, const char *dir, GError **error)
{
	g_autofree char *path = g_build_filename(dir, "spec.json", NULL);
	g_autoptr(JsonObject) object = job_spec_to_json(spec);

	return file_write_json(path, object, error);
}
