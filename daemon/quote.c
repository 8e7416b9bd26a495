/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/quote.h"

#include <math.h>

#include "daemon/quote-past.h"
#include "jobs/spec/benchmark.h"
#include "jobs/spec/json-text.h"
#include "jobs/spec/peek.h"
#include "jobs/stats/analysis.h"
#include "jobs/stats/calibration.h"
#include "jobs/stats/sequential.h"

#define NS_PER_S 1e9

typedef struct {
	Lab *lab;
	const JobSpec *spec;
	const GString *series;
	const ConfigHost *host;
	char *clock;		/* NULL: not known before a boot on the host */
	BenchmarkPlan *plan;
	Past past;
} Quote;

static void quote_clear(Quote *quote)
{
	g_free(quote->clock);
	benchmark_plan_free(quote->plan);
	past_clear(&quote->past);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Quote, quote_clear)

static void set_job(JsonObject *object, gint64 job)
{
	if (job)
		json_object_set_int_member(object, "job", job);
	else
		json_object_set_null_member(object, "job");
}

G_GNUC_PRINTF(2, 3) static void set_reason(JsonObject *object, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	g_autofree char *text = g_strdup_vprintf(format, args);
	va_end(args);
	json_object_set_string_member(object, "reason", text);
}

/* ---- where ---- */

/* "auto" becomes what the host's last guests ran on. */
static gboolean find_clock(Quote *quote, GError **error)
{
	g_auto(StoreHost) known = { 0 };
	JobClock clock = quote->spec->clock;

	if (!store_host(quote->lab->db, quote->host->name, &known, error))
		return FALSE;
	if (clock == CLOCK_AUTO && *known.accelerator)
		clock = g_str_equal(known.accelerator, "kvm") ? CLOCK_KVM : CLOCK_ICOUNT;
	if (clock != CLOCK_AUTO)
		quote->clock = g_strdup(job_clock_name(clock));
	return TRUE;
}

static gboolean find_plan(Quote *quote, GError **error)
{
	const char *profile = quote->spec->profile;

	if (g_str_equal(profile, "auto"))
		profile = g_strcmp0(quote->clock, job_clock_name(CLOCK_KVM)) == 0 ? "full" : "quick";
	return benchmark_plan(quote->lab->config->benchmarks_dir, quote->spec->benchmarks, quote->spec->params, profile,
			      &quote->plan, error);
}

/* ---- what can be seen ---- */

static StatsRule rule_of(const JobSpec *spec)
{
	StatsRule asked = STATS_RULE_AUTO;

	stats_rule_from_string(spec->rule, &asked);
	return stats_rule_for(asked, (guint)spec->max_boots);
}

/* The level of the last look. By the sequential rule its boundary is at least what is left of the error rate, and a change
 * may be found earlier: so what is found at this level is found with at least the power asked for. */
static double last_level(const JobSpec *spec, double alpha)
{
	StatsLooks looks;

	if (rule_of(spec) != STATS_RULE_SEQUENTIAL)
		return alpha;
	looks = stats_looks_plan((guint)spec->max_boots);
	return looks.count > 1 ? alpha - stats_alpha_spent(alpha, looks.fraction[looks.count - 2]) : alpha;
}

static JsonObject *effect(const Quote *quote, const BenchmarkSet *set, double alpha)
{
	const JobSpec *spec = quote->spec;
	const char *clock = quote->clock ? quote->clock : "";
	PastNoise noise = past_noise(&quote->past, spec, set->benchmark, set->params, clock);
	double effect_pct = isnan(noise.sd) ? NAN : stats_visible_effect_pct(noise.sd, (guint)spec->max_boots, last_level(spec, alpha));
	JsonObject *object = json_object_new();

	json_object_set_string_member(object, "benchmark", set->benchmark);
	json_object_set_string_member(object, "params", set->params);
	json_set_double(object, "effect_pct", effect_pct);
	json_object_set_string_member(object, "source", noise.source);
	json_object_set_int_member(object, "boots", noise.boots);
	set_job(object, noise.job);
	if (!*clock)
		set_reason(object, "which clock host %s has is known after its first job", quote->host->name);
	else if (isnan(noise.sd))
		set_reason(object, "nothing is known of %s %s on host %s with the clock %s: regrlab calibrate finds out",
			   set->benchmark, set->params, quote->host->name, clock);
	else if (isnan(effect_pct))
		set_reason(object, "%d boots of each kernel are too few for any verdict at this error rate", spec->max_boots);
	else if (noise.sd <= 0)
		set_reason(object, "boots did not vary at all: any change shows");
	else
		set_reason(object, "found with a chance of at least 80 %% in %d boots of each kernel", spec->max_boots);
	return object;
}

