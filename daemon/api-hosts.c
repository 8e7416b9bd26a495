/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Hosts: what they are, what runs there, when they came and went; drain and resume. */
#include "daemon/answer.h"
#include "daemon/api.h"
#include "daemon/queue.h"
#include "daemon/trust.h"

#define HISTORY_EVENTS	100

static void set_jobs(JsonObject *object, const Host *host)
{
	JsonArray *jobs = json_array_new();

	for (guint slot = 0; slot < host->running->len; slot++)
		if (host_job(host, slot))
			json_array_add_int_element(jobs, host_job(host, slot));
	json_object_set_array_member(object, "jobs", jobs);
	if (host_first_job(host))
		json_object_set_int_member(object, "job", host_first_job(host));
	else
		json_object_set_null_member(object, "job");
}

/* How it was set when a boot was last made there, and how it should be. */
static void set_state(JsonObject *object, const ConfigHost *config, const StoreHostState *state)
{
	json_object_set_int_member(object, "boots_disturbed", state->boots_disturbed);
	json_object_set_string_member(object, "policy", config->policy);
	json_object_set_string_member(object, "require", config->require);
	json_object_set_int_member(object, "host_state_ns", state->seen_ns);
	if (state->object)
		json_object_set_object_member(object, "host_state", json_object_ref(state->object));
	else
		json_object_set_null_member(object, "host_state");
}

static JsonObject *host_json(const Host *host, const StoreHost *known, const StoreHostState *state)
{
	const ConfigHost *config = host->config;
	JsonObject *object = json_object_new();
	JsonArray *labels = json_array_new();

	for (char **label = config->labels; *label; label++)
		json_array_add_string_element(labels, *label);
	json_object_set_string_member(object, "name", config->name);
	json_object_set_string_member(object, "uri", config->uri);
	json_object_set_array_member(object, "labels", labels);
	json_object_set_string_member(object, "vm_cpus", config->vm_cpus);
	json_object_set_string_member(object, "other_cpus", config->other_cpus);
	json_object_set_int_member(object, "guest_cpus", config->guest_cpus);
	json_object_set_int_member(object, "memory_mib", config->memory_mib);
	json_object_set_int_member(object, "slots", host->place.slots);
	json_object_set_string_member(object, "state", host_state(host));
	json_object_set_string_member(object, "message", host->message);
	json_object_set_boolean_member(object, "drained", host->drained);
	json_object_set_int_member(object, "since_ns", host->since_ns);
	set_jobs(object, host);
	json_object_set_string_member(object, "accelerator", known->accelerator);
	json_object_set_string_member(object, "qemu_version", known->qemu_version);
	json_object_set_string_member(object, "libvirt_version", known->libvirt_version);
	json_object_set_int_member(object, "boots_valid", known->boots_valid);
	json_object_set_int_member(object, "boots_failed", known->boots_failed);
	json_object_set_int_member(object, "last_boot_ns", known->last_boot_ns);
	set_state(object, config, state);
	return object;
}

void api_hosts(HttpRequest *request, Lab *lab, const RouteMatch *match G_GNUC_UNUSED)
{
	g_autoptr(JsonObject) object = json_object_new();
	JsonArray *hosts = json_array_new();

	json_object_set_array_member(object, "hosts", hosts);
	for (guint i = 0; i < lab->config->hosts->len; i++) {
		const ConfigHost *host = g_ptr_array_index(lab->config->hosts, i);
		g_auto(StoreHost) known = { 0 };
		g_auto(StoreHostState) state = { 0 };
		GError *error = NULL;

		if (!store_host(lab->db, host->name, &known, &error) ||
		    !store_host_state(lab->db, host->name, &state, &error)) {
			answer_trouble(request, 0, error);
			return;
		}
		JsonObject *entry = host_json(queue_host(lab->queue, host->name), &known, &state);

		json_array_add_object_element(hosts, entry);
		if (!trust_add_host(lab->db, host->name, entry, &error)) {
			answer_trouble(request, 0, error);
			return;
		}
	}
	answer_json(request, 200, g_steal_pointer(&object));
}

static JsonArray *history_json(const GPtrArray *events)
{
	JsonArray *history = json_array_new();

	for (guint i = 0; i < events->len; i++) {
		const StoreHostEvent *event = g_ptr_array_index(events, i);
		JsonObject *object = json_object_new();

		json_object_set_int_member(object, "time_ns", event->time_ns);
		json_object_set_string_member(object, "what", event->what);
		json_object_set_string_member(object, "message", event->message);
		json_array_add_object_element(history, object);
	}
	return history;
}

Host *api_find_host(HttpRequest *request, Lab *lab, const RouteMatch *match)
{
	Host *host = queue_host(lab->queue, match->name);

	if (!host)
		answer_error(request, 404, "not-found", NULL, "there is no host '%.100s'", match->name);
	return host;
}

static void answer_host(HttpRequest *request, Lab *lab, const Host *host)
{
	g_auto(StoreHost) known = { 0 };
	g_auto(StoreHostState) state = { 0 };
	g_autoptr(GPtrArray) events = NULL;
	GError *error = NULL;
	JsonObject *object;

	if (!store_host(lab->db, host->config->name, &known, &error) ||
	    !store_host_state(lab->db, host->config->name, &state, &error) ||
	    !store_host_events(lab->db, host->config->name, HISTORY_EVENTS, &events, &error)) {
		answer_trouble(request, 0, error);
		return;
	}
	object = host_json(host, &known, &state);
	if (host->facts)
		json_object_set_object_member(object, "facts", json_object_ref(host->facts));
	else
		json_object_set_null_member(object, "facts");
	json_object_set_array_member(object, "history", history_json(events));
	answer_json(request, 200, object);
}

void api_host(HttpRequest *request, Lab *lab, const RouteMatch *match)
{
	const Host *host = api_find_host(request, lab, match);

	if (host)
		answer_host(request, lab, host);
}

static void drain(HttpRequest *request, Lab *lab, const RouteMatch *match, gboolean drained)
{
	Host *host = api_find_host(request, lab, match);
	GError *error = NULL;

	if (!host)
		return;
	if (host_drain(host, drained, match->caller->submitter, &error))
		answer_host(request, lab, host);
	else
		answer_trouble(request, 0, error);
}

void api_host_drain(HttpRequest *request, Lab *lab, const RouteMatch *match)
{
	drain(request, lab, match, TRUE);
}

void api_host_resume(HttpRequest *request, Lab *lab, const RouteMatch *match)
{
	drain(request, lab, match, FALSE);
}
