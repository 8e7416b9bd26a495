/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "web/host-state.h"

#include "jobs/spec/peek.h"
#include "web/page.h"

#define WARNINGS_MAX 64

static gboolean fails(JsonObject *fact)
{
	JsonNode *holds = fact ? json_object_get_member(fact, "holds") : NULL;

	return holds && JSON_NODE_HOLDS_VALUE(holds) && !peek_bool(fact, "holds");
}

static void fact_row(Html *html, JsonObject *fact)
{
	const char *value = peek_string(fact, "value"), *wanted = peek_string(fact, "wanted");

	html_raw(html, "<tr><th scope=\"row\">");
	html_text(html, peek_string(fact, "title"));
	html_raw(html, "</th><td>");
	if (*value) {
		html_text(html, value);
	} else {
		html_raw(html, "unknown: ");
		html_text(html, peek_string(fact, "reason"));
	}
	html_raw(html, "</td>");
	page_cell(html, wanted);
	if (fails(fact)) {
		html_raw(html, "<td class=\"failed\">change: ");
		html_text(html, peek_string(fact, "advice"));
		html_raw(html, "</td></tr>\n");
	} else {
		page_cell(html, *wanted ? "holds" : "");
		html_raw(html, "</tr>\n");
	}
}

void host_state_table(Html *html, JsonObject *state)
{
	static const char *const columns[] = { "fact", "is", "wanted", "verdict", NULL };
	JsonArray *facts = peek_array(state, "facts");

	if (!peek_length(facts))
		return;
	html_raw(html, "<div class=\"wide\" tabindex=\"0\"><table>\n<thead><tr>");
	page_columns(html, columns);
	html_raw(html, "</tr></thead>\n<tbody>\n");
	for (guint i = 0; i < peek_length(facts); i++)
		fact_row(html, peek_element(facts, i));
	html_raw(html, "</tbody>\n</table></div>\n");
}

void host_state_section(Html *html, const char *name, JsonObject *state, gint64 seen_ns, gint64 boots_disturbed)
{
	JsonArray *facts = peek_array(state, "facts");
	guint failing = 0;

	for (guint i = 0; i < peek_length(facts); i++)
		failing += fails(peek_element(facts, i));
	html_raw(html, "<h2>How ");
	html_text(html, name);
	html_raw(html, " is set</h2>\n");
	if (!state) {
		html_raw(html, "<p>Nobody has looked yet: the first boot there does.</p>\n");
		return;
	}
	html_raw(html, "<p>As it was at ");
	page_time(html, seen_ns);
	html_raw(html, ", for policy ");
	html_text(html, peek_string(state, "policy"));
	html_raw(html, " (require ");
	html_text(html, peek_string(state, "require"));
	if (failing)
		html_textf(html, "): %u to change.", failing);
	else
		html_raw(html, "): as wanted.");
	html_textf(html, " Boots made again because the host was noisy: %" G_GINT64_FORMAT ".", boots_disturbed);
	html_raw(html, "</p>\n");
	host_state_table(html, state);
}

guint host_warnings_count(JsonArray *warnings)
{
	return MIN(peek_length(warnings), WARNINGS_MAX);
}

const char *host_warning(JsonArray *warnings, guint i)
{
	JsonNode *node = json_array_get_element(warnings, i);

	return JSON_NODE_HOLDS_VALUE(node) && json_node_get_value_type(node) == G_TYPE_STRING ? json_node_get_string(node) : "";
}

void host_warnings_list(Html *html, JsonArray *warnings)
{
	guint count = host_warnings_count(warnings);

	if (!count)
		return;
	html_raw(html, "<p class=\"failed\">The host was not as it should be while this was measured:</p>\n<ul>\n");
	for (guint i = 0; i < count; i++) {
		html_raw(html, "<li>");
		html_text(html, host_warning(warnings, i));
		html_raw(html, "</li>\n");
	}
	html_raw(html, "</ul>\n");
}
