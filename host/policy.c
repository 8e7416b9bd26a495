/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "host/policy.h"

#include <string.h>

#include "jobs/spec/cpus.h"
#include "jobs/spec/error.h"

#define FILES_SHOWN 4	/* of those that advice names one by one */

/* ---- the text ---- */

static gboolean check_word(const char *word, GError **error)
{
	const char *equals = strchr(word, '=');
	g_autofree char *name = equals ? g_strndup(word, (gsize)(equals - word)) : g_strdup(word);
	const HostFactRow *row = host_fact_row(name);
	char *end;

	if (g_str_equal(word, HOST_POLICY_AUTO))
		return TRUE;
	if (!equals || !row || row->rule == HOST_RULE_NOTE)
		return spec_error_set(error, SPEC_ERROR_VALUE, "require", "'%.60s' is not %s=VALUE with a fact that can be wanted", word,
				      row ? name : "FACT");
	const char *value = equals + 1;
	if (g_str_equal(value, "any"))
		return TRUE;
	if (!*value)
		return spec_error_set(error, SPEC_ERROR_VALUE, "require", "'%.60s' names no value", word);
	if (row->rule == HOST_RULE_MEASURING && !g_str_equal(value, "measuring"))
		return spec_error_set(error, SPEC_ERROR_VALUE, "require", "%s can be 'measuring' or 'any'", name);
	if (row->rule == HOST_RULE_MOST && (g_ascii_strtod(value, &end) < 0 || *end))
		return spec_error_set(error, SPEC_ERROR_VALUE, "require", "%s wants the largest number that is good", name);
	return TRUE;
}

gboolean host_policy_check(const char *text, GError **error)
{
	g_auto(GStrv) words = g_strsplit(text, " ", -1);

	for (char **word = words; *word; word++)
		if (**word && !check_word(*word, error))
			return FALSE;
	return TRUE;
}

/* What the policy wants of a fact; the caller's, NULL: nothing. */
static char *wanted_of(const HostFactRow *row, const HostMachine *machine, const char *policy)
{
	g_auto(GStrv) words = g_strsplit(policy, " ", -1);
	g_autofree char *start = g_strconcat(row->name, "=", NULL);
	/* of a virtual machine only that it were none: whatever else is wanted of hardware it could not say */
	gboolean standard = row->standard && (!machine->hypervisor || row == host_facts);
	const char *wanted = NULL;

	for (char **word = words; *word; word++) {
		if (g_str_equal(*word, HOST_POLICY_AUTO) && standard)
			wanted = row->standard;
		else if (g_str_has_prefix(*word, start))
			wanted = *word + strlen(start);
	}
	return wanted && !g_str_equal(wanted, "any") ? g_strdup(wanted) : NULL;
}

/* ---- comparing ---- */

static gboolean has_all(const char *list, const GArray *cpus)
{
	g_autoptr(GArray) has = NULL;

	if (!g_ascii_isdigit(*list) || !cpu_list_parse(list, &has, NULL))
		return FALSE;
	for (guint i = 0; i < cpus->len; i++) {
		gboolean found = FALSE;
		for (guint k = 0; k < has->len && !found; k++)
			found = g_array_index(has, int, k) == g_array_index(cpus, int, i);
		if (!found)
			return FALSE;
	}
	return TRUE;
}

gboolean host_rule_holds(HostRule rule, const char *value, const char *wanted, const GArray *cpus)
{
	g_auto(GStrv) choices = NULL;
	g_autofree char *word = NULL;

	switch (rule) {
	case HOST_RULE_WORD:
		choices = g_strsplit(wanted, "|", -1);
		word = g_strndup(value, strcspn(value, " "));
		return g_strv_contains((const char *const *)choices, word);
	case HOST_RULE_MOST:
		return g_ascii_strtod(value, NULL) <= g_ascii_strtod(wanted, NULL);
	case HOST_RULE_MEASURING:
		return has_all(value, cpus);
	case HOST_RULE_NOTE:
		break;
	}
	return TRUE;
}

/* ---- advice ---- */

static char *cpus_text(const GArray *cpus)
{
	GString *text = g_string_new(NULL);

	for (guint i = 0; i < cpus->len; i++) {
		int first = g_array_index(cpus, int, i), last = first;
		while (i + 1 < cpus->len && g_array_index(cpus, int, i + 1) == last + 1)
			last = g_array_index(cpus, int, ++i);
		g_string_append_printf(text, "%s%d", text->len ? "," : "", first);
		if (last > first)
			g_string_append_printf(text, "-%d", last);
	}
	return g_string_free(text, FALSE);
}

static char *fill_in(const char *advice, const char *wanted, const GArray *cpus)
{
	g_autofree char *list = cpus_text(cpus);
	GString *text = g_string_new(advice);

	g_string_replace(text, "{wanted}", wanted, 0);
	g_string_replace(text, "{cpus}", list, 0);
	return g_string_free(text, FALSE);
}

/* "echo 1 > /sys/...", or the like for several files. */
static char *commands(const GPtrArray *writes)
{
	const HostWrite *first = g_ptr_array_index(writes, 0);
	GString *text = g_string_new(NULL);

	if (writes->len == 1)
		g_string_printf(text, "echo %s > %s", first->value, first->path);
	for (guint i = 0; writes->len > 1 && i < MIN(writes->len, FILES_SHOWN); i++) {
		const HostWrite *write = g_ptr_array_index(writes, i);
		g_string_append_printf(text, "%secho %s > %s", i ? "; " : "", write->value, write->path);
	}
	if (writes->len > FILES_SHOWN)
		g_string_append_printf(text, "; and so on, %u files", writes->len);
	g_string_append(text, " (regrlab-host prepare does it)");
	return g_string_free(text, FALSE);
}

static char *advise(const HostFact *fact, const HostMachine *machine)
{
	g_autoptr(GPtrArray) writes = g_ptr_array_new_with_free_func(host_write_free);
	g_autofree char *choice = g_strndup(fact->wanted, strcspn(fact->wanted, "|"));

	if (fact->row->plan && fact->value)
		fact->row->plan(machine, choice, writes);
	return writes->len ? commands(writes) : fill_in(fact->row->advice, choice, machine->cpus);
}

/* ---- all together ---- */

static void fact_clear(gpointer data)
{
	HostFact *fact = data;

	g_free(fact->value);
	g_free(fact->reason);
	g_free(fact->wanted);
	g_free(fact->advice);
}

GArray *host_facts_read(const HostMachine *machine, const char *policy)
{
	GArray *facts = g_array_new(FALSE, TRUE, sizeof(HostFact));

	g_array_set_clear_func(facts, fact_clear);
	for (gsize i = 0; i < host_n_facts; i++) {
		HostFact fact = { .row = &host_facts[i] };

		host_fact_read(fact.row, machine, &fact.value, &fact.reason);
		fact.wanted = wanted_of(fact.row, machine, policy);
		if (!fact.wanted)
			fact.holds = HOST_UNASKED;
		else if (fact.value && host_rule_holds(fact.row->rule, fact.value, fact.wanted, machine->cpus))
			fact.holds = HOST_HOLDS;
		else
			fact.holds = HOST_FAILS;
		if (fact.holds == HOST_FAILS)
			fact.advice = advise(&fact, machine);
		g_array_append_val(facts, fact);
	}
	return facts;
}
