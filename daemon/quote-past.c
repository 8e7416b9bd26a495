/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/quote-past.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

#include "jobs/spec/peek.h"
#include "jobs/stats/result.h"

#define MIN_DF 3	/* fewer degrees of freedom tell nothing of a spread */
#define NS_PER_S 1e9

static void free_results(gpointer data)
{
	stats_result_free(data);
}

void past_clear(Past *past)
{
	g_clear_pointer(&past->measured, g_ptr_array_unref);
	g_clear_pointer(&past->built, g_ptr_array_unref);
	g_clear_pointer(&past->calibrations, g_ptr_array_unref);
	g_clear_pointer(&past->results, g_ptr_array_unref);
}

/* ---- loading ---- */

static gboolean add_jobs(Lab *lab, GPtrArray *jobs, const StoreFilter *filter, GError **error)
{
	g_autoptr(GPtrArray) more = NULL;
	gint64 cursor;

	if (!store_job_list(lab->db, filter, &more, &cursor, error))
		return FALSE;
	g_ptr_array_extend_and_steal(jobs, g_steal_pointer(&more));
	return TRUE;
}

static int newest_first(gconstpointer a, gconstpointer b)
{
	const StoreJob *left = *(StoreJob *const *)a, *right = *(StoreJob *const *)b;

	return (left->id < right->id) - (left->id > right->id);
}

static gboolean has_job(const GPtrArray *jobs, gint64 id)
{
	for (guint i = 0; i < jobs->len; i++)
		if (((const StoreJob *)g_ptr_array_index(jobs, i))->id == id)
			return TRUE;
	return FALSE;
}

static gboolean load_measured(Lab *lab, const JobSpec *spec, const char *host, const char *clock, Past *past, GError **error)
{
	g_autoptr(GPtrArray) jobs = g_ptr_array_new_with_free_func((GDestroyNotify)store_job_free);

	for (char **benchmark = spec->benchmarks; *benchmark; benchmark++) {
		StoreFilter filter = { .by_state = TRUE, .state = JOB_DONE, .benchmark = *benchmark, .limit = 2 * PAST_JOBS };

		if (!add_jobs(lab, jobs, &filter, error))
			return FALSE;
	}
	g_ptr_array_sort(jobs, newest_first);
	past->measured = g_ptr_array_new_with_free_func((GDestroyNotify)store_job_free);
	while (jobs->len && past->measured->len < PAST_JOBS) {
		StoreJob *job = g_ptr_array_steal_index(jobs, 0);

		if (g_str_equal(job->host, host) && g_str_equal(peek_string(job->accelerator, "clock"), clock) &&
		    !has_job(past->measured, job->id))
			g_ptr_array_add(past->measured, job);
		else
			store_job_free(job);
	}
	return TRUE;
}

static gboolean load_results(Lab *lab, Past *past, GError **error)
{
	past->results = g_ptr_array_new_with_free_func(free_results);
	for (guint i = 0; i < past->measured->len; i++) {
		g_autofree char *json = NULL;
		g_autoptr(JsonNode) node = NULL;
		StatsResult *result;

		if (!store_result(lab->db, ((const StoreJob *)g_ptr_array_index(past->measured, i))->id, &json, error))
			return FALSE;
		node = json ? json_from_string(json, NULL) : NULL;
		result = node ? stats_result_from_json(node, NULL) : NULL;
		g_ptr_array_add(past->results, result ? result : stats_result_new());
	}
	return TRUE;
}

gboolean past_load(Lab *lab, const JobSpec *spec, const char *host, const char *clock, Past *ret_past, GError **error)
{
	g_auto(Past) past = { 0 };
	StoreFilter filter = { .tree = spec->tree, .limit = PAST_JOBS };

	past.built = g_ptr_array_new_with_free_func((GDestroyNotify)store_job_free);
	if (!add_jobs(lab, past.built, &filter, error) || !load_measured(lab, spec, host, clock, &past, error) ||
	    !load_results(lab, &past, error) || !store_calibrations(lab->db, host, &past.calibrations, error))
		return FALSE;
	*ret_past = past;
	past = (Past){ 0 };
	return TRUE;
}

