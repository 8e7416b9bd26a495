/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "web/host-state.h"
#include "web/page-job-parts.h"
#include "web/page.h"
#include "web/words.h"

#define NS_PER_S G_GINT64_CONSTANT(1000000000)

static void asked(Html *html, const JobSpec *spec)
{
	g_autofree char *benchmarks = g_strjoinv(", ", spec->benchmarks);
	g_autofree char *params = spec->params ? g_strjoinv(" ", spec->params) : g_strdup("");

	html_raw(html, "<h3>Asked for</h3>\n<dl>\n");
	page_fact(html, "tree", spec->tree);
	page_fact(html, "base", *spec->base ? spec->base : "not named");
	page_fact(html, "head", spec->head);
	page_fact(html, "benchmarks", benchmarks);
	page_fact(html, "parameters", params);
	page_fact(html, "profile", spec->profile);
	page_fact(html, "kernel configuration", spec->has_config ? "uploaded" : spec->config);
	page_fact(html, "clock", job_clock_name(spec->clock));
	page_factf(html, "boots a kernel, at most", "%d", spec->max_boots);
	page_factf(html, "smallest change that matters", "%g %%", spec->min_effect_pct);
	html_raw(html, "</dl>\n");
}

/* As cgit has it, and as the large forges have it. */
static const char *commit_path(const char *url)
{
	static const char *const forges[] = { "://github.com/", "://gitlab.", "://codeberg.org/" };

	for (gsize i = 0; i < G_N_ELEMENTS(forges); i++)
		if (strstr(url, forges[i]))
			return "/commit/";
	return "/commit/?id=";
}

/* Linked if there is somewhere to look at it. */
static void commit(Html *html, const JobView *view, const char *hash)
{
	const char *url = view->tree_url;

	if (!url || !*url || !*hash) {
		html_text(html, hash);
		return;
	}
	html_raw(html, "<a href=\"");
	html_attr(html, url);
	html_attr(html, commit_path(url));
	html_url(html, hash);
	html_raw(html, "\">");
	html_text(html, hash);
	html_raw(html, "</a>");
}

static void patches(Html *html, const JobView *view)
{
	JsonObject *source = view->job->source;
	JsonArray *list = peek_array(source, "patches");
	guint count = peek_length(list);

	if (!source)
		return;
	html_raw(html, "<h3>Source</h3>\n<dl>\n<dt>base</dt><dd>");
	commit(html, view, peek_string(source, "base_commit"));
	html_textf(html, " %s", peek_string(source, "base_subject"));
	html_raw(html, "</dd>\n");
	if (*view->job->spec->head) {
		html_raw(html, "<dt>compared with</dt><dd>");
		commit(html, view, view->job->spec->head);
		html_raw(html, "</dd>\n");
	}
	page_fact(html, "base chosen by", peek_string(source, "base_chosen_by"));
	html_raw(html, "</dl>\n");
	if (!count)
		return;
	html_raw(html, "<ol>\n");
	for (guint i = 0; i < count; i++) {
		JsonObject *patch = peek_element(list, i);

		html_raw(html, "<li>");
		html_text(html, peek_string(patch, "subject"));
		html_raw(html, " <span class=\"quiet\">");
		html_text(html, peek_string(patch, "author"));
		html_textf(html, ", %" G_GINT64_FORMAT " files", peek_int(patch, "file_count", 0));
		html_raw(html, "</span></li>\n");
	}
	html_raw(html, "</ol>\n");
	if (job_has_artifact(view, "series.mbox")) {
		html_raw(html, "<p><a ");
		job_href(html, view, "series.mbox", TRUE);
		html_raw(html, ">The series as it was applied</a></p>\n");
	}
}

static void arm_row(Html *html, JsonObject *const arms[2], const char *title, const char *member)
{
	html_raw(html, "<tr><th scope=\"row\">");
	html_text(html, title);
	html_raw(html, "</th>");
	for (int i = 0; i < 2; i++) {
		html_raw(html, "<td><code>");
		html_text(html, peek_string(arms[i], member));
		html_raw(html, "</code></td>");
	}
	html_raw(html, "</tr>\n");
}

static void built_cell(Html *html, JsonObject *arm)
{
	double build_s = peek_double(arm, "build_s", -1);

	html_raw(html, "<td>");
	if (peek_bool(arm, "cached"))
		html_raw(html, "taken from the cache");
	else if (build_s >= 0)
		html_textf(html, "in %.0f s%s", build_s,
			   peek_bool(arm, "incremental") ? ", on the objects of the base" : "");
	html_raw(html, "</td>");
}

