/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "mail/reply.h"

#include <math.h>

#include "jobs/spec/peek.h"
#include "jobs/spec/text.h"

static void quote_command(GString *out, const Command *command)
{
	if (!command)
		return;
	g_autofree char *clean = text_plain(command->line);
	g_string_append_printf(out, "> %s\n\n", clean);
}

/* ---- the quote ---- */

static char *duration(double seconds)
{
	return isfinite(seconds) && seconds >= 0 && seconds < 1e9 ? text_duration((gint64)(ceil(seconds) * 1e9)) : g_strdup("not known");
}

static void append_effect(GString *out, JsonObject *effect)
{
	double effect_pct = peek_double(effect, "effect_pct", NAN);
	g_autofree char *name = g_strdup_printf("%s %s", peek_string(effect, "benchmark"), peek_string(effect, "params"));
	g_autofree char *size = isfinite(effect_pct) ? g_strdup_printf("%.2g %%", effect_pct) : g_strdup("not known");
	g_autofree char *line = g_strdup_printf("%s: %s (%s)", g_strchomp(name), size, peek_string(effect, "reason"));

	text_fact(out, "would see", line);
}

static void append_time(GString *out, const char *name, JsonObject *part)
{
	g_autofree char *time = duration(peek_double(part, "seconds", NAN));

	text_factf(out, name, "%s (%s)", time, peek_string(part, "reason"));
}

void reply_append_quote(GString *out, JsonObject *quote)
{
	JsonArray *effects = peek_array(quote, "effects");
	JsonObject *build = peek_object(quote, "build");
	g_autofree char *done = duration(peek_double(quote, "done_in_s", NAN));

	text_fact(out, "host", peek_string(quote, "host"));
	text_fact(out, "clock", *peek_string(quote, "clock") ? peek_string(quote, "clock") : "known when the first guest runs there");
	text_factf(out, "boots", "at most %" G_GINT64_FORMAT " of each kernel", peek_int(quote, "boots_per_arm", 0));
	for (guint i = 0; i < peek_length(effects); i++)
		append_effect(out, peek_element(effects, i));
	append_time(out, "base kernel", peek_object(build, "base"));
	append_time(out, "patched kernel", peek_object(build, "patched"));
	append_time(out, "measuring", peek_object(quote, "measure"));
	append_time(out, "before it starts", peek_object(quote, "start"));
	text_fact(out, "done in", done);
}

/* ---- what was understood ---- */

static void append_series(GString *out, const Series *series, guint prerequisites)
{
	if (series->version > 1)
		text_factf(out, "series", "v%d of \"%s\", by %s", series->version, series->subject, series->author);
	else
		text_factf(out, "series", "\"%s\", by %s", series->subject, series->author);
	for (guint i = 0; i < series->patches->len; i++) {
		const SeriesPatch *patch = g_ptr_array_index(series->patches, i);
		g_autofree char *name = g_strdup_printf("patch %d", patch->number);

		text_fact(out, name, patch->subject);
	}
	if (prerequisites)
		text_factf(out, "not applied", "%u prerequisite%s that it names: the base has to have %s", prerequisites,
		      prerequisites == 1 ? "" : "s", prerequisites == 1 ? "it" : "them");
}

static const char *why_base(const Command *command, const Series *series)
{
	if (command && *command->commit)
		return "as you asked";
	if (*series->base_commit)
		return "base-commit of the series";
	return "the tree's default, a guess: the series names no base-commit";
}

static char *join(JsonArray *array, const char *between)
{
	g_autoptr(GString) text = g_string_new(NULL);

	for (guint i = 0; i < peek_length(array); i++) {
		JsonNode *node = json_array_get_element(array, i);

		if (JSON_NODE_HOLDS_VALUE(node) && json_node_get_value_type(node) == G_TYPE_STRING)
			g_string_append_printf(text, "%s%s", text->len ? between : "", json_node_get_string(node));
	}
	return g_string_free(g_steal_pointer(&text), FALSE);
}

char *reply_accepted(const Command *command, const Series *series, guint prerequisites, JsonObject *quote, JsonObject *job,
		     const char *url)
{
	g_autoptr(GString) out = g_string_new(NULL);
	JsonObject *spec = peek_object(job, "spec");
	g_autofree char *benchmarks = join(peek_array(spec, "benchmarks"), ", ");
	g_autofree char *params = join(peek_array(spec, "params"), " ");

	quote_command(out, command);
	text_paragraph(out, "The lab has taken this, as follows, and answers here when it is done.");
	text_factf(out, "job", "%" G_GINT64_FORMAT ", %s/jobs/%" G_GINT64_FORMAT, peek_int(job, "id", 0), url, peek_int(job, "id", 0));
	append_series(out, series, prerequisites);
	text_fact(out, "tree", peek_string(spec, "tree"));
	text_factf(out, "base", "%s (%s)", peek_string(spec, "base"), why_base(command, series));
	text_factf(out, "benchmarks", "%s (profile %s)", benchmarks, peek_string(spec, "profile"));
	text_fact(out, "parameters", params);
	reply_append_quote(out, quote);
	g_string_append(out, "\nIf that is not what you meant, answer with a line\n\n  #regrlab cancel\n");
	return g_string_free(g_steal_pointer(&out), FALSE);
}

char *reply_sentence(const Command *command, const char *sentence, gboolean help)
{
	g_autoptr(GString) out = g_string_new(NULL);

	quote_command(out, command);
	text_paragraph(out, sentence);
	if (help)
		g_string_append_printf(out, "Commands stand at the start of a line of a reply, here shown indented:\n\n%s", commands_help());
	return g_string_free(g_steal_pointer(&out), FALSE);
}

char *reply_report(const char *report, gboolean open)
{
	g_autoptr(GString) out = g_string_new(report);

	g_string_append(out, "\nAnswers to this mail reach the lab, if it gets a copy; at the start of a line:\n\n");
	if (open)
		g_string_append(out, "  #regrlab more boots=10      to let it boot on, since it did not decide\n");
	g_string_append(out, "  #regrlab no-mail            to get no more mail of this lab\n");
	return g_string_free(g_steal_pointer(&out), FALSE);
}
