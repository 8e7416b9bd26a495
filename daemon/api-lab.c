/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the lab says of itself: health, metrics, its own description. */
#include <string.h>
#include <sys/statvfs.h>

#include "daemon/answer.h"
#include "daemon/api.h"
#include "daemon/health.h"
#include "daemon/openapi.h"
#include "daemon/queue.h"

/* ---- health ---- */

static guint64 disk_free(const char *path)
{
	struct statvfs status;

	return statvfs(path, &status) == 0 ? (guint64)status.f_bavail * status.f_frsize : 0;
}

static JsonArray *troubles_json(const GPtrArray *troubles)
{
	JsonArray *array = json_array_new();

	for (guint i = 0; i < troubles->len; i++) {
		const Trouble *trouble = g_ptr_array_index(troubles, i);
		JsonObject *object = json_object_new();

		json_object_set_string_member(object, "name", trouble->name);
		json_object_set_string_member(object, "message", trouble->message);
		json_object_set_int_member(object, "since_ns", trouble->since_ns);
		json_object_set_boolean_member(object, "blocks", trouble->blocks);
		json_array_add_object_element(array, object);
	}
	return array;
}

void api_healthz(HttpRequest *request, Lab *lab, const RouteMatch *match G_GNUC_UNUSED)
{
	JsonObject *object = json_object_new();
	g_autoptr(GError) error = NULL;
	gboolean good = db_writable(lab->db, &error);
	const GPtrArray *troubles;

	health_look(lab->health);
	troubles = health_troubles(lab->health);
	json_object_set_string_member(object, "status", !good ? "failing" : troubles->len ? "troubled" : "ok");
	json_object_set_string_member(object, "database", good ? "ok" : error->message);
	json_object_set_array_member(object, "troubles", troubles_json(troubles));
	json_object_set_int_member(object, "disk_free_bytes", (gint64)disk_free(lab->config->state_dir));
	json_object_set_int_member(object, "uptime_s", (lab->now_ns() - lab->start_ns) / G_GINT64_CONSTANT(1000000000));
	answer_json(request, good ? 200 : 503, object);
}

/* ---- metrics: Prometheus' text format, version 0.0.4 ---- */

static void metric(GString *out, const char *name, const char *type, const char *help)
{
	g_string_append_printf(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static void single(GString *out, const char *name, const char *type, const char *help, gint64 value)
{
	metric(out, name, type, help);
	g_string_append_printf(out, "%s %" G_GINT64_FORMAT "\n", name, value);
}

static gboolean job_metrics(Lab *lab, GString *out, GError **error)
{
	gint64 counts[JOB_N_STATES];

	if (!store_job_counts(lab->db, counts, error))
		return FALSE;
	metric(out, "regrlab_jobs", "gauge", "Jobs by state.");
	for (int i = 0; i < JOB_N_STATES; i++)
		g_string_append_printf(out, "regrlab_jobs{state=\"%s\"} %" G_GINT64_FORMAT "\n", job_state_name(i), counts[i]);
	return TRUE;
}

static gboolean host_metrics(Lab *lab, GString *out, GError **error)
{
	metric(out, "regrlab_host_boots", "gauge", "Boots taken in, by host and whether they counted.");
	for (guint i = 0; i < lab->config->hosts->len; i++) {
		const ConfigHost *host = g_ptr_array_index(lab->config->hosts, i);
		g_auto(StoreHost) known = { 0 };

		if (!store_host(lab->db, host->name, &known, error))
			return FALSE;
		g_string_append_printf(out,
				       "regrlab_host_boots{host=\"%s\",valid=\"1\"} %" G_GINT64_FORMAT "\n"
				       "regrlab_host_boots{host=\"%s\",valid=\"0\"} %" G_GINT64_FORMAT "\n",
				       host->name, known.boots_valid, host->name, known.boots_failed);
	}
	metric(out, "regrlab_host_up", "gauge", "1 while the host takes jobs: it is up, and not drained.");
	for (guint i = 0; i < lab->config->hosts->len; i++) {
		const ConfigHost *host = g_ptr_array_index(lab->config->hosts, i);

		g_string_append_printf(out, "regrlab_host_up{host=\"%s\"} %d\n", host->name,
				       queue_host(lab->queue, host->name)->place.usable ? 1 : 0);
	}
	metric(out, "regrlab_host_busy", "gauge", "1 while a job is measured on the host.");
	for (guint i = 0; i < lab->config->hosts->len; i++) {
		const ConfigHost *host = g_ptr_array_index(lab->config->hosts, i);

		g_string_append_printf(out, "regrlab_host_busy{host=\"%s\"} %d\n", host->name,
				       host_first_job(queue_host(lab->queue, host->name)) ? 1 : 0);
	}
	return TRUE;
}

static void http_metrics(Lab *lab, GString *out)
{
	single(out, "regrlab_http_connections", "gauge", "Open HTTP connections.", http_connections(lab->http));
	single(out, "regrlab_http_evicted_total", "counter", "Connections that were closed to make room for others.",
	       (gint64)http_evicted(lab->http));
	metric(out, "regrlab_http_answers_total", "counter", "HTTP answers by status.");
	for (unsigned status = 100; status < HTTP_MAX_STATUS; status++)
		if (http_answers(lab->http, status))
			g_string_append_printf(out, "regrlab_http_answers_total{status=\"%u\"} %" G_GUINT64_FORMAT "\n",
					       status, http_answers(lab->http, status));
}

void api_metrics(HttpRequest *request, Lab *lab, const RouteMatch *match)
{
	g_autoptr(GString) out = g_string_new(NULL);
	GError *error = NULL;
	gsize size;

	if (!job_metrics(lab, out, &error) || !host_metrics(lab, out, &error)) {
		answer_trouble(request, 0, error);
		return;
	}
	http_metrics(lab, out);
	metric(out, "regrlab_trouble", "gauge", "1 for each thing that is wrong with the machine.");
	for (guint i = 0; i < health_troubles(lab->health)->len; i++)
		g_string_append_printf(out, "regrlab_trouble{name=\"%s\"} 1\n",
				       ((const Trouble *)g_ptr_array_index(health_troubles(lab->health), i))->name);
	single(out, "regrlab_build_busy", "gauge", "1 while a kernel is built.", queue_building(lab->queue) ? 1 : 0);
	single(out, "regrlab_stages_started_total", "counter", "Stages started.",
	       (gint64)queue_stages_started(lab->queue));
	single(out, "regrlab_stages_crashed_total", "counter", "Stages that ended without saying how.",
	       (gint64)queue_stages_crashed(lab->queue));
	single(out, "regrlab_database_bytes", "gauge", "Size of the database.", db_size_bytes(lab->db));
	single(out, "regrlab_disk_free_bytes", "gauge", "Free space where the state is.",
	       (gint64)disk_free(lab->config->state_dir));
	single(out, "regrlab_start_time_seconds", "gauge", "When the daemon started.",
	       lab->start_ns / G_GINT64_CONSTANT(1000000000));
	size = out->len;
	http_answer(request, 200, match->route->produces, g_string_free(g_steal_pointer(&out), FALSE), size);
	http_answer_header(request, "Cache-Control", "no-store");
}

void api_openapi(HttpRequest *request, Lab *lab G_GNUC_UNUSED, const RouteMatch *match G_GNUC_UNUSED)
{
	answer_json(request, 200, openapi_document());
}
