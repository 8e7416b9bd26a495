/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Troubles have a name while they last: clocks that are set (both clocks are the test's), folders that cannot be used. */
#include <glib/gstdio.h>
#include <unistd.h>

#include "daemon/health.h"

#define SECOND_NS G_GINT64_CONSTANT(1000000000)
#define SECOND_US G_GINT64_CONSTANT(1000000)

static gint64 real_ns, steady_us;

static gint64 now_ns(void)
{
	return real_ns;
}

static gint64 clock_us(void)
{
	return steady_us;
}

typedef struct {
	Lab lab;
	Config config;
	char *dir, *jobs, *cache;
} Place;

static void set_up(Place *place, gconstpointer data G_GNUC_UNUSED)
{
	place->dir = g_dir_make_tmp("regrlab-health-XXXXXX", NULL);
	place->jobs = g_build_filename(place->dir, "jobs", NULL);
	place->cache = g_build_filename(place->dir, "cache", NULL);
	g_assert_cmpint(g_mkdir(place->jobs, 0755), ==, 0);
	g_assert_cmpint(g_mkdir(place->cache, 0755), ==, 0);
	real_ns = 1000 * SECOND_NS;
	steady_us = 50 * SECOND_US;
	place->config = (Config){ .state_dir = place->dir, .cache_dir = place->cache };
	place->lab.config = &place->config;
	place->lab.now_ns = now_ns;
	place->lab.db = db_open(":memory:", NULL);
	place->lab.health = health_new(&place->lab, clock_us);
}

static void tear_down(Place *place, gconstpointer data G_GNUC_UNUSED)
{
	health_free(place->lab.health);
	db_close(place->lab.db);
	g_rmdir(place->cache);
	g_rmdir(place->jobs);
	g_rmdir(place->dir);
	g_free(place->cache);
	g_free(place->jobs);
	g_free(place->dir);
}

/* So much time passes, and the clock is set by so much on top of it. */
static void pass(Place *place, gint64 seconds, gint64 step_s)
{
	steady_us += seconds * SECOND_US;
	real_ns += (seconds + step_s) * SECOND_NS;
	health_look(place->lab.health);
}

static void expect(Place *place, const char *names)
{
	const GPtrArray *troubles = health_troubles(place->lab.health);
	g_autoptr(GString) have = g_string_new(NULL);

	for (guint i = 0; i < troubles->len; i++)
		g_string_append_printf(have, "%s ", ((const Trouble *)g_ptr_array_index(troubles, i))->name);
	g_assert_cmpstr(have->str, ==, names);
}

static void test_clock(Place *place, gconstpointer data G_GNUC_UNUSED)
{
	pass(place, 1, 0);
	expect(place, "");
	for (int i = 0; i < 20; i++)
		pass(place, 60, 1);		/* a clock that is slowly put right is no matter */
	expect(place, "");
	pass(place, 1, -100);
	expect(place, "clock-behind ");
	g_assert_false(health_blocks(place->lab.health));
	pass(place, 60, 0);
	expect(place, "clock-behind ");
	pass(place, 60, 0);			/* it has caught up */
	expect(place, "");
	pass(place, 1, -100);
	pass(place, 1, 100);			/* set right again: that is not ahead */
	expect(place, "");
	pass(place, 1, 3600);
	expect(place, "clock-ahead ");
	pass(place, HEALTH_CLOCK_NOTE_S, 0);
	expect(place, "");
}

static void test_since(Place *place, gconstpointer data G_GNUC_UNUSED)
{
	const Trouble *trouble;
	gint64 since_ns;

	g_assert_cmpint(g_rmdir(place->cache), ==, 0);
	pass(place, 10, 0);
	expect(place, "cache-unusable ");
	g_assert_true(health_blocks(place->lab.health));
	trouble = g_ptr_array_index(health_troubles(place->lab.health), 0);
	since_ns = trouble->since_ns;
	g_assert_cmpint(since_ns, ==, real_ns);
	pass(place, 10, 0);
	trouble = g_ptr_array_index(health_troubles(place->lab.health), 0);
	g_assert_cmpint(trouble->since_ns, ==, since_ns);
	g_assert_cmpint(g_mkdir(place->cache, 0755), ==, 0);
	pass(place, 10, 0);
	expect(place, "");
	g_assert_false(health_blocks(place->lab.health));
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	/* troubles are logged, and warnings end a test otherwise */
	g_log_set_always_fatal(G_LOG_FATAL_MASK);
	g_test_add("/health/clock", Place, NULL, set_up, test_clock, tear_down);
	g_test_add("/health/since", Place, NULL, set_up, test_since, tear_down);
	return g_test_run();
}