/* ---- noise ---- */

/* The SHA-256 of the configuration that the profile gave when it was last built; empty: never. */
static const char *config_of(const Past *past, const JobSpec *spec)
{
	for (guint i = 0; !spec->has_config && i < past->built->len; i++) {
		const StoreJob *job = g_ptr_array_index(past->built, i);

		if (!job->spec->has_config && g_str_equal(job->spec->config, spec->config) && job->arms[0])
			return peek_string(job->arms[0], "config_sha256");
	}
	return "";
}

/* The newest calibration, one of the job's own configuration before all others. */
static const StoreCalibration *find_calibration(const Past *past, const JobSpec *spec, const char *benchmark,
						const char *params, const char *clock)
{
	const char *config = config_of(past, spec);
	const StoreCalibration *found = NULL;

	for (guint i = 0; i < past->calibrations->len; i++) {
		const StoreCalibration *calibration = g_ptr_array_index(past->calibrations, i);

		if (!g_str_equal(calibration->benchmark, benchmark) || !g_str_equal(calibration->params, params) ||
		    !g_str_equal(calibration->clock, clock) || isnan(peek_double(calibration->row, "sd_log", NAN)))
			continue;
		if (g_str_equal(calibration->config_sha256, config))
			return calibration;
		if (!found || calibration->job > found->job)
			found = calibration;
	}
	return found;
}

/* Adds the squares of the boots' logarithms around their arm's mean. */
static void add_squares(const StatsComparison *comparison, double *squares, guint *df, guint *boots)
{
	for (int arm = 0; arm < SAMPLE_ARM_COUNT; arm++) {
		const GArray *values = comparison->boot_values[arm];
		double mean = 0;

		for (guint i = 0; i < values->len; i++)
			mean += log(g_array_index(values, double, i)) / values->len;
		for (guint i = 0; i < values->len; i++) {
			double d = log(g_array_index(values, double, i)) - mean;

			*squares += d * d;
		}
		*df += values->len ? values->len - 1 : 0;
		*boots += values->len;
	}
}

static PastNoise noise_of_jobs(const Past *past, const char *benchmark, const char *params)
{
	PastNoise noise = { .sd = NAN, .source = "unknown" };
	double squares = 0;
	guint df = 0;

	for (guint i = 0; i < past->results->len; i++) {
		const StatsResult *result = g_ptr_array_index(past->results, i);

		for (guint j = 0; j < result->comparisons->len; j++) {
			const StatsComparison *comparison = g_ptr_array_index(result->comparisons, j);

			if (!comparison->primary || comparison->verdict == STATS_VERDICT_INVALID ||
			    !g_str_equal(comparison->benchmark, benchmark) || !g_str_equal(comparison->params, params))
				continue;
			add_squares(comparison, &squares, &df, &noise.boots);
			if (!noise.job)
				noise.job = ((const StoreJob *)g_ptr_array_index(past->measured, i))->id;
		}
	}
	if (df < MIN_DF || !isfinite(squares))
		return (PastNoise){ .sd = NAN, .source = "unknown" };
	noise.sd = sqrt(squares / df);
	noise.source = "past jobs";
	return noise;
}

PastNoise past_noise(const Past *past, const JobSpec *spec, const char *benchmark, const char *params, const char *clock)
{
	const StoreCalibration *calibration = find_calibration(past, spec, benchmark, params, clock);

	if (!calibration)
		return noise_of_jobs(past, benchmark, params);
	return (PastNoise){ .sd = peek_double(calibration->row, "sd_log", NAN),
			    .boots = (guint)peek_int(calibration->row, "boots", 0),
			    .job = calibration->job,
			    .source = "calibration" };
}

