/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>
#include <unistd.h>

#include "daemon/answer.h"
#include "daemon/api.h"
#include "daemon/job-json.h"
#include "daemon/queue.h"
#include "daemon/quote.h"
#include "daemon/submission.h"
#include "jobs/spec/benchmark.h"
#include "jobs/spec/file.h"

#define KEY_MAX_BYTES 128
#define RETRY_AFTER_S "60"
#define HOUR_NS (G_GINT64_CONSTANT(3600) * 1000000000)

/* ---- what has to be looked up ---- */

static gboolean check_tree(Lab *lab, JobSpec *spec, GError **error)
{
	const ConfigTree *tree = config_tree(lab->config, spec->tree);

	if (!tree) {
		g_autoptr(GString) names = g_string_new(NULL);

		for (guint i = 0; i < lab->config->trees->len; i++)
			g_string_append_printf(names, "%s%s", i ? ", " : "",
					       ((ConfigTree *)g_ptr_array_index(lab->config->trees, i))->name);
		return spec_error_set(error, SPEC_ERROR_VALUE, "tree", "there is no tree '%s'; there are: %s",
				      spec->tree, names->str);
	}
	if (!*spec->tree) {
		g_free(spec->tree);
		spec->tree = g_strdup(tree->name);
	}
	job_spec_complete(spec, tree->branch);
	return TRUE;
}

static gboolean check_config(Lab *lab, const JobSpec *spec, GError **error)
{
	g_autofree char *path = g_strdup_printf("%s/%s.config", lab->config->configs_dir, spec->config);

	if (spec->has_config || access(path, R_OK) == 0)
		return TRUE;
	g_auto(GStrv) names = file_names(lab->config->configs_dir, ".config", NULL);
	g_autofree char *list = names ? g_strjoinv(", ", names) : g_strdup("none");

	return spec_error_set(error, SPEC_ERROR_VALUE, "config", "there is no kernel configuration profile '%s'; there are: %s",
			      spec->config, list);
}

static gboolean check_plan(Lab *lab, const JobSpec *spec, const char *profile, GError **error)
{
	g_autoptr(BenchmarkPlan) plan = NULL;
	g_autoptr(GError) problem = NULL;
	g_autofree char *field = NULL;

	if (benchmark_plan(lab->config->benchmarks_dir, spec->benchmarks, spec->params, profile, &plan, &problem))
		return TRUE;
	field = spec_error_field(problem);
	if (field)
		g_propagate_error(error, g_steal_pointer(&problem));
	else
		spec_error_set(error, SPEC_ERROR_VALUE, "benchmarks", "%s", problem->message);
	return FALSE;
}

/* "auto" becomes one of the two where it is measured: both have to work. */
static gboolean check_benchmarks(Lab *lab, const JobSpec *spec, GError **error)
{
	if (!g_str_equal(spec->profile, "auto"))
		return check_plan(lab, spec, spec->profile, error);
	return check_plan(lab, spec, "quick", error) && check_plan(lab, spec, "full", error);
}

static gboolean check_replicas(Lab *lab, const JobSpec *spec, GError **error)
{
	g_auto(GStrv) hosts = queue_spread(lab->queue, spec, (guint)spec->replicate);

	return hosts || spec_error_set(error, SPEC_ERROR_VALUE, "replicate",
				       "fewer than %d hosts have what it needs: the labels asked for, and memory for the guests",
				       spec->replicate);
}

/* Whether it can be measured anywhere; whether that host is up, and idle, is another question. */
static gboolean check_hosts(Lab *lab, const JobSpec *spec, GError **error)
{
	if (*spec->host && !config_host(lab->config, spec->host))
		return spec_error_set(error, SPEC_ERROR_VALUE, "host", "there is no host '%s'; /hosts lists them", spec->host);
	if (queue_has_host(lab->queue, spec))
		return check_replicas(lab, spec, error);
	return spec_error_set(error, SPEC_ERROR_VALUE, *spec->labels ? "labels" : "benchmarks",
			      "no host%s%s has what it needs: the labels asked for, and memory for the guests",
			      *spec->host ? " of the name " : "", spec->host);
}

static gboolean check_places(HttpRequest *request, Lab *lab, JobSpec *spec)
{
	g_autoptr(GError) problem = NULL;

	if (check_tree(lab, spec, &problem) && check_config(lab, spec, &problem) &&
	    check_benchmarks(lab, spec, &problem) && check_hosts(lab, spec, &problem))
		return TRUE;
	answer_refusal(request, problem);
	return FALSE;
}

static void refuse_for_now(HttpRequest *request, const char *code, const char *retry_after_s, const char *message)
{
	answer_error(request, 429, code, NULL, "%s", message);
	http_answer_header(request, "Retry-After", retry_after_s);
}

