/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Pages but a job's: records out of the store into the views of web/. */
#include <string.h>

#include "daemon/answer.h"
#include "daemon/api.h"
#include "daemon/health.h"
#include "daemon/queue.h"
#include "db/store-trust.h"
#include "jobs/spec/benchmark.h"
#include "jobs/spec/peek.h"
#include "web/page-host.h"
#include "web/page-hosts.h"
#include "web/page-index.h"
#include "web/static.h"

#define HOST_EVENTS 100
#define INDEX_ROWS 50

/* ---- the index ---- */

/* Records, and the rows that point at them. */
typedef struct {
	GPtrArray *jobs;
	GPtrArray *summaries;
	GArray *rows;
} Rows;

static void rows_clear(Rows *rows)
{
	g_clear_pointer(&rows->jobs, g_ptr_array_unref);
	g_clear_pointer(&rows->summaries, g_ptr_array_unref);
	g_clear_pointer(&rows->rows, g_array_unref);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Rows, rows_clear)

static char *summary_of(Lab *lab, const StoreJob *job)
{
	g_autofree char *json = NULL;
	g_autoptr(JsonNode) node = NULL;
	JsonObject *object;

	if (job->state != JOB_DONE || !store_result(lab->db, job->id, &json, NULL) || !json)
		return NULL;
	node = json_from_string(json, NULL);
	object = node && JSON_NODE_HOLDS_OBJECT(node) ? json_node_get_object(node) : NULL;
	if (object && json_object_has_member(object, "continuation"))
		object = json_object_get_object_member(object, "continuation");
	return object ? g_strdup(json_object_get_string_member_with_default(object, "summary", NULL)) : NULL;
}

static void make_rows(Rows *rows, Lab *lab)
{
	rows->summaries = g_ptr_array_new_with_free_func(g_free);
	rows->rows = g_array_new(FALSE, FALSE, sizeof(IndexRow));
	for (guint i = 0; i < rows->jobs->len; i++) {
		const StoreJob *job = g_ptr_array_index(rows->jobs, i);
		char *summary = summary_of(lab, job);
		IndexRow row = { job, summary };

		g_ptr_array_add(rows->summaries, summary);
		g_array_append_val(rows->rows, row);
	}
}

/* Ids decide. */
static int newer(gconstpointer a, gconstpointer b)
{
	const StoreJob *left = *(StoreJob *const *)a, *right = *(StoreJob *const *)b;

	return (left->id < right->id) - (left->id > right->id);
}

static gboolean load_running(Rows *rows, Lab *lab, GError **error)
{
	rows->jobs = g_ptr_array_new_with_free_func((GDestroyNotify)store_job_free);
	for (int state = JOB_BUILDING; state <= JOB_MEASURING; state++) {
		StoreFilter filter = { .by_state = TRUE, .state = state, .limit = INDEX_ROWS };
		g_autoptr(GPtrArray) jobs = NULL;
		gint64 cursor;

		if (!store_job_list(lab->db, &filter, &jobs, &cursor, error))
			return FALSE;
		g_ptr_array_extend_and_steal(rows->jobs, g_steal_pointer(&jobs));
	}
	g_ptr_array_sort(rows->jobs, newer);
	if (rows->jobs->len > INDEX_ROWS)
		g_ptr_array_set_size(rows->jobs, INDEX_ROWS);
	make_rows(rows, lab);
	return TRUE;
}

static gboolean load_ended(Rows *rows, Lab *lab, GError **error)
{
	StoreFilter filter = { .ended = TRUE, .limit = INDEX_ROWS };
	gint64 cursor;

	if (!store_job_list(lab->db, &filter, &rows->jobs, &cursor, error))
		return FALSE;
	make_rows(rows, lab);
	return TRUE;
}

static gboolean load_queued(Rows *rows, Lab *lab, GError **error)
{
	if (!queue_next(lab->queue, INDEX_ROWS, &rows->jobs, error))
		return FALSE;
	make_rows(rows, lab);
	return TRUE;
}

static char **tree_names(const Config *config)
{
	GPtrArray *names = g_ptr_array_new();

	for (guint i = 0; i < config->trees->len; i++)
		g_ptr_array_add(names, g_strdup(((ConfigTree *)g_ptr_array_index(config->trees, i))->name));
	g_ptr_array_add(names, NULL);
	return (char **)g_ptr_array_free(names, FALSE);
}

static char **trouble_sentences(Health *health)
{
	g_autoptr(GStrvBuilder) sentences = g_strv_builder_new();
	const GPtrArray *troubles = health_troubles(health);

	for (guint i = 0; i < troubles->len; i++) {
		const Trouble *trouble = g_ptr_array_index(troubles, i);
		g_autofree char *sentence = g_strdup_printf("%s: %s%s", trouble->name, trouble->message,
							    trouble->blocks ? ". Nothing is started until this is over." : "");

		g_strv_builder_add(sentences, sentence);
	}
	return g_strv_builder_end(sentences);
}