static void config_links(Html *html, const JobView *view)
{
	static const char *const names[] = { "config-base", "config-patched" };

	if (!job_has_artifact(view, names[0]) || !job_has_artifact(view, names[1]))
		return;
	html_raw(html, "<p>Configurations:");
	for (int i = 0; i < 2; i++) {
		html_raw(html, " <a ");
		job_href(html, view, names[i], TRUE);
		html_raw(html, ">");
		html_text(html, names[i]);
		html_raw(html, "</a>");
	}
	if (g_str_equal(peek_string(view->job->arms[0], "config_sha256"), peek_string(view->job->arms[1], "config_sha256")))
		html_raw(html, ", which are the same");
	html_raw(html, ".</p>\n");
}

static void kernels(Html *html, const JobView *view)
{
	static const struct {
		const char *title, *member;
	} rows[] = {
		{ "commit", "commit" },
		{ "tree", "tree_hash" },
		{ "release", "kernel_release" },
		{ "compiler", "compiler" },
		{ "SHA-256 of its configuration", "config_sha256" },
		{ "SHA-256 of the kernel", "kernel_sha256" },
	};
	static const char *const columns[] = { "", "base", "patched", NULL };
	JsonObject *const *arms = view->job->arms;

	if (!arms[0] && !arms[1])
		return;
	html_raw(html, "<h3>Kernels</h3>\n<div class=\"wide\" tabindex=\"0\"><table>\n<thead><tr>");
	page_columns(html, columns);
	html_raw(html, "</tr></thead>\n<tbody>\n");
	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++)
		arm_row(html, arms, rows[i].title, rows[i].member);
	html_raw(html, "<tr><th scope=\"row\">built</th>");
	built_cell(html, arms[0]);
	built_cell(html, arms[1]);
	html_raw(html, "</tr>\n</tbody>\n</table></div>\n");
	config_links(html, view);
	job_config_difference(html, view);
}

/* The first that counts. */
static const StoreBoot *first_boot(const JobView *view)
{
	for (guint i = 0; view->boots && i < view->boots->len; i++) {
		const StoreBoot *boot = g_ptr_array_index(view->boots, i);

		if (boot->hello && boot->valid)
			return boot;
	}
	return NULL;
}

static void machine(Html *html, const JobView *view)
{
	const StoreJob *job = view->job;
	const StoreBoot *boot = first_boot(view);
	JsonObject *hello = boot ? boot->hello : NULL, *accelerator = job->accelerator;
	JsonObject *placement = boot ? peek_object(boot->machine, "placement") : NULL;

	if (!accelerator && !hello)
		return;
	html_raw(html, "<h3>Machine</h3>\n<dl>\n");
	page_fact(html, "host", job->host);
	page_fact(html, "accelerator", peek_string(accelerator, "accelerator"));
	page_fact(html, "clock", peek_string(accelerator, "clock"));
	page_fact(html, "the probe boot saw", peek_string(accelerator, "probe"));
	page_fact(html, "guests' CPUs run on CPUs", peek_string(placement, "vcpu_list"));
	page_fact(html, "their SMT siblings, idle", peek_string(placement, "idle"));
	page_fact(html, "emulator runs on CPUs", peek_string(placement, "emulator"));
	if (peek_int(placement, "node", -1) >= 0)
		page_factf(html, "guests' memory", "bound to node %" G_GINT64_FORMAT, peek_int(placement, "node", -1));
	if (peek_int(placement, "page_kib", 0) > 0)
		page_factf(html, "guests' huge pages", "%" G_GINT64_FORMAT " KiB", peek_int(placement, "page_kib", 0));
	page_fact(html, "QEMU", peek_string(accelerator, "qemu_version"));
	page_fact(html, "libvirt", peek_string(accelerator, "libvirt_version"));
	page_fact(html, "host kernel", peek_string(accelerator, "host_kernel"));
	if (hello) {
		page_factf(html, "guest", "%" G_GINT64_FORMAT " CPUs, %" G_GINT64_FORMAT " MiB", peek_int(hello, "cpus", 0),
			   peek_int(hello, "memory_kib", 0) / 1024);
		page_fact(html, "guest clocksource", peek_string(hello, "clocksource"));
		page_fact(html, "guest hypervisor", peek_string(hello, "hypervisor"));
		page_fact(html, "transparent huge pages", peek_string(hello, "thp"));
		page_fact(html, "swap", peek_string(hello, "swap"));
		page_fact(html, "command line", peek_string(hello, "cmdline"));
	}
	page_fact(html, "rule, chosen before the first boot", peek_string(job->plan, "rule"));
	page_fact(html, strchr(peek_string(job->plan, "order"), 'C') ? "order of boots (A base, B patched, C control)" :
						"order of boots (A base, B patched)", peek_string(job->plan, "order"));
	html_raw(html, "</dl>\n");
	if (job->host_state) {
		html_raw(html, "<details><summary>how the host was set</summary>\n");
		host_state_table(html, job->host_state);
		html_raw(html, "</details>\n");
	}
	if (job_has_artifact(view, "domain.xml")) {
		html_raw(html, "<p><a ");
		job_href(html, view, "domain.xml", TRUE);
		html_raw(html, ">The virtual machine</a>, with its pinning and devices.</p>\n");
	}
}