static JsonArray *effects(const Quote *quote, double alpha)
{
	JsonArray *array = json_array_new();

	for (guint i = 0; i < quote->plan->sets->len; i++)
		json_array_add_object_element(array, effect(quote, g_ptr_array_index(quote->plan->sets, i), alpha));
	return array;
}

/* ---- how long ---- */

static JsonObject *build(const Quote *quote, int arm, double *ret_s, GError **error)
{
	static const char *const names[] = { "base", "patched" };
	PastBuild past;
	JsonObject *object;

	if (!past_build(quote->lab, &quote->past, quote->spec, quote->series, arm, &past, error))
		return NULL;
	object = json_object_new();
	*ret_s = past.seconds;
	if (past.known)
		json_object_set_boolean_member(object, "cached", past.cached);
	else
		json_object_set_null_member(object, "cached");
	json_set_double(object, "seconds", past.seconds);
	set_job(object, past.job);
	if (past.known && past.cached)
		set_reason(object, "job %" G_GINT64_FORMAT " built it, if the names still mean the same commits", past.job);
	else if (isnan(past.seconds))
		set_reason(object, "no %s kernel of this configuration has been built yet", names[arm]);
	else
		set_reason(object, "as long as other %s kernels of this configuration took", names[arm]);
	return object;
}

static JsonObject *builds(const Quote *quote, double *ret_s, GError **error)
{
	g_autoptr(JsonObject) object = json_object_new();
	double base_s, patched_s;
	JsonObject *base = build(quote, 0, &base_s, error), *patched;

	if (!base)
		return NULL;
	json_object_set_object_member(object, "base", base);
	patched = build(quote, 1, &patched_s, error);
	if (!patched)
		return NULL;
	json_object_set_object_member(object, "patched", patched);
	*ret_s = base_s + patched_s;
	json_set_double(object, "seconds", *ret_s);
	return g_steal_pointer(&object);
}

/* Of the control arm that the job may get. */
static int control_boots(const Quote *quote)
{
	const ConfigHost *host = quote->host;

	return host->control_every && quote->spec->max_boots >= (int)STATS_MIN_BOOTS && !job_spec_is_calibration(quote->spec) ?
		       (int)STATS_MIN_BOOTS : 0;
}

static void set_boots_reason(JsonObject *object, int boots, int control)
{
	if (control)
		set_reason(object, "at most: %d boots, and %d of a control arm if it gets one, as long as those of jobs with the same "
			   "benchmarks and parameters", boots, control);
	else
		set_reason(object, "at most: %d boots as long as those of jobs with the same benchmarks and parameters", boots);
}

static JsonObject *measuring(const Quote *quote, double *ret_s, GError **error)
{
	JsonObject *object;
	int boots = 2 * quote->spec->max_boots, control = control_boots(quote);
	gboolean same;
	double boot_s;

	if (!past_boot_s(quote->lab, &quote->past, quote->spec, &boot_s, &same, error))
		return NULL;
	object = json_object_new();
	*ret_s = (boots + control) * boot_s;
	json_set_double(object, "boot_s", boot_s);
	json_set_double(object, "seconds", *ret_s);
	if (isnan(boot_s))
		set_reason(object, "no job with these benchmarks has been measured on host %s with this clock", quote->host->name);
	else if (same)
		set_boots_reason(object, boots, control);
	else
		set_reason(object, "at most, and roughly: jobs with other benchmarks or parameters are all there is to go by");
	return object;
}

/* ---- when ---- */

/* Mean time from the start of a job to its end. */
static double job_s(const GPtrArray *jobs)
{
	double sum = 0;
	guint count = 0;

	for (guint i = 0; i < jobs->len; i++) {
		const StoreJob *job = g_ptr_array_index(jobs, i);

		if (!job->started_ns)
			continue;
		sum += (double)(job->finished_ns - job->started_ns) / NS_PER_S;
		count++;
	}
	return count ? sum / count : NAN;
}

