/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/answer.h"
#include "daemon/api.h"
#include "daemon/queue.h"
#include "db/store-trust.h"
#include "web/page-host.h"
#include "web/page-hosts.h"

#define HOST_EVENTS 100

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
	g_autoptr(GPtrArray) events = NULL, kept = g_ptr_array_new_with_free_func((GDestroyNotify)g_ptr_array_unref);
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
	if (!load_trust(lab, &row, kept, &error)) {
		answer_trouble(request, 0, error);
		return;
	}
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
