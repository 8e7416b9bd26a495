/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/job-json.h"

#include "daemon/routes.h"
#include "jobs/spec/json-text.h"

char *job_json_time(gint64 time_ns)
{
	g_autoptr(GDateTime) time = time_ns ? g_date_time_new_from_unix_utc(time_ns / G_GINT64_CONSTANT(1000000000)) : NULL;

	return time ? g_date_time_format(time, "%Y-%m-%dT%H:%M:%SZ") : NULL;
}

static void set_string(JsonObject *object, const char *name, const char *value)
{
	if (value)
		json_object_set_string_member(object, name, value);
	else
		json_object_set_null_member(object, name);
}

static void set_time(JsonObject *object, const char *name, gint64 time_ns)
{
	g_autofree char *text = job_json_time(time_ns);

	set_string(object, name, text);
}

static void set_object(JsonObject *object, const char *name, JsonObject *value)
{
	if (value)
		json_object_set_object_member(object, name, json_object_ref(value));
	else
		json_object_set_null_member(object, name);
}

JsonObject *job_json_links(gint64 id, const char *const *artifacts)
{
	static const struct {
		const char *name, *format;
	} rows[] = {
		{ "self", API "/jobs/%" G_GINT64_FORMAT },
		{ "page", "/jobs/%" G_GINT64_FORMAT },
		{ "result", API "/jobs/%" G_GINT64_FORMAT "/result" },
		{ "report", API "/jobs/%" G_GINT64_FORMAT "/report.txt" },
		{ "samples_csv", API "/jobs/%" G_GINT64_FORMAT "/samples.csv" },
		{ "samples_json", API "/jobs/%" G_GINT64_FORMAT "/samples.json" },
		{ "log", API "/jobs/%" G_GINT64_FORMAT "/log" },
	};
	JsonObject *links = json_object_new();

	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
		GString *link = g_string_new(NULL);

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
		g_string_printf(link, rows[i].format, id);
#pragma GCC diagnostic pop
		json_object_set_string_member(links, rows[i].name, link->str);
		g_string_free(link, TRUE);
	}
	if (artifacts) {
		JsonArray *array = json_array_new();

		for (const char *const *name = artifacts; *name; name++) {
			g_autofree char *link = g_strdup_printf(API "/jobs/%" G_GINT64_FORMAT "/artifacts/%s", id, *name);

			json_array_add_string_element(array, link);
		}
		json_object_set_array_member(links, "artifacts", array);
	}
	return links;
}

static gint64 int_member(JsonObject *object, const char *name, gint64 standard)
{
	JsonNode *node = object ? json_object_get_member(object, name) : NULL;

	return node && JSON_NODE_HOLDS_VALUE(node) && json_node_get_value_type(node) == G_TYPE_INT64 ?
		       json_node_get_int(node) : standard;
}

static const char *string_member(JsonObject *object, const char *name)
{
	JsonNode *node = object ? json_object_get_member(object, name) : NULL;
	const char *text = node && JSON_NODE_HOLDS_VALUE(node) ? json_node_get_string(node) : NULL;

	return text ? text : "";
}

/* Of all arms. */
static gint64 boots_planned(const StoreJob *job)
{
	gint64 boots = 2 * int_member(job->more ? job->more : job->plan, "boots_per_arm", job->spec->max_boots);

	for (const char *arm = string_member(job->plan, "order"); *arm; arm++)
		boots += *arm == 'C';
	return boots;
}

static JsonObject *progress(const StoreJob *job)
{
	JsonObject *object = json_object_new();
	gboolean runs = job->state == JOB_BUILDING || job->state == JOB_MEASURING;
	JsonObject *last = runs ? job->progress : NULL;

	json_object_set_string_member(object, "stage", string_member(last, "stage"));
	json_object_set_string_member(object, "step", string_member(last, "step"));
	json_object_set_int_member(object, "done", int_member(last, "done", 0));
	json_object_set_int_member(object, "total", int_member(last, "total", 0));
	json_object_set_int_member(object, "eta_s", int_member(last, "eta_s", -1));
	json_object_set_int_member(object, "boots_done", job->boots_valid[0] + job->boots_valid[1] + job->boots_control);
	json_object_set_int_member(object, "boots_total", boots_planned(job));
	json_object_set_boolean_member(object, "at_most", !job->more &&
				       g_str_equal(string_member(job->plan, "rule"), "sequential"));
	return object;
}

static void add_common(JsonObject *object, const StoreJob *job)
{
	json_object_set_int_member(object, "id", job->id);
	json_object_set_string_member(object, "state", job_state_name(job->state));
	json_object_set_boolean_member(object, "final", job_state_is_final(job->state));
	json_object_set_string_member(object, "reason", job->reason);
	json_object_set_string_member(object, "message", job->message);
	json_object_set_string_member(object, "failed_arm", job->failed_arm);
	json_object_set_string_member(object, "host", job->host);
	json_object_set_boolean_member(object, "cancel_asked", job->cancel_asked);
	set_time(object, "created", job->created_ns);
	set_time(object, "started", job->started_ns);
	set_time(object, "finished", job->finished_ns);
	json_object_set_object_member(object, "progress", progress(job));
}

