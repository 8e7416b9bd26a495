/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "web/report-text.h"

#include "web/host-state.h"

#include "jobs/stats/result-text.h"
#include "web/trust.h"
#include "web/words.h"

/* Text of others, indented and as it came. */
static void quote(GString *out, const char *text)
{
	g_autofree char *clean = text_plain(text);
	g_auto(GStrv) lines = g_strsplit(clean, "\n", -1);

	for (char **line = lines; *line; line++)
		if (**line || line[1])
			g_string_append_printf(out, "    %s\n", *line);
	g_string_append_c(out, '\n');
}

static void failure(GString *out, const StoreJob *job)
{
	static const struct {
		const char *title, *member;
	} texts[] = {
		{ "what git says", "git" },
		{ "around the first error", "context" },
		{ "the end of the console", "console" },
	};
	JsonObject *detail = job->detail;

	text_paragraph(out, job->message);
	text_fact(out, "state", job_state_name(job->state));
	text_fact(out, "reason", job->reason);
	text_fact(out, "kernel", job->failed_arm);
	if (peek_int(detail, "patch", 0) > 0)
		text_factf(out, "patch", "%" G_GINT64_FORMAT " %s", peek_int(detail, "patch", 0), peek_string(detail, "subject"));
	if (peek_int(detail, "line", 0) > 0)
		text_factf(out, "file", "%s:%" G_GINT64_FORMAT, peek_string(detail, "file"), peek_int(detail, "line", 0));
	else
		text_fact(out, "file", peek_string(detail, "file"));
	text_fact(out, "hunk", peek_string(detail, "hunk"));
	text_fact(out, "error", peek_string(detail, "error"));
	g_string_append_c(out, '\n');
	for (gsize i = 0; i < G_N_ELEMENTS(texts); i++) {
		const char *text = peek_string(detail, texts[i].member);

		if (!*text)
			continue;
		g_string_append_printf(out, "  %s:\n\n", texts[i].title);
		quote(out, text);
	}
}

static void source(GString *out, const StoreJob *job)
{
	JsonArray *list = peek_array(job->source, "patches");

	text_fact(out, "tree", job->spec->tree);
	if (!job->source)
		return;
	text_factf(out, "base", "%s %s", peek_string(job->source, "base_commit"), peek_string(job->source, "base_subject"));
	text_fact(out, "chosen by", peek_string(job->source, "base_chosen_by"));
	for (guint i = 0; i < peek_length(list); i++) {
		g_autofree char *name = g_strdup_printf("patch %u", i + 1);

		text_fact(out, name, peek_string(peek_element(list, i), "subject"));
	}
	if (*job->spec->head)
		text_fact(out, "head", job->spec->head);
}

static void kernels(GString *out, const StoreJob *job)
{
	static const char *const names[] = { "base kernel", "patched kernel" };

	for (int i = 0; i < 2; i++)
		if (job->arms[i])
			text_factf(out, names[i], "%s, %.12s, SHA-256 %.16s", peek_string(job->arms[i], "kernel_release"),
			      peek_string(job->arms[i], "commit"), peek_string(job->arms[i], "kernel_sha256"));
	for (int i = 0; i < 2; i++) {
		if (!job->arms[i])
			continue;
		text_fact(out, "compiler", peek_string(job->arms[i], "compiler"));
		text_factf(out, "configuration", "%s, SHA-256 %.16s", job->spec->has_config ? "uploaded" : job->spec->config,
		      peek_string(job->arms[i], "config_sha256"));
		break;
	}
}