/* The limits of the caller's token. */
static gboolean check_share(HttpRequest *request, Lab *lab, const Caller *caller, int wanted)
{
	GError *error = NULL;
	gint64 used_ns;
	int jobs;

	if (!store_jobs_live_of(lab->db, caller->submitter, &jobs, &error) ||
	    !store_machine_time(lab->db, caller->submitter, lab->now_ns(), &used_ns, &error)) {
		answer_trouble(request, 0, error);
		return FALSE;
	}
	if (caller->queue_max && jobs + wanted > caller->queue_max) {
		refuse_for_now(request, "token-queue-full", RETRY_AFTER_S,
			       "as many jobs of this token wait as may; try again later");
		return FALSE;
	}
	if (caller->hours_per_day && used_ns >= caller->hours_per_day * HOUR_NS) {
		refuse_for_now(request, "token-machine-time", "3600",
			       "this token's machine time of 24 hours is used; try again later");
		return FALSE;
	}
	return TRUE;
}

static gboolean check_room(HttpRequest *request, Lab *lab, int wanted)
{
	gint64 counts[JOB_N_STATES], live = 0;
	GError *error = NULL;

	if (!store_job_counts(lab->db, counts, &error)) {
		answer_trouble(request, 0, error);
		return FALSE;
	}
	for (int i = 0; i < JOB_N_STATES; i++)
		if (!job_state_is_final(i))
			live += counts[i];
	if (live + wanted <= lab->config->queue_max)
		return TRUE;
	refuse_for_now(request, "queue-full", RETRY_AFTER_S, "as many jobs wait as may; try again later");
	return FALSE;
}

gboolean api_check_limits(HttpRequest *request, Lab *lab, const Caller *caller, int wanted)
{
	return check_room(request, lab, wanted) && check_share(request, lab, caller, wanted);
}

static gboolean check_key(HttpRequest *request, const char *key)
{
	gboolean good = !key || (*key && strlen(key) <= KEY_MAX_BYTES);

	for (const char *p = key; good && p && *p; p++)
		good = g_ascii_isprint(*p);
	if (!good)
		answer_error(request, 400, "malformed", "Idempotency-Key",
			     "an Idempotency-Key has 1 to %d printable characters", KEY_MAX_BYTES);
	return good;
}

/* ---- reading it, in a thread ---- */

typedef struct {
	Submission *submission;
	gboolean dry_run;
	gboolean is_page;	/* a person's form, and not a client's body */
	char *type;		/* of the body */
	GError *problem;	/* of the body: why it is refused */
} Reading;

static void reading_free(gpointer data)
{
	Reading *reading = data;

	submission_free(reading->submission);
	g_free(reading->type);
	g_clear_error(&reading->problem);
	g_free(reading);
}

typedef struct {
	Reading *reading;
	GError *error;
} TakeQuery;

/* How a job is asked about, and no member of it. */
static gboolean take_dry_run(TakeQuery *take, const char *value)
{
	if (!g_str_equal(value, "0") && !g_str_equal(value, "1"))
		return spec_error_set(&take->error, SPEC_ERROR_VALUE, "dry_run", "is 1 or 0");
	take->reading->dry_run = *value == '1';
	return TRUE;
}

static gboolean take_query(const char *name, const char *value, gpointer data)
{
	TakeQuery *take = data;

	if (g_str_equal(name, "dry_run"))
		return take_dry_run(take, value);
	if (g_str_equal(name, "series"))
		return spec_error_set(&take->error, SPEC_ERROR_VALUE, name, "has to be in the body");
	return submission_field(take->reading->submission, name, value, strlen(value), FALSE, &take->error);
}

static gboolean read_query(HttpRequest *request, Reading *reading)
{
	TakeQuery query = { reading, NULL };

	if (!http_request_each_query(request, take_query, &query))
		answer_error(request, 400, "malformed", NULL, "the query is not UTF-8 text");
	else if (query.error)
		answer_refusal(request, query.error);
	g_clear_error(&query.error);
	return !http_answered(request);
}

static gboolean check_type(HttpRequest *request, const char *type)
{
	g_autofree char *media = submission_media(type);

	if (submission_takes(media))
		return TRUE;
	answer_error(request, 415, "unsupported-type", NULL,
		     "'%.100s' is not taken: a job is multipart/form-data (curl -F), application/json, or an mbox as "
		     "text/plain, application/mbox or message/rfc822 (curl --data-binary with -H 'Content-Type: ...')",
		     media);
	return FALSE;
}

