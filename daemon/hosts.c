/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/hosts.h"

#include "daemon/cpus.h"

struct Hosts {
	Lab *lab;
	HostsFunc changed;
	gpointer data;
	GPtrArray *hosts;	/* of Host, owned */
	GPtrArray *places;	/* their DispatchHost */
};

static void host_job_free(gpointer data)
{
	HostJob *job = data;

	if (!job)
		return;
	runner_free(job->runner);
	g_free(job);
}

static void host_free(gpointer data)
{
	Host *host = data;

	lookout_free(host->lookout);
	g_clear_handle_id(&host->retry_id, g_source_remove);
	g_clear_pointer(&host->facts, json_object_unref);
	g_free(host->message);
	g_ptr_array_unref(host->running);
	g_free(host);
}

/* ---- up and down ---- */

/* The history is for people: without it the lab goes on. */
static void note(Host *host, const char *what, const char *message)
{
	Lab *lab = host->hosts->lab;
	g_autoptr(GError) error = NULL;

	lab_log(G_LOG_LEVEL_MESSAGE, 0, "host %s is %s%s%s", host->config->name, what, *message ? ": " : "", message);
	if (!store_host_event(lab->db, host->config->name, what, message, lab->now_ns(), &error))
		lab_log(G_LOG_LEVEL_WARNING, 0, "host %s: %s", host->config->name, error->message);
}

/* message may be the host's own. */
static void set_state(Host *host, gboolean down, const char *message)
{
	gboolean away = down || host->drained;
	char *before = host->message;

	host->message = g_strdup(message);
	g_free(before);
	message = host->message;
	host->place.usable = !away;
	host->since_ns = !away ? 0 : host->since_ns ? host->since_ns : host->hosts->lab->now_ns();
	if (host->down != down)
		note(host, down ? "down" : "up", message);
	host->down = down;
	host->hosts->changed(host->hosts->data);
}

static void take_look(const char *message, JsonObject *facts, gpointer data)
{
	Host *host = data;

	if (facts && !*message) {
		g_clear_pointer(&host->facts, json_object_unref);
		host->facts = json_object_ref(facts);
	}
	if (*message || host->down)
		set_state(host, *message != '\0', message);
}

/* Nobody but a stage can look at the embedded driver. */
static gboolean try_again(gpointer data)
{
	Host *host = data;

	host->retry_id = 0;
	set_state(host, FALSE, "");
	return G_SOURCE_REMOVE;
}

void host_set_down(Host *host, const char *message)
{
	set_state(host, TRUE, message);
	if (host->lookout)
		lookout_note_failure(host->lookout);
	else if (!host->retry_id) {
		guint wait_s = LOOKOUT_BACKOFF_S << MIN(host->failures, 10);

		host->failures++;
		host->retry_id = g_timeout_add_seconds(MIN(wait_s, LOOKOUT_BACKOFF_MAX_S), try_again, host);
	}
}

gboolean host_drain(Host *host, gboolean drained, const char *who, GError **error)
{
	Lab *lab = host->hosts->lab;

	if (!store_host_drain(lab->db, host->config->name, drained, who, lab->now_ns(), error))
		return FALSE;
	host->drained = drained;
	host->since_ns = host->down ? host->since_ns : 0;
	set_state(host, host->down, host->message);
	return TRUE;
}

gboolean host_worth_waiting(const Host *host)
{
	gint64 away_ns = host->hosts->lab->now_ns() - host->since_ns;

	return host->place.usable || away_ns < host->config->move_after_s * G_GINT64_CONSTANT(1000000000);
}

/* ---- what runs where ---- */

static Host *host_new(Hosts *hosts, const ConfigHost *config)
{
	Lab *lab = hosts->lab;
	Host *host = g_new0(Host, 1);
	g_auto(StoreHost) known = { 0 };

	host->hosts = hosts;
	host->config = config;
	host->message = g_strdup("");
	host->shared = cpus_build_disturbs(lab->config, config);
	host->place.name = config->name;
	host->place.labels = config->labels;
	host->place.slots = config->slots;
	host->place.memory_mib = config->memory_mib;
	if (store_host(lab->db, config->name, &known, NULL)) {
		/* guests may be larger where they run on KVM, which the boots before tell */
		host->place.kvm = g_str_equal(known.accelerator, "kvm");
		host->drained = known.drained;
	}
	host->place.usable = !host->drained;
	host->since_ns = host->drained ? lab->now_ns() : 0;
	host->running = g_ptr_array_new_with_free_func(host_job_free);
	g_ptr_array_set_size(host->running, host->place.slots);
	if (!g_str_has_prefix(config->uri, CONFIG_EMBEDDED))
		host->lookout = lookout_new(lab, config, take_look, host);
	return host;
}

Hosts *hosts_new(Lab *lab, HostsFunc changed, gpointer data)
{
	Hosts *hosts = g_new0(Hosts, 1);

	hosts->lab = lab;
	hosts->changed = changed;
	hosts->data = data;
	hosts->hosts = g_ptr_array_new_with_free_func(host_free);
	hosts->places = g_ptr_array_new();
	for (guint i = 0; i < lab->config->hosts->len; i++) {
		Host *host = host_new(hosts, g_ptr_array_index(lab->config->hosts, i));

		g_ptr_array_add(hosts->hosts, host);
		g_ptr_array_add(hosts->places, &host->place);
	}
	return hosts;
}