static void machine(GString *out, const JobView *view)
{
	const StoreJob *job = view->job;
	JsonObject *accelerator = job->accelerator, *hello = NULL;

	for (guint i = 0; !hello && view->boots && i < view->boots->len; i++)
		hello = ((const StoreBoot *)g_ptr_array_index(view->boots, i))->hello;
	text_fact(out, "host", job->host);
	if (accelerator) {
		text_factf(out, "accelerator", "%s (%s)", peek_string(accelerator, "accelerator"),
		      peek_string(accelerator, "probe"));
		text_fact(out, "clock", peek_string(accelerator, "clock"));
		text_factf(out, "versions", "QEMU %s, libvirt %s, host kernel %s", peek_string(accelerator, "qemu_version"),
		      peek_string(accelerator, "libvirt_version"), peek_string(accelerator, "host_kernel"));
	}
	if (hello)
		text_factf(out, "guest", "%" G_GINT64_FORMAT " CPUs, %" G_GINT64_FORMAT " MiB, clocksource %s, huge pages %s",
		      peek_int(hello, "cpus", 0), peek_int(hello, "memory_kib", 0) / 1024, peek_string(hello, "clocksource"),
		      peek_string(hello, "thp"));
	text_factf(out, "boots", "%d base, %d patched, %d failed", job->boots_valid[0], job->boots_valid[1],
	      job->boots_failed[0] + job->boots_failed[1]);
	if (job->boots_disturbed[0] + job->boots_disturbed[1])
		text_factf(out, "disturbed", "%d base, %d patched boots, made again", job->boots_disturbed[0], job->boots_disturbed[1]);
	text_fact(out, "order", peek_string(job->plan, "order"));
}

static void how(GString *out, const JobView *view)
{
	const StoreJob *job = view->job;
	g_autofree char *benchmarks = g_strjoinv(", ", job->spec->benchmarks);
	g_autofree char *params = job->spec->params ? g_strjoinv(" ", job->spec->params) : NULL;
	g_autofree char *ended = words_time(job->finished_ns);

	g_string_append(out, "How it was run\n\n");
	text_fact(out, "subject", job->spec->subject);
	text_fact(out, "author", job->spec->author);
	source(out, job);
	kernels(out, job);
	machine(out, view);
	text_factf(out, "benchmarks", "%s (profile %s)", benchmarks, job->spec->profile);
	text_fact(out, "parameters", params);
	text_factf(out, "matters from", "%g %%", job->spec->min_effect_pct);
	text_fact(out, "ended", ended);
	g_string_append_c(out, '\n');
	g_string_append(out, "Everything about it\n\n");
	g_string_append_printf(out, "  %s/jobs/%" G_GINT64_FORMAT "\n", view->url, job->id);
	g_string_append_printf(out, "  %s/api/v1/jobs/%" G_GINT64_FORMAT "/samples.csv\n", view->url, job->id);
}

static void append_result(GString *out, const StatsResult *result)
{
	g_autofree char *table = stats_result_to_text(result);

	g_string_append(out, table);
	if (!g_str_has_suffix(table, "\n\n"))
		g_string_append_c(out, '\n');
}

/* What makes the figures worth less. */
static void marks(GString *out, JsonArray *warnings)
{
	guint count = host_warnings_count(warnings);

	if (!count)
		return;
	text_paragraph(out, "The host was not as it should be while this was measured:");
	for (guint i = 0; i < count; i++) {
		g_autofree char *clean = text_plain(host_warning(warnings, i));

		g_string_append(out, "  - ");
		text_wrap(out, g_strdelimit(clean, "\n\t", ' '), 4, 4, TEXT_WIDTH);
	}
	g_string_append_c(out, '\n');
}

char *report_text(const JobView *view, gsize *ret_size)
{
	GString *out = g_string_sized_new(8 * 1024);
	const StoreJob *job = view->job;

	if (job->state == JOB_DONE && view->result) {
		g_autofree char *warning = trust_warning(job), *control = trust_control(job);

		append_result(out, stats_result_latest(view->result));
		if (warning)
			text_paragraph(out, warning);
		if (view->result->continuation) {
			text_paragraph(out, "Before boots were added, the plan's own result. Each of the two has its own error rate; both "
				       "together are wrong at most twice as often.");
			append_result(out, view->result);
		}
		if (control)
			text_paragraph(out, control);
		if (view->replicas)
			text_paragraph(out, view->replicas->summary);
		marks(out, view->host_warnings);
		if (*job->reason)
			text_paragraph(out, job->message);
	} else {
		g_autofree char *headline = words_headline(job, view->result);

		text_paragraph(out, headline);
		if (job_state_is_final(job->state))
			failure(out, job);
	}
	how(out, view);
	if (ret_size)
		*ret_size = out->len;
	return g_string_free(out, FALSE);
}
