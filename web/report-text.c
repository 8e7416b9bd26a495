/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "web/report-text.h"

#include "web/host-state.h"

#include "jobs/stats/result-text.h"
#include "web/trust.h"
#include "web/words.h"

#define WIDTH 72
#define NAME_WIDTH 14	/* of the facts' names, two spaces before them */

static void paragraph(GString *out, const char *text)
{
	g_autofree char *clean = text_plain(text);

	text_wrap(out, clean, 0, 0, WIDTH);
	g_string_append_c(out, '\n');
}

/* "  name          value", left out if there is no value. */
static void fact(GString *out, const char *name, const char *value)
{
	g_autofree char *clean = text_plain(value);

	if (!*clean)
		return;
	g_string_append_printf(out, "  %-*s ", NAME_WIDTH, name);
	text_wrap(out, clean, 2 + NAME_WIDTH + 1, 2 + NAME_WIDTH + 1, WIDTH);
}

G_GNUC_PRINTF(3, 4) static void factf(GString *out, const char *name, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	g_autofree char *value = g_strdup_vprintf(format, args);
	va_end(args);
	fact(out, name, value);
}

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

	paragraph(out, job->message);
	fact(out, "state", job_state_name(job->state));
	fact(out, "reason", job->reason);
	fact(out, "kernel", job->failed_arm);
	if (peek_int(detail, "patch", 0) > 0)
		factf(out, "patch", "%" G_GINT64_FORMAT " %s", peek_int(detail, "patch", 0), peek_string(detail, "subject"));
	if (peek_int(detail, "line", 0) > 0)
		factf(out, "file", "%s:%" G_GINT64_FORMAT, peek_string(detail, "file"), peek_int(detail, "line", 0));
	else
		fact(out, "file", peek_string(detail, "file"));
	fact(out, "hunk", peek_string(detail, "hunk"));
	fact(out, "error", peek_string(detail, "error"));
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

	fact(out, "tree", job->spec->tree);
	if (!job->source)
		return;
	factf(out, "base", "%s %s", peek_string(job->source, "base_commit"), peek_string(job->source, "base_subject"));
	fact(out, "chosen by", peek_string(job->source, "base_chosen_by"));
	for (guint i = 0; i < peek_length(list); i++) {
		g_autofree char *name = g_strdup_printf("patch %u", i + 1);

		fact(out, name, peek_string(peek_element(list, i), "subject"));
	}
	if (*job->spec->head)
		fact(out, "head", job->spec->head);
}

static void kernels(GString *out, const StoreJob *job)
{
	static const char *const names[] = { "base kernel", "patched kernel" };

	for (int i = 0; i < 2; i++)
		if (job->arms[i])
			factf(out, names[i], "%s, %.12s, SHA-256 %.16s", peek_string(job->arms[i], "kernel_release"),
			      peek_string(job->arms[i], "commit"), peek_string(job->arms[i], "kernel_sha256"));
	for (int i = 0; i < 2; i++) {
		if (!job->arms[i])
			continue;
		fact(out, "compiler", peek_string(job->arms[i], "compiler"));
		factf(out, "configuration", "%s, SHA-256 %.16s", job->spec->has_config ? "uploaded" : job->spec->config,
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
	fact(out, "host", job->host);
	if (accelerator) {
		factf(out, "accelerator", "%s (%s)", peek_string(accelerator, "accelerator"),
		      peek_string(accelerator, "probe"));
		fact(out, "clock", peek_string(accelerator, "clock"));
		factf(out, "versions", "QEMU %s, libvirt %s, host kernel %s", peek_string(accelerator, "qemu_version"),
		      peek_string(accelerator, "libvirt_version"), peek_string(accelerator, "host_kernel"));
	}
	if (hello)
		factf(out, "guest", "%" G_GINT64_FORMAT " CPUs, %" G_GINT64_FORMAT " MiB, clocksource %s, huge pages %s",
		      peek_int(hello, "cpus", 0), peek_int(hello, "memory_kib", 0) / 1024, peek_string(hello, "clocksource"),
		      peek_string(hello, "thp"));
	factf(out, "boots", "%d base, %d patched, %d failed", job->boots_valid[0], job->boots_valid[1],
	      job->boots_failed[0] + job->boots_failed[1]);
	if (job->boots_disturbed[0] + job->boots_disturbed[1])
		factf(out, "disturbed", "%d base, %d patched boots, made again", job->boots_disturbed[0], job->boots_disturbed[1]);
	fact(out, "order", peek_string(job->plan, "order"));
}

static void how(GString *out, const JobView *view)
{
	const StoreJob *job = view->job;
	g_autofree char *benchmarks = g_strjoinv(", ", job->spec->benchmarks);
	g_autofree char *params = job->spec->params ? g_strjoinv(" ", job->spec->params) : NULL;
	g_autofree char *ended = words_time(job->finished_ns);

	g_string_append(out, "How it was run\n\n");
	fact(out, "subject", job->spec->subject);
	fact(out, "author", job->spec->author);
	source(out, job);
	kernels(out, job);
	machine(out, view);
	factf(out, "benchmarks", "%s (profile %s)", benchmarks, job->spec->profile);
	fact(out, "parameters", params);
	factf(out, "matters from", "%g %%", job->spec->min_effect_pct);
	fact(out, "ended", ended);
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
	paragraph(out, "The host was not as it should be while this was measured:");
	for (guint i = 0; i < count; i++) {
		g_autofree char *clean = text_plain(host_warning(warnings, i));

		g_string_append(out, "  - ");
		text_wrap(out, g_strdelimit(clean, "\n\t", ' '), 4, 4, WIDTH);
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
			paragraph(out, warning);
		if (view->result->continuation) {
			paragraph(out, "Before boots were added, the plan's own result. Each of the two has its own error rate; both "
				       "together are wrong at most twice as often.");
			append_result(out, view->result);
		}
		if (control)
			paragraph(out, control);
		if (view->replicas)
			paragraph(out, view->replicas->summary);
		marks(out, view->host_warnings);
		if (*job->reason)
			paragraph(out, job->message);
	} else {
		g_autofree char *headline = words_headline(job, view->result);

		paragraph(out, headline);
		if (job_state_is_final(job->state))
			failure(out, job);
	}
	how(out, view);
	if (ret_size)
		*ret_size = out->len;
	return g_string_free(out, FALSE);
}
