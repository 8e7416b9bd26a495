/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/hosts.h"

struct Hosts {
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

	g_ptr_array_unref(host->running);
	g_free(host);
}

/* Guests may be larger where they run on KVM; that is known from the boots before. */
static gboolean runs_kvm(const Lab *lab, const char *name)
{
	g_auto(StoreHost) known = { 0 };

	return store_host(lab->db, name, &known, NULL) && g_str_equal(known.accelerator, "kvm");
}

static Host *host_new(const Lab *lab, const ConfigHost *config)
{
	Host *host = g_new0(Host, 1);

	host->config = config;
	host->shared = config_build_disturbs(lab->config, config);
	host->place.name = config->name;
	host->place.labels = config->labels;
	host->place.slots = 1;
	host->place.memory_mib = config->memory_mib;
	host->place.kvm = runs_kvm(lab, config->name);
	host->place.usable = TRUE;
	host->running = g_ptr_array_new_with_free_func(host_job_free);
	g_ptr_array_set_size(host->running, host->place.slots);
	return host;
}

Hosts *hosts_new(Lab *lab)
{
	Hosts *hosts = g_new0(Hosts, 1);

	hosts->hosts = g_ptr_array_new_with_free_func(host_free);
	hosts->places = g_ptr_array_new();
	for (guint i = 0; i < lab->config->hosts->len; i++) {
		Host *host = host_new(lab, g_ptr_array_index(lab->config->hosts, i));

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

	while (g_ptr_array_index(host->running, slot))
		g_assert(++slot < host->running->len);
	HostJob *job = g_new0(HostJob, 1);
	job->runner = runner;
	job->need = need;
	g_ptr_array_index(host->running, slot) = job;
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