JsonObject *job_json_brief(const StoreJob *job)
{
	JsonObject *object = json_object_new();
	JsonArray *benchmarks = json_array_new();

	add_common(object, job);
	json_object_set_string_member(object, "subject", job->spec->subject);
	json_object_set_string_member(object, "author", job->spec->author);
	json_object_set_string_member(object, "tree", job->spec->tree);
	for (char **name = job->spec->benchmarks; *name; name++)
		json_array_add_string_element(benchmarks, *name);
	json_object_set_array_member(object, "benchmarks", benchmarks);
	json_object_set_string_member(object, "clock", job_clock_name(job->spec->clock));
	json_object_set_int_member(object, "priority", job->spec->priority);
	json_object_set_object_member(object, "links", job_json_links(job->id, NULL));
	return object;
}

static JsonObject *agreement_json(const StatsAgreement *agreement)
{
	JsonObject *object = json_object_new();

	json_object_set_string_member(object, "benchmark", agreement->benchmark);
	json_object_set_string_member(object, "params", agreement->params);
	json_object_set_string_member(object, "metric", agreement->metric);
	json_object_set_int_member(object, "hosts", agreement->hosts);
	json_set_double(object, "change_low_pct", agreement->low_pct);
	json_set_double(object, "change_high_pct", agreement->high_pct);
	json_set_double(object, "p", agreement->p);
	json_set_double(object, "p_holm", agreement->p_holm);
	json_object_set_string_member(object, "agreement", stats_agreement_to_string(agreement->kind));
	json_object_set_string_member(object, "reason", agreement->reason);
	return object;
}

JsonObject *job_json_replicas(const StoreReplicas *replicas)
{
	JsonObject *object = json_object_new();
	JsonArray *jobs = json_array_new(), *agreements = json_array_new();

	for (guint i = 0; i < replicas->jobs->len; i++) {
		const StoreJob *job = g_ptr_array_index(replicas->jobs, i);
		JsonObject *one = json_object_new();

		json_object_set_int_member(one, "id", job->id);
		json_object_set_string_member(one, "host", job->spec->host);
		json_object_set_string_member(one, "state", job_state_name(job->state));
		json_array_add_object_element(jobs, one);
	}
	for (guint i = 0; i < replicas->agreements->len; i++)
		json_array_add_object_element(agreements, agreement_json(g_ptr_array_index(replicas->agreements, i)));
	json_object_set_array_member(object, "jobs", jobs);
	json_object_set_int_member(object, "results", replicas->results);
	json_object_set_string_member(object, "summary", replicas->summary);
	json_object_set_array_member(object, "comparisons", agreements);
	return object;
}

static JsonObject *boot_json(const StoreBoot *boot)
{
	JsonObject *object = json_object_new();

	json_object_set_int_member(object, "boot", boot->boot);
	json_object_set_int_member(object, "pair", boot->pair);
	json_object_set_string_member(object, "arm", boot->arm);
	json_object_set_string_member(object, "host", boot->host);
	json_object_set_string_member(object, "clock", boot->clock);
	json_object_set_boolean_member(object, "valid", boot->valid);
	json_object_set_string_member(object, "reason", boot->reason);
	json_object_set_string_member(object, "detail", boot->detail);
	json_object_set_int_member(object, "start_ns", boot->start_ns);
	json_object_set_int_member(object, "end_ns", boot->end_ns);
	json_object_set_int_member(object, "first_sample_ns", boot->first_sample_ns);
	set_object(object, "hello", boot->hello);
	set_object(object, "machine", boot->machine);
	return object;
}

JsonObject *job_json(const StoreJob *job, const GPtrArray *boots, const char *const *artifacts, int queue_position)
{
	JsonObject *object = json_object_new(), *arms = json_object_new();
	JsonArray *array = json_array_new();

	add_common(object, job);
	set_object(object, "detail", job->detail);
	json_object_set_object_member(object, "spec", job_spec_to_json(job->spec));
	set_object(object, "source", job->source);
	set_object(arms, "base", job->arms[0]);
	set_object(arms, "patched", job->arms[1]);
	json_object_set_object_member(object, "arms", arms);
	set_object(object, "accelerator", job->accelerator);
	set_object(object, "plan", job->plan);
	set_object(object, "look", job->look);
	set_object(object, "more", job->more);
	set_object(object, "trust", job->trust);
	set_object(object, "control", job->control);
	set_object(object, "host_state", job->host_state);
	for (guint i = 0; boots && i < boots->len; i++)
		json_array_add_object_element(array, boot_json(g_ptr_array_index(boots, i)));
	json_object_set_array_member(object, "boots", array);
	json_object_set_int_member(object, "queue_position", queue_position);
	json_object_set_object_member(object, "links", job_json_links(job->id, artifacts));
	return object;
}
