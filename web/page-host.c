/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "web/page-host.h"

#include "web/host-state.h"
#include "web/page.h"
#include "web/trust.h"

static void fact(Html *html, const char *name, const char *value)
{
	page_factf(html, name, "%s", *value ? value : "not known");
}

static void history(Html *html, const GPtrArray *events)
{
	static const char *const columns[] = { "time", "what", "why", NULL };

	html_raw(html, "<h2>History</h2>\n");
	if (!events->len) {
		html_raw(html, "<p>Nothing happened to it yet.</p>\n");
		return;
	}
	html_raw(html, "<div class=\"wide\" tabindex=\"0\"><table>\n<thead><tr>");
	page_columns(html, columns);
	html_raw(html, "</tr></thead>\n<tbody>\n");
	for (guint i = 0; i < events->len; i++) {
		const StoreHostEvent *event = g_ptr_array_index(events, i);

		html_raw(html, "<tr><td>");
		page_time(html, event->time_ns);
		html_raw(html, "</td>");
		page_cell(html, event->what);
		page_cell(html, event->message);
		html_raw(html, "</tr>\n");
	}
	html_raw(html, "</tbody>\n</table></div>\n");
}

char *page_host(const HostRow *host, const GPtrArray *events, gsize *ret_size)
{
	g_autoptr(Html) html = html_new();
	g_autofree char *escaped = g_uri_escape_string(host->name, NULL, FALSE);
	g_autofree char *json = g_strconcat("/api/v1/hosts/", escaped, NULL);
	g_autofree char *labels = g_strjoinv(", ", host->labels);

	page_begin(html, &(PageFrame){ .title = host->name, .refresh_s = 30, .path = "/hosts", .json = json });
	html_raw(html, "<h1>Host ");
	html_text(html, host->name);
	html_raw(html, "</h1>\n<dl class=\"facts\">\n");
	fact(html, "state", host->state);
	if (*host->message)
		fact(html, "why", host->message);
	if (host->job)
		page_factf(html, "measures", "job %" G_GINT64_FORMAT, host->job);
	fact(html, "libvirt URI", host->uri);
	fact(html, "labels", *labels ? labels : "none");
	fact(html, "guests run on CPUs", *host->vm_cpus ? host->vm_cpus : "the lab chooses");
	fact(html, "emulator runs on CPUs", *host->other_cpus ? host->other_cpus : "what the guests leave");
	page_factf(html, "CPUs of a guest", "%d", host->guest_cpus);
	fact(html, "accelerator", host->accelerator);
	fact(html, "QEMU", host->qemu_version);
	fact(html, "libvirt", host->libvirt_version);
	page_factf(html, "boots", "%d, %d failed", host->boots_valid + host->boots_failed, host->boots_failed);
	html_raw(html, "</dl>\n");
	host_state_section(html, host->name, host->set, host->set_ns, host->boots_disturbed);
	trust_section(html, host->name, host->ledger, host->calibrations);
	history(html, events);
	page_end(html);
	return html_take(html, ret_size);
}