/* What is left of a job that has not ended, if all of them take `each_s`. */
static double left_s(const Lab *lab, const StoreJob *job, double each_s)
{
	gint64 eta_s = peek_int(job->progress, "eta_s", -1);

	if (job->state == JOB_MEASURING && eta_s >= 0)
		return (double)eta_s;
	if (!job->started_ns)
		return each_s;
	return fmax(0, each_s - (double)(lab->now_ns() - job->started_ns) / NS_PER_S);
}

static gboolean list_jobs(const Quote *quote, gboolean live, GPtrArray **ret_jobs, GError **error)
{
	StoreFilter filter = { .live = live, .by_state = !live, .state = JOB_DONE, .limit = live ? STORE_LIST_MAX : PAST_JOBS };
	gint64 cursor;

	return store_job_list(quote->lab->db, &filter, ret_jobs, &cursor, error);
}

static JsonObject *start(const Quote *quote, double *ret_s, GError **error)
{
	g_autoptr(GPtrArray) done = NULL, live = NULL;
	JsonObject *object;
	double each_s, sum = 0;
	guint before = 0, hosts = quote->lab->config->hosts->len;

	if (!list_jobs(quote, FALSE, &done, error) || !list_jobs(quote, TRUE, &live, error))
		return NULL;
	object = json_object_new();
	each_s = job_s(done);
	for (guint i = 0; i < live->len; i++) {
		const StoreJob *job = g_ptr_array_index(live, i);

		if ((job->state == JOB_QUEUED || job->state == JOB_WAITING_FOR_HOST) &&
		    job->spec->priority < quote->spec->priority)
			continue;
		sum += left_s(quote->lab, job, each_s);
		before++;
	}
	*ret_s = before ? sum / hosts : 0;
	json_object_set_int_member(object, "jobs_before", before);
	json_set_double(object, "seconds", *ret_s);
	if (!before)
		set_reason(object, "at once: no job is before it");
	else if (isnan(*ret_s))
		set_reason(object, "jobs before it: %u, and none has ended yet that tells how long they take", before);
	else
		set_reason(object, "jobs before it: %u, on %u host%s; they take as long as those before took", before, hosts,
			   hosts == 1 ? "" : "s");
	return object;
}

/* ---- all of it ---- */

static gboolean add_times(const Quote *quote, JsonObject *object, GError **error)
{
	double build_s, measure_s, start_s;
	JsonObject *part = builds(quote, &build_s, error);

	if (!part)
		return FALSE;
	json_object_set_object_member(object, "build", part);
	part = measuring(quote, &measure_s, error);
	if (!part)
		return FALSE;
	json_object_set_object_member(object, "measure", part);
	part = start(quote, &start_s, error);
	if (!part)
		return FALSE;
	json_object_set_object_member(object, "start", part);
	json_set_double(object, "seconds", build_s + measure_s);
	json_set_double(object, "done_in_s", start_s + build_s + measure_s);
	return TRUE;
}

JsonObject *quote_make(Lab *lab, const JobSpec *spec, const GString *series, GError **error)
{
	g_auto(Quote) quote = { .lab = lab, .spec = spec, .series = series };
	g_autoptr(JsonObject) object = json_object_new();
	double alpha;

	quote.host = *spec->host ? config_host(lab->config, spec->host) : g_ptr_array_index(lab->config->hosts, 0);
	if (!find_clock(&quote, error) || !find_plan(&quote, error) ||
	    !past_load(lab, spec, quote.host->name, quote.clock ? quote.clock : "", &quote.past, error))
		return NULL;
	alpha = spec->alpha / MAX(quote.plan->sets->len, 1);
	json_object_set_boolean_member(object, "dry_run", TRUE);
	json_object_set_string_member(object, "host", quote.host->name);
	if (quote.clock)
		json_object_set_string_member(object, "clock", quote.clock);
	else
		json_object_set_null_member(object, "clock");
	json_object_set_int_member(object, "boots_per_arm", spec->max_boots);
	json_object_set_string_member(object, "rule", stats_rule_to_string(rule_of(spec)));
	json_object_set_int_member(object, "parameter_sets", quote.plan->sets->len);
	json_object_set_double_member(object, "alpha_each", alpha);
	json_object_set_double_member(object, "min_effect_pct", spec->min_effect_pct);
	json_object_set_array_member(object, "effects", effects(&quote, alpha));
	if (!add_times(&quote, object, error))
		return NULL;
	return g_steal_pointer(&object);
}
