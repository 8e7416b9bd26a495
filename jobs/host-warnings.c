/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "jobs/host-warnings.h"

#include "jobs/spec/peek.h"

#define WARNINGS_MAX 64	/* kinds of them */

typedef struct {
	char *fact, *text;
	guint boots;
} Warning;

struct HostWarnings {
	GArray *list;	/* of Warning */
};

static void warning_clear(gpointer data)
{
	Warning *warning = data;

	g_free(warning->fact);
	g_free(warning->text);
}

HostWarnings *host_warnings_new(void)
{
	HostWarnings *warnings = g_new0(HostWarnings, 1);

	warnings->list = g_array_new(FALSE, TRUE, sizeof(Warning));
	g_array_set_clear_func(warnings->list, warning_clear);
	return warnings;
}

void host_warnings_free(HostWarnings *warnings)
{
	if (!warnings)
		return;
	g_array_unref(warnings->list);
	g_free(warnings);
}

static void add(HostWarnings *warnings, const char *fact, const char *text)
{
	for (guint i = 0; i < warnings->list->len; i++) {
		Warning *warning = &g_array_index(warnings->list, Warning, i);
		if (g_str_equal(warning->fact, fact)) {
			warning->boots++;
			return;
		}
	}
	Warning warning = { g_strdup(fact), g_strdup(text), 1 };
	if (warnings->list->len < WARNINGS_MAX)
		g_array_append_val(warnings->list, warning);
	else
		warning_clear(&warning);
}

void host_warnings_add(HostWarnings *warnings, JsonObject *machine)
{
	JsonArray *list = peek_array(machine, "warnings");

	for (guint i = 0; i < peek_length(list); i++) {
		JsonObject *one = peek_element(list, i);
		add(warnings, peek_string(one, "fact"), peek_string(one, "text"));
	}
}

JsonArray *host_warnings_to_json(const HostWarnings *warnings)
{
	JsonArray *array = json_array_new();

	for (guint i = 0; i < warnings->list->len; i++) {
		const Warning *warning = &g_array_index(warnings->list, Warning, i);
		g_autofree char *sentence = g_strdup_printf("%s (%u boot%s)", warning->text, warning->boots,
							    warning->boots == 1 ? "" : "s");
		json_array_add_string_element(array, sentence);
	}
	return array;
}