static gboolean begin_reading(HttpRequest *request, Lab *lab, RouteMatch *match)
{
	Reading *reading = g_new0(Reading, 1);

	match->prepared = reading;
	reading->submission = submission_new();
	reading->is_page = match->route->is_page;
	reading->type = g_strdup(http_request_header(request, "Content-Type"));
	return check_key(request, http_request_header(request, "Idempotency-Key")) &&
	       api_check_limits(request, lab, match->caller, 1) && read_query(request, reading) &&
	       check_type(request, reading->type);
}

/* The body goes first: it and what is made of it are not all to be in memory. */
static void read_body(HttpRequest *request, RouteMatch *match)
{
	Reading *reading = match->prepared;
	const GByteArray *body = http_request_body(request);

	if (!(reading->is_page ? submission_page(reading->submission, reading->type, body, &reading->problem) :
				 submission_body(reading->submission, reading->type, body, &reading->problem)))
		return;
	http_request_forget_body(request);
	submission_finish(reading->submission, &reading->problem);
}

const RouteWork api_submit_work = { begin_reading, read_body, reading_free };

/* ---- storing ---- */

static GBytes *take_bytes(GString **content)
{
	GString *string = g_steal_pointer(content);

	return string ? g_string_free_to_bytes(string) : NULL;
}

static void accepted(HttpRequest *request, Lab *lab, gint64 id)
{
	g_autoptr(StoreJob) job = NULL;
	g_autoptr(StoreReplicas) replicas = NULL;
	g_autofree char *location = g_strdup_printf(API "/jobs/%" G_GINT64_FORMAT, id);
	JsonObject *object;
	GError *error = NULL;

	if (!store_job_get(lab->db, id, &job, &error) || !store_replicas(lab->db, job, &replicas, &error)) {
		answer_trouble(request, id, error);
		return;
	}
	object = json_object_new();
	json_object_set_int_member(object, "id", id);
	json_object_set_string_member(object, "state", job_state_name(job->state));
	json_object_set_object_member(object, "links", job_json_links(id, NULL));
	if (replicas)
		json_object_set_object_member(object, "replicas", job_json_replicas(replicas));
	answer_json(request, 202, object);
	http_answer_header(request, "Location", location);
}

/* Nothing is stored. */
static void answer_quote(HttpRequest *request, Lab *lab, const Submission *submission)
{
	GError *error = NULL;
	JsonObject *quote = quote_make(lab, submission->spec, submission->series, &error);

	if (!quote) {
		answer_trouble(request, 0, error);
		return;
	}
	answer_json(request, 200, quote);
}

/* Its page is the answer. */
static void accepted_page(HttpRequest *request, gint64 id)
{
	g_autofree char *location = g_strdup_printf("/jobs/%" G_GINT64_FORMAT, id);

	http_answer(request, 303, TEXT_TYPE, g_strdup(""), 0);
	http_answer_header(request, "Location", location);
	http_answer_header(request, "Cache-Control", "no-store");
}

void api_submit(HttpRequest *request, Lab *lab, const RouteMatch *match)
{
	Reading *reading = match->prepared;
	Submission *submission = reading->submission;
	g_autoptr(GBytes) series = NULL, config = NULL;
	g_autofree char *digest = NULL, *own_key = NULL;
	g_auto(GStrv) hosts = NULL;
	Caller *caller = match->caller;
	const char *key = http_request_header(request, "Idempotency-Key");
	GError *error = NULL;
	gboolean again;
	gint64 id;

	if (reading->problem) {
		answer_refusal(request, reading->problem);
		return;
	}
	/* once more: others were served meanwhile */
	if (!api_check_limits(request, lab, caller, submission->spec->replicate) || !check_places(request, lab, submission->spec))
		return;
	if (reading->dry_run) {
		caller_set_target(caller, "quote");
		answer_quote(request, lab, submission);
		return;
	}
	/* two tokens may use the same words */
	own_key = key && caller->token ? g_strconcat(caller->submitter, " ", key, NULL) : g_strdup(key);
	digest = submission_digest(submission);
	series = take_bytes(&submission->series);
	config = take_bytes(&submission->config);

	hosts = submission->spec->replicate > 1 ?
		queue_spread(lab->queue, submission->spec, (guint)submission->spec->replicate) : NULL;

	StoreSubmission row = { submission->spec, series, config, own_key, digest, caller->submitter, hosts };
	if (!store_job_add(lab->db, &row, lab->now_ns(), &id, &again, &error)) {
		if (g_error_matches(error, DB_ERROR, DB_ERROR_CONFLICT)) {
			answer_error(request, 409, "conflict", "Idempotency-Key", "%s", error->message);
			g_error_free(error);
		} else {
			answer_trouble(request, 0, error);
		}
		return;
	}
	caller_set_target(caller, "job %" G_GINT64_FORMAT "%s", id, again ? ", again" : "");
	if (reading->is_page)
		accepted_page(request, id);
	else
		accepted(request, lab, id);
	queue_kick(lab->queue);
}