/* ---- time ---- */

static gboolean same_plan(const JobSpec *a, const JobSpec *b)
{
	return g_strv_equal((const char *const *)a->benchmarks, (const char *const *)b->benchmarks) &&
	       g_strv_equal((const char *const *)a->params, (const char *const *)b->params) && g_str_equal(a->profile, b->profile);
}

gboolean past_boot_s(Lab *lab, const Past *past, const JobSpec *spec, double *ret_s, gboolean *ret_same, GError **error)
{
	double sum[2] = { 0 };
	guint count[2] = { 0 };

	for (guint i = 0; i < past->measured->len; i++) {
		const StoreJob *job = g_ptr_array_index(past->measured, i);
		gboolean same = same_plan(job->spec, spec);
		g_autoptr(GPtrArray) boots = NULL;

		if (!store_boots(lab->db, job->id, &boots, error))
			return FALSE;
		for (guint j = 0; j < boots->len; j++) {
			const StoreBoot *boot = g_ptr_array_index(boots, j);

			if (!boot->valid)
				continue;
			sum[same] += (double)(boot->end_ns - boot->start_ns) / NS_PER_S;
			count[same]++;
		}
	}
	*ret_same = count[TRUE] > 0;
	*ret_s = count[*ret_same] ? sum[*ret_same] / count[*ret_same] : NAN;
	return TRUE;
}

/* ---- builds ---- */

static gboolean has_series(Lab *lab, const StoreJob *job, const GString *series, gboolean *ret_has, GError **error)
{
	g_autoptr(GBytes) content = NULL;

	*ret_has = FALSE;
	if (!job->spec->has_series)
		return TRUE;
	if (!store_job_file(lab->db, job->id, "series.mbox", &content, error))
		return FALSE;
	*ret_has = content && g_bytes_get_size(content) == series->len &&
		   memcmp(g_bytes_get_data(content, NULL), series->str, series->len) == 0;
	return TRUE;
}

/* Whether the job asked for the same kernel in that arm. A series may name its base itself: then it has to be the same. */
static gboolean is_same_kernel(Lab *lab, const StoreJob *job, const JobSpec *spec, const GString *series, int arm,
			       gboolean *ret_same, GError **error)
{
	gboolean patched_too = arm == 1 || !*spec->base;

	*ret_same = !spec->has_config && !job->spec->has_config && g_str_equal(job->spec->config, spec->config) &&
		    g_str_equal(job->spec->base, spec->base);
	if (!*ret_same || !patched_too)
		return TRUE;
	if (series)
		return has_series(lab, job, series, ret_same, error);
	*ret_same = !job->spec->has_series && g_str_equal(job->spec->head, spec->head);
	return TRUE;
}

gboolean past_build(Lab *lab, const Past *past, const JobSpec *spec, const GString *series, int arm, PastBuild *ret_build,
		    GError **error)
{
	PastBuild build = { .seconds = NAN };
	double sum = 0;
	guint count = 0;

	for (guint i = 0; i < past->built->len; i++) {
		const StoreJob *job = g_ptr_array_index(past->built, i);
		JsonObject *made = job->arms[arm];
		gboolean same;

		if (!made)
			continue;
		if (!peek_bool(made, "cached") && g_str_equal(job->spec->config, spec->config)) {
			sum += peek_double(made, "build_s", 0);
			count++;
		}
		if (build.known)
			continue;
		if (!is_same_kernel(lab, job, spec, series, arm, &same, error))
			return FALSE;
		if (same) {
			build.known = TRUE;
			build.cached = access(peek_string(made, "kernel"), R_OK) == 0;
			build.job = job->id;
		}
	}
	if (build.known && build.cached)
		build.seconds = 0;
	else if (count)
		build.seconds = sum / count;
	*ret_build = build;
	return TRUE;
}
