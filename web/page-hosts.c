/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "web/page-hosts.h"

#include "web/host-state.h"
#include "web/page.h"
#include "web/trust.h"

static void row(Html *html, const HostRow *host)
{
	html_raw(html, "<tr><th scope=\"row\">");
	html_raw(html, "<a href=\"/hosts/");
	html_url(html, host->name);
	html_raw(html, "\">");
	html_text(html, host->name);
	html_raw(html, "</a></th><td>");
	if (host->job) {
		html_raw(html, "measures <a href=\"/jobs/");
		html_attrf(html, "%" G_GINT64_FORMAT, host->job);
		html_raw(html, "\">job ");
		html_textf(html, "%" G_GINT64_FORMAT, host->job);
		html_raw(html, "</a>");
	} else {
		html_text(html, host->state);
	}
	html_raw(html, "</td>");
	page_cell(html, *host->accelerator ? host->accelerator : "not yet known");
	html_raw(html, "<td>");
	html_textf(html, "%d", host->guest_cpus);
	html_raw(html, "</td>");
	page_cell(html, *host->vm_cpus ? host->vm_cpus : "the lab chooses");
	page_cell(html, *host->other_cpus ? host->other_cpus : "what the guests leave");
	html_raw(html, "<td>");
	html_textf(html, "%d, %d failed", host->boots_valid + host->boots_failed, host->boots_failed);
	html_raw(html, "</td><td>");
	page_time(html, host->last_boot_ns);
	html_raw(html, "</td><td>");
	html_text(html, host->qemu_version);
	if (*host->qemu_version && *host->libvirt_version)
		html_raw(html, ", ");
	html_text(html, host->libvirt_version);
	html_raw(html, "</td><td><code>");
	html_text(html, host->uri);
	html_raw(html, "</code></td></tr>\n");
}

char *page_hosts(const GArray *hosts, gsize *ret_size)
{
	static const char *const columns[] = { "host", "state", "accelerator", "CPUs of a guest", "guests run on",
					       "emulator runs on", "boots", "last boot", "QEMU, libvirt", "libvirt URI",
					       NULL };
	g_autoptr(Html) html = html_new();

	page_begin(html, &(PageFrame){ .title = "hosts", .refresh_s = 30, .path = "/hosts", .json = "/api/v1/hosts" });
	html_raw(html, "<h1>Hosts</h1>\n<p>The machines that run virtual machines for the lab. Both kernels of a "
		       "comparison are always measured on the same one.</p>\n"
		       "<div class=\"wide\" tabindex=\"0\"><table>\n<thead><tr>");
	page_columns(html, columns);
	html_raw(html, "</tr></thead>\n<tbody>\n");
	for (guint i = 0; i < hosts->len; i++)
		row(html, &g_array_index(hosts, HostRow, i));
	html_raw(html, "</tbody>\n</table></div>\n");
	for (guint i = 0; i < hosts->len; i++) {
		const HostRow *host = &g_array_index(hosts, HostRow, i);

		host_state_section(html, host->name, host->set, host->set_ns, host->boots_disturbed);
		trust_section(html, host->name, host->ledger, host->calibrations);
	}
	page_end(html);
	return html_take(html, ret_size);
}