void pages_index(HttpRequest *request, Lab *lab, const RouteMatch *match)
{
	g_auto(Rows) running = { 0 }, queued = { 0 }, recent = { 0 };
	g_auto(GStrv) trees = tree_names(lab->config);
	g_auto(GStrv) benchmarks = NULL, troubles = trouble_sentences(lab->health);
	GError *error = NULL;
	gsize size;
	char *text;

	if (!load_running(&running, lab, &error) || !load_queued(&queued, lab, &error) ||
	    !load_ended(&recent, lab, &error) ||
	    !(benchmarks = benchmark_list(lab->config->benchmarks_dir, &error))) {
		answer_trouble(request, 0, error);
		return;
	}

	IndexView view = {
		.running = running.rows,
		.queued = queued.rows,
		.recent = recent.rows,
		.url = lab->config->url,
		.trees = (const char *const *)trees,
		.benchmarks = (const char *const *)benchmarks,
		.troubles = (const char *const *)troubles,
		.now_ns = lab->now_ns(),
	};
	text = page_index(&view, &size);
	answer_text(request, match->route->produces, text, size);
}

/* ---- hosts and files ---- */

/* What is known of the host's reliability; `kept` owns it. */
static gboolean load_trust(Lab *lab, HostRow *row, GPtrArray *kept, GError **error)
{
	GPtrArray *ledger, *calibrations;

	if (!store_ledger(lab->db, row->name, &ledger, error))
		return FALSE;
	g_ptr_array_add(kept, ledger);
	if (!store_calibrations(lab->db, row->name, &calibrations, error))
		return FALSE;
	g_ptr_array_add(kept, calibrations);
	row->ledger = ledger;
	row->calibrations = calibrations;
	return TRUE;
}

/* What the store has of a host. */
typedef struct {
	StoreHost seen;
	StoreHostState state;
} Known;

static void known_clear(Known *known)
{
	store_host_clear(&known->seen);
	store_host_state_clear(&known->state);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Known, known_clear)

static gboolean load_known(Lab *lab, const char *name, Known *ret_known, GError **error)
{
	return store_host(lab->db, name, &ret_known->seen, error) && store_host_state(lab->db, name, &ret_known->state, error);
}

static HostRow make_host_row(const Host *host, const Known *known)
{
	const StoreHost *seen = &known->seen;

	return (HostRow){
		.name = host->config->name,
		.uri = host->config->uri,
		.vm_cpus = host->config->vm_cpus,
		.other_cpus = host->config->other_cpus,
		.guest_cpus = host->config->guest_cpus,
		.labels = host->config->labels,
		.state = host_state(host),
		.message = host->message,
		.job = host_first_job(host),
		.accelerator = seen->accelerator,
		.qemu_version = seen->qemu_version,
		.libvirt_version = seen->libvirt_version,
		.boots_valid = (int)MIN(seen->boots_valid, G_MAXINT),
		.boots_failed = (int)MIN(seen->boots_failed, G_MAXINT),
		.last_boot_ns = seen->last_boot_ns,
		.set = known->state.object,
		.set_ns = known->state.seen_ns,
		.boots_disturbed = known->state.boots_disturbed,
	};
}

void pages_host(HttpRequest *request, Lab *lab, const RouteMatch *match)
{
	const Host *host = api_find_host(request, lab, match);
	g_auto(Known) known = { 0 };
	g_autoptr(GPtrArray) events = NULL;
	GError *error = NULL;
	HostRow row;
	gsize size;
	char *text;

	if (!host)
		return;
	if (!load_known(lab, host->config->name, &known, &error) ||
	    !store_host_events(lab->db, host->config->name, HOST_EVENTS, &events, &error)) {
		answer_trouble(request, 0, error);
		return;
	}
	row = make_host_row(host, &known);
	text = page_host(&row, events, &size);
	answer_text(request, match->route->produces, text, size);
}

void pages_hosts(HttpRequest *request, Lab *lab, const RouteMatch *match)
{
	const GPtrArray *hosts = lab->config->hosts;
	g_autoptr(GArray) rows = g_array_new(FALSE, FALSE, sizeof(HostRow));
	g_autoptr(GArray) all = g_array_sized_new(FALSE, TRUE, sizeof(Known), hosts->len);
	g_autoptr(GPtrArray) kept = g_ptr_array_new_with_free_func((GDestroyNotify)g_ptr_array_unref);
	gsize size;
	char *text;

	g_array_set_clear_func(all, (GDestroyNotify)known_clear);
	g_array_set_size(all, hosts->len);
	for (guint i = 0; i < hosts->len; i++) {
		const ConfigHost *host = g_ptr_array_index(hosts, i);
		Known *known = &g_array_index(all, Known, i);
		GError *error = NULL;

		if (!load_known(lab, host->name, known, &error)) {
			answer_trouble(request, 0, error);
			return;
		}

		HostRow row = make_host_row(queue_host(lab->queue, host->name), known);

		if (!load_trust(lab, &row, kept, &error)) {
			answer_trouble(request, 0, error);
			return;
		}
		g_array_append_val(rows, row);
	}
	text = page_hosts(rows, &size);
	answer_text(request, match->route->produces, text, size);
}

void pages_static(HttpRequest *request, Lab *lab G_GNUC_UNUSED, const RouteMatch *match)
{
	const StaticFile *file = static_file(match->name);

	if (!file) {
		answer_error(request, 404, "not-found", NULL, "there is no such file");
		return;
	}
	if (answer_is_known(request, file->etag)) {
		answer_not_modified(request, file->etag);
		return;
	}
	http_answer_static(request, file->content_type, file->data, file->size);
	http_answer_header(request, "ETag", file->etag);
	http_answer_header(request, "Cache-Control", "max-age=3600");
}