void hosts_free(Hosts *hosts)
{
	if (!hosts)
		return;
	g_ptr_array_unref(hosts->places);
	g_ptr_array_unref(hosts->hosts);
	g_free(hosts);
}

guint hosts_count(const Hosts *hosts)
{
	return hosts->hosts->len;
}

Host *hosts_get(const Hosts *hosts, guint i)
{
	return g_ptr_array_index(hosts->hosts, i);
}

Host *hosts_find(const Hosts *hosts, const char *name)
{
	for (guint i = 0; i < hosts->hosts->len; i++) {
		Host *host = g_ptr_array_index(hosts->hosts, i);

		if (g_str_equal(host->config->name, name))
			return host;
	}
	return NULL;
}

const GPtrArray *hosts_places(Hosts *hosts, gboolean building)
{
	for (guint i = 0; i < hosts->hosts->len; i++) {
		Host *host = g_ptr_array_index(hosts->hosts, i);

		host->place.disturbed = building && host->shared;
		host->place.used = 0;
		host->place.memory_used_mib = 0;
		for (guint slot = 0; slot < host->running->len; slot++) {
			const HostJob *job = g_ptr_array_index(host->running, slot);

			if (!job)
				continue;
			host->place.used++;
			host->place.memory_used_mib += dispatch_memory_mib(job->need, &host->place);
		}
	}
	return hosts->places;
}

void host_add(Host *host, Runner *runner, const Need *need)
{
	guint slot = 0;

	while (g_ptr_array_index(host->running, slot)) {
		slot++;
		g_assert(slot < host->running->len);
	}
	HostJob *job = g_new0(HostJob, 1);
	job->runner = runner;
	job->need = need;
	g_ptr_array_index(host->running, slot) = job;
	runner_set_slot(runner, (int)slot);
}

void host_set_need(Host *host, guint slot, const Need *need)
{
	((HostJob *)g_ptr_array_index(host->running, slot))->need = need;
}

gint64 host_job(const Host *host, guint slot)
{
	const HostJob *job = g_ptr_array_index(host->running, slot);

	return job ? runner_job(job->runner) : 0;
}

gint64 host_first_job(const Host *host)
{
	for (guint slot = 0; slot < host->running->len; slot++)
		if (host_job(host, slot))
			return host_job(host, slot);
	return 0;
}

const char *host_state(const Host *host)
{
	gboolean busy = host_first_job(host) != 0;

	if (host->down)
		return "down";
	if (host->drained)
		return busy ? "draining" : "drained";
	return busy ? "measuring" : "idle";
}

/* Calls func for each that runs, until it says TRUE; whether it did. */
static gboolean each_running(const Hosts *hosts, gboolean (*func)(const Host *host, HostJob **place, gpointer data),
			     gpointer data)
{
	for (guint i = 0; i < hosts->hosts->len; i++) {
		const Host *host = g_ptr_array_index(hosts->hosts, i);

		for (guint slot = 0; slot < host->running->len; slot++) {
			HostJob **place = (HostJob **)&g_ptr_array_index(host->running, slot);

			if (*place && func(host, place, data))
				return TRUE;
		}
	}
	return FALSE;
}

static gboolean remove_it(const Host *host G_GNUC_UNUSED, HostJob **place, gpointer data)
{
	if ((*place)->runner != data)
		return FALSE;
	g_clear_pointer(place, host_job_free);
	return TRUE;
}

void hosts_remove(Hosts *hosts, Runner *runner)
{
	each_running(hosts, remove_it, runner);
}

typedef struct {
	const Runner *runner;
	Host *found;
} HostSearch;

static gboolean runs_it(const Host *host, HostJob **place, gpointer data)
{
	HostSearch *search = data;

	if ((*place)->runner != search->runner)
		return FALSE;
	search->found = (Host *)host;
	return TRUE;
}

Host *hosts_host(const Hosts *hosts, const Runner *runner)
{
	HostSearch search = { .runner = runner };

	each_running(hosts, runs_it, &search);
	return search.found;
}

typedef struct {
	gint64 job;
	Runner *found;
} Search;

static gboolean is_it(const Host *host G_GNUC_UNUSED, HostJob **place, gpointer data)
{
	Search *search = data;

	if (runner_job((*place)->runner) != search->job)
		return FALSE;
	search->found = (*place)->runner;
	return TRUE;
}

Runner *hosts_runner(const Hosts *hosts, gint64 job)
{
	Search search = { .job = job };

	each_running(hosts, is_it, &search);
	return search.found;
}

void hosts_each_runner(const Hosts *hosts, void (*func)(Runner *runner))
{
	for (guint i = 0; i < hosts->hosts->len; i++) {
		const Host *host = g_ptr_array_index(hosts->hosts, i);

		for (guint slot = 0; slot < host->running->len; slot++)
			if (host_job(host, slot))
				func(((HostJob *)g_ptr_array_index(host->running, slot))->runner);
	}
}

static gboolean is_any(const Host *host G_GNUC_UNUSED, HostJob **place G_GNUC_UNUSED, gpointer data G_GNUC_UNUSED)
{
	return TRUE;
}

gboolean hosts_idle(const Hosts *hosts)
{
	return !each_running(hosts, is_any, NULL);
}

static gboolean is_disturbed(const Host *host, HostJob **place, gpointer data G_GNUC_UNUSED)
{
	return host->shared && !(*place)->need->counts;
}

gboolean hosts_build_disturbs(const Hosts *hosts)
{
	return each_running(hosts, is_disturbed, NULL);
}