void job_how_section(Html *html, const JobView *view)
{
	const StoreJob *job = view->job;

	html_raw(html, "<section aria-labelledby=\"how\">\n<h2 id=\"how\">How it was run</h2>\n<dl>\n<dt>submitted</dt><dd>");
	page_time(html, job->created_ns);
	html_raw(html, "</dd>\n");
	if (job->started_ns) {
		html_raw(html, "<dt>begun</dt><dd>");
		page_time(html, job->started_ns);
		html_raw(html, "</dd>\n");
	}
	if (job->finished_ns) {
		html_raw(html, "<dt>ended</dt><dd>");
		page_time(html, job->finished_ns);
		html_raw(html, "</dd>\n");
	}
	html_raw(html, "</dl>\n");
	asked(html, job->spec);
	patches(html, view);
	kernels(html, view);
	machine(html, view);
	html_raw(html, "</section>\n");
}

static void seconds_cell(Html *html, gint64 from_ns, gint64 to_ns)
{
	html_raw(html, "<td class=\"n\">");
	if (from_ns && to_ns >= from_ns)
		html_textf(html, "%.1f", (double)(to_ns - from_ns) / (double)NS_PER_S);
	else
		html_raw(html, "-");
	html_raw(html, "</td>");
}

static void boot_link(Html *html, const JobView *view, int boot, const char *kind, const char *title)
{
	g_autofree char *name = g_strdup_printf("boot-%d-%s", boot, kind);

	if (!job_has_artifact(view, name))
		return;
	html_raw(html, "<a ");
	job_href(html, view, name, TRUE);
	html_raw(html, ">");
	html_text(html, title);
	html_raw(html, "</a> ");
}

static void boot_row(Html *html, const JobView *view, const StoreBoot *boot)
{
	g_autofree char *started = words_time(boot->start_ns), *time = g_strndup(started, strlen("2026-11-30 22:05:01"));

	html_raw(html, "<tr><th scope=\"row\">");
	html_textf(html, "%d", boot->boot);
	html_raw(html, "</th>");
	page_cell(html, boot->arm);
	html_raw(html, "<td class=\"n\">");
	html_textf(html, "%d", boot->pair);
	html_raw(html, "</td>");
	page_cell(html, boot->host);
	page_cell(html, boot->clock);
	page_cell(html, time);
	seconds_cell(html, boot->start_ns, boot->first_sample_ns);
	seconds_cell(html, boot->start_ns, boot->end_ns);
	if (boot->valid) {
		JsonArray *warnings = peek_array(boot->machine, "warnings");

		html_raw(html, "<td>counts");
		for (guint i = 0; i < peek_length(warnings); i++) {
			if (i)
				html_raw(html, ", ");
			else
				html_raw(html, "; host: ");
			html_text(html, peek_string(peek_element(warnings, i), "text"));
		}
		html_raw(html, "</td>");
	} else {
		html_raw(html, "<td class=\"failed\">does not count: ");
		html_text(html, boot->reason);
		if (*boot->detail) {
			html_raw(html, ", ");
			html_text(html, boot->detail);
		}
		html_raw(html, "</td>");
	}
	html_raw(html, "<td>");
	boot_link(html, view, boot->boot, "console.txt", "console");
	boot_link(html, view, boot->boot, "counters.csv", "counters");
	html_raw(html, "</td></tr>\n");
}

void job_boots_section(Html *html, const JobView *view)
{
	static const char *const columns[] = { "boot", "kernel", "pair", "host", "clock", "started (UTC)", "s to first sample",
					       "s in all", "outcome", "log", NULL };

	if (!view->boots || view->boots->len == 0)
		return;
	html_raw(html, "<section aria-labelledby=\"boots\">\n<h2 id=\"boots\">Boots</h2>\n<div class=\"wide\" tabindex=\"0\"><table>\n"
		       "<thead><tr>");
	page_columns(html, columns);
	html_raw(html, "</tr></thead>\n<tbody>\n");
	for (guint i = 0; i < view->boots->len; i++)
		boot_row(html, view, g_ptr_array_index(view->boots, i));
	html_raw(html, "</tbody>\n</table></div>\n</section>\n");
}
