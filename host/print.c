/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "host/print.h"

#include <string.h>

#define TITLE_WIDTH	30
#define VALUE_WIDTH	46
#define WANTED_WIDTH	14

/* As many characters as width at most, the rest filled with blanks: UTF-8 letters are one wide here. */
static void add_cell(GString *out, const char *text, int width)
{
	glong length = g_utf8_strlen(text, -1);

	if (length > width) {
		g_autofree char *cut = g_utf8_substring(text, 0, width - 1);
		g_string_append_printf(out, "%s…", cut);
		length = width;
	} else {
		g_string_append(out, text);
	}
	g_string_append_printf(out, "%*s", (int)(width - length) + 2, "");
}

static void add_row(GString *out, const HostFact *fact)
{
	static const char *const words[] = { [HOST_HOLDS] = "ok", [HOST_FAILS] = "CHANGE", [HOST_UNASKED] = "" };
	g_autofree char *unknown = fact->value ? NULL : g_strdup_printf("unknown: %s", fact->reason);

	add_cell(out, fact->row->title, TITLE_WIDTH);
	add_cell(out, fact->value ? fact->value : unknown, VALUE_WIDTH);
	add_cell(out, fact->wanted ? fact->wanted : "", WANTED_WIDTH);
	g_string_append(out, words[fact->holds]);
	/* no blanks at the end of a line */
	while (out->len && out->str[out->len - 1] == ' ')
		g_string_truncate(out, out->len - 1);
	g_string_append_c(out, '\n');
}

char *host_facts_table(const GArray *facts)
{
	GString *out = g_string_new(NULL);

	add_cell(out, "fact", TITLE_WIDTH);
	add_cell(out, "is", VALUE_WIDTH);
	g_string_append(out, "wanted\n");
	for (guint i = 0; i < facts->len; i++)
		add_row(out, &g_array_index(facts, HostFact, i));
	for (guint i = 0; i < facts->len; i++) {
		const HostFact *fact = &g_array_index(facts, HostFact, i);
		if (fact->holds != HOST_FAILS)
			continue;
		g_string_append_printf(out, "\n%s is %s%s and should be %s.\n  %s\n", fact->row->title,
				       fact->value ? fact->value : "unknown: ", fact->value ? "" : fact->reason, fact->wanted,
				       fact->advice);
	}
	return g_string_free(out, FALSE);
}

int host_facts_failing(const GArray *facts)
{
	int count = 0;

	for (guint i = 0; i < facts->len; i++)
		count += g_array_index(facts, HostFact, i).holds == HOST_FAILS;
	return count;
}

/* ---- JSON; json-glib is no static library ---- */

static void add_string(GString *out, const char *text)
{
	if (!text) {
		g_string_append(out, "null");
		return;
	}
	g_string_append_c(out, '"');
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			g_string_append_c(out, '\\');
		if (g_ascii_iscntrl(*text))
			g_string_append_printf(out, "\\u%04x", *text);
		else
			g_string_append_c(out, *text);
	}
	g_string_append_c(out, '"');
}

static void add_fact(GString *out, const HostFact *fact)
{
	static const char *const holds[] = { [HOST_HOLDS] = "true", [HOST_FAILS] = "false", [HOST_UNASKED] = "null" };
	const struct {
		const char *name, *text;
	} members[] = { { "name", fact->row->name }, { "title", fact->row->title },   { "value", fact->value },
			{ "reason", fact->reason },  { "wanted", fact->wanted }, { "advice", fact->advice } };

	g_string_append_c(out, '{');
	for (gsize i = 0; i < G_N_ELEMENTS(members); i++) {
		g_string_append_printf(out, "\"%s\":", members[i].name);
		add_string(out, members[i].text);
		g_string_append_c(out, ',');
	}
	g_string_append_printf(out, "\"holds\":%s,\"moves\":%s}", holds[fact->holds], fact->row->moves ? "true" : "false");
}

static void add_numbers(GString *out, const GArray *numbers)
{
	for (guint i = 0; i < numbers->len; i++)
		g_string_append_printf(out, "%s%d", i ? "," : "", g_array_index(numbers, int, i));
}

char *host_facts_json(const HostMachine *machine, const GArray *facts)
{
	GString *out = g_string_new("{\"cpus\":[");

	add_numbers(out, machine->cpus);
	g_string_append_printf(out, "],\"virtual\":%s,\"facts\":[", machine->hypervisor ? "true" : "false");
	for (guint i = 0; i < facts->len; i++) {
		if (i)
			g_string_append_c(out, ',');
		add_fact(out, &g_array_index(facts, HostFact, i));
	}
	g_string_append(out, "]}");
	return g_string_free(out, FALSE);
}

char *host_placement_json(const HostPlacement *placement)
{
	const struct {
		const char *name, *text;
	} lists[] = { { "vcpu_list", placement->vcpu_list }, { "emulator", placement->emulator }, { "io", placement->io },
		      { "idle", placement->idle } };
	GString *out = g_string_new("{\"vcpus\":[");

	add_numbers(out, placement->vcpus);
	g_string_append(out, "],");
	for (gsize i = 0; i < G_N_ELEMENTS(lists); i++) {
		g_string_append_printf(out, "\"%s\":", lists[i].name);
		add_string(out, lists[i].text);
		g_string_append_c(out, ',');
	}
	g_string_append(out, "\"node\":");
	if (placement->node == HOST_NO_NODE)
		g_string_append(out, "null");
	else
		g_string_append_printf(out, "%d", placement->node);
	g_string_append_printf(out, ",\"page_kib\":%d,\"sockets\":%d,\"cores\":%d,\"threads\":%d,\"shortfalls\":[", placement->page_kib,
			       placement->sockets, placement->cores, placement->threads);
	for (guint i = 0; placement->shortfalls[i]; i++) {
		g_string_append(out, i ? "," : "");
		add_string(out, placement->shortfalls[i]);
	}
	g_string_append(out, "]}");
	return g_string_free(out, FALSE);
}

char *host_refusal_json(const char *message)
{
	GString *out = g_string_new("{\"refused\":");

	add_string(out, message);
	g_string_append_c(out, '}');
	return g_string_free(out, FALSE);
}
