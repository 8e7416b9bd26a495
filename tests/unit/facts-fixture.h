/* SPDX-License-Identifier: GPL-2.0-or-later */
/* For tests of what a machine is like: the value of a fact, and those that are not as a policy wants them. */
#pragma once

#include "host-fixture.h"
#include "host/print.h"

static inline void machine_of(HostMachine *machine, const char *root)
{
	g_autoptr(GError) error = NULL;

	host_machine_init(machine, root, "2-3", &error);
	g_assert_no_error(error);
}

/* The value of a fact, or "unknown: REASON"; the caller's. */
static inline char *fact(const char *root, const char *name)
{
	g_auto(HostMachine) machine = { 0 };
	g_autofree char *reason = NULL;
	char *value = NULL;

	machine_of(&machine, root);
	if (host_fact_read(host_fact_row(name), &machine, &value, &reason)) {
		g_assert_null(reason);
		return value;
	}
	g_assert_null(value);
	g_assert_nonnull(reason);
	return g_strconcat("unknown: ", reason, NULL);
}

static inline void expect(const char *root, const char *name, const char *wanted)
{
	g_autofree char *value = fact(root, name);

	if (!g_str_has_prefix(value, wanted))
		g_error("%s is '%s', not '%s'", name, value, wanted);
}

/* "name name": the facts that are not as the policy wants them; the caller's. */
static inline char *failing(const char *root, const char *policy)
{
	g_auto(HostMachine) machine = { 0 };
	GString *names = g_string_new(NULL);

	machine_of(&machine, root);
	g_autoptr(GArray) facts = host_facts_read(&machine, policy);
	for (guint i = 0; i < facts->len; i++) {
		const HostFact *one = &g_array_index(facts, HostFact, i);
		g_assert_true((one->holds == HOST_FAILS) == (one->advice != NULL));
		g_assert_true((one->holds == HOST_UNASKED) == (one->wanted == NULL));
		if (one->holds == HOST_FAILS)
			g_string_append_printf(names, "%s%s", names->len ? " " : "", one->row->name);
	}
	g_auto(GStrv) words = g_strsplit(names->str, " ", -1);
	g_assert_cmpint(host_facts_failing(facts), ==, (int)g_strv_length(words));
	return g_string_free(names, FALSE);
}
