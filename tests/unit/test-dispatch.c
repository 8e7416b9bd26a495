/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "daemon/dispatch.h"

static char *none[] = { NULL };
static char *big[] = { (char *)"big", NULL };
static char *big_numa[] = { (char *)"big", (char *)"numa", NULL };

static DispatchHost host(const char *name, char **labels, int slots, int memory_mib)
{
	return (DispatchHost){ .name = name, .labels = labels, .slots = slots, .memory_mib = memory_mib, .usable = TRUE };
}

static Need need(const char *name, char **labels, int memory_mib)
{
	return (Need){ .host = (char *)name, .labels = labels, .memory_mib = { memory_mib, memory_mib } };
}

static void note(LineJob *job, DispatchHost *place, gpointer data)
{
	g_string_append_printf(data, "%" G_GINT64_FORMAT "@%s ", job->id, place->name);
}

static guint64 passes;

/* Jobs with ids 1, 2, ... of the needs given, in that order; what dispatch() chose. */
static void check(DispatchHost *hosts, gsize n_hosts, Need **needs, gsize n_needs, const char *expected)
{
	g_autoptr(GPtrArray) jobs = g_ptr_array_new_with_free_func(g_free), places = g_ptr_array_new();
	g_autoptr(GString) chosen = g_string_new(NULL);

	for (gsize i = 0; i < n_needs; i++) {
		LineJob *job = g_new0(LineJob, 1);

		job->id = (gint64)i + 1;
		job->need = needs[i];
		g_ptr_array_add(jobs, job);
	}
	for (gsize i = 0; i < n_hosts; i++)
		g_ptr_array_add(places, &hosts[i]);
	dispatch(jobs, places, ++passes, note, chosen);
	g_assert_cmpstr(g_strchomp(chosen->str), ==, expected);
}

#define CHECK(hosts, expected, ...) \
	do { \
		Need *needs_[] = { __VA_ARGS__ }; \
		check(hosts, G_N_ELEMENTS(hosts), needs_, G_N_ELEMENTS(needs_), expected); \
	} while (0)

static void test_labels(void)
{
	DispatchHost hosts[] = { host("special", big_numa, 1, 0), host("large", big, 1, 0), host("plain", none, 1, 0) };
	Need any = need("", none, 100), needs_big = need("", big, 100), named = need("special", none, 100);

	g_assert_true(dispatch_fits(&needs_big, &hosts[1]) && !dispatch_fits(&needs_big, &hosts[2]));
	/* special hosts are left for who needs them */
	CHECK(hosts, "1@plain 2@large 3@special", &any, &needs_big, &any);
	for (gsize i = 0; i < G_N_ELEMENTS(hosts); i++)
		hosts[i].used = 0;
	/* who finds no room does not hold up those behind */
	CHECK(hosts, "1@special 3@plain", &named, &named, &any);
}

static void test_usable(void)
{
	DispatchHost hosts[] = { host("down", none, 1, 0), host("built-on", none, 1, 0) };
	Need timed = need("", none, 100), counted = timed;

	hosts[0].usable = FALSE;
	hosts[1].disturbed = TRUE;
	counted.counts = TRUE;
	CHECK(hosts, "2@built-on", &timed, &counted, &counted);
}

static void test_slots(void)
{
	DispatchHost hosts[] = { host("two", none, 2, 0), host("four", none, 4, 0) };
	Need any = need("", none, 100);

	/* the one with less work, by its size */
	CHECK(hosts, "1@two 2@four 3@four 4@two 5@four 6@four", &any, &any, &any, &any, &any, &any, &any);
}

static void test_memory(void)
{
	DispatchHost hosts[] = { host("only", none, 2, 4096) };
	Need small = need("", none, 1024), large = need("", none, 3000), huge = need("", none, 8000);

	g_assert_false(dispatch_fits(&huge, &hosts[0]));
	CHECK(hosts, "1@only", &large, &small);
	/* one is at work: the next, which needs more than is free, keeps the place from those behind it */
	hosts[0].used = 1;
	hosts[0].memory_used_mib = 1024 + DISPATCH_OVERHEAD_MIB;
	CHECK(hosts, "", &large, &small, &small);
	/* once it is through, they have it */
	hosts[0].used = 0;
	hosts[0].memory_used_mib = 0;
	CHECK(hosts, "1@only", &large, &small);
	hosts[0].used = 0;
	hosts[0].memory_used_mib = 0;
	CHECK(hosts, "1@only 2@only", &small, &small, &large);
}

/* A larger guest where it runs on KVM. */
static void test_kvm_memory(void)
{
	DispatchHost hosts[] = { host("fast", none, 1, 4096) };
	Need quick_or_full = { .host = (char *)"", .labels = none, .memory_mib = { 1024, 8192 } };

	g_assert_true(dispatch_fits(&quick_or_full, &hosts[0]));
	hosts[0].kvm = TRUE;
	g_assert_false(dispatch_fits(&quick_or_full, &hosts[0]));
}

static void assert_spread(const Need *need, const GPtrArray *places, guint count, const char *expected)
{
	g_auto(GStrv) names = dispatch_spread(need, places, count);
	g_autofree char *joined = names ? g_strjoinv(" ", names) : NULL;

	g_assert_cmpstr(joined, ==, expected);
}

/* Hosts for the same comparison: those that are up first, then those with the fewest labels and the least work. */
static void test_spread(void)
{
	DispatchHost hosts[] = { host("special", big, 1, 0), host("busy", none, 2, 0), host("down", none, 1, 0),
				 host("idle", none, 1, 0), host("small", none, 1, 64) };
	Need any = need("", none, 100), needs_big = need("", big, 100);
	g_autoptr(GPtrArray) places = g_ptr_array_new();

	hosts[1].used = 1;
	hosts[2].usable = FALSE;
	for (gsize i = 0; i < G_N_ELEMENTS(hosts); i++)
		g_ptr_array_add(places, &hosts[i]);
	assert_spread(&any, places, 1, "idle");
	assert_spread(&any, places, 4, "idle busy special down");
	assert_spread(&any, places, 5, NULL);
	assert_spread(&needs_big, places, 1, "special");
	assert_spread(&needs_big, places, 2, NULL);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/dispatch/labels", test_labels);
	g_test_add_func("/dispatch/usable", test_usable);
	g_test_add_func("/dispatch/slots", test_slots);
	g_test_add_func("/dispatch/memory", test_memory);
	g_test_add_func("/dispatch/kvm-memory", test_kvm_memory);
	g_test_add_func("/dispatch/spread", test_spread);
	return g_test_run();
}
