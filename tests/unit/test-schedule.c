/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "jobs/schedule.h"

static GArray *boots_new(void)
{
	return g_array_new(FALSE, FALSE, sizeof(ScheduleBoot));
}

static void add(GArray *boots, int pair, SampleArm arm, const char *reason)
{
	ScheduleBoot boot = { pair, arm, reason };

	g_array_append_val(boots, boot);
}

static void test_order(void)
{
	guint base_first = 0;

	for (guint64 seed = 0; seed < 1000; seed++) {
		g_autofree char *order = schedule_order(seed, 5);
		g_assert_cmpuint(strlen(order), ==, 10);
		g_assert_true(g_str_equal(order, "ABBAABBAAB") || g_str_equal(order, "BAABBAABBA"));
		base_first += order[0] == 'A';
	}
	/* 500 +- 5 standard deviations */
	g_assert_cmpuint(base_first, >, 420);
	g_assert_cmpuint(base_first, <, 580);
}

/* Makes all boots, in portions of so many pairs; those whose number is in failing fail. Returns the arms in order. */
static char *play(const char *order, int portion, const int *failing, guint count)
{
	int all = (int)strlen(order) / 2, pairs = MIN(portion, all);
	g_autoptr(GArray) boots = boots_new();
	GString *made = g_string_new(NULL);
	SampleArm arm;
	int pair;

	for (;;) {
		gboolean fails = FALSE;
		if (!schedule_next(order, pairs, boots, &pair, &arm)) {
			g_assert_cmpint(schedule_left(pairs, boots), ==, 0);
			if (pairs == all)
				break;
			pairs = MIN(pairs + portion, all);
			continue;
		}
		g_assert_cmpint(schedule_left(pairs, boots), >, 0);
		for (guint i = 0; i < count; i++)
			fails |= failing[i] == (int)boots->len;
		g_string_append_printf(made, "%c%d%s", arm == SAMPLE_ARM_BASE ? 'A' : 'B', pair, fails ? "x" : "");
		add(boots, pair, arm, fails ? "panic" : "");
		g_assert_cmpuint(boots->len, <, 50);
	}
	return g_string_free(made, FALSE);
}

static void expect(const char *order, int portion, const int *failing, guint count, const char *wanted)
{
	g_autofree char *made = play(order, portion, failing, count);

	g_assert_cmpstr(made, ==, wanted);
}

static void test_replacements(void)
{
	expect("ABBA", 10, NULL, 0, "A0B0B1A1");
	expect("ABBA", 10, (int[]){ 1 }, 1, "A0B0xB1A1B0");
	/* both arms miss boots: the pattern goes on */
	expect("ABBA", 10, (int[]){ 0, 1, 2, 3 }, 4, "A0xB0xB1xA1xA0B0B1A1");
	expect("BAAB", 10, (int[]){ 0, 1 }, 2, "B0xA0xA1B1B0A0");
	/* a replacement fails too */
	expect("AB", 10, (int[]){ 1, 2 }, 2, "A0B0xB0xB0");
	expect("", 10, NULL, 0, "");
}

/* A portion is complete, replacements included, before the next begins. */
static void test_portions(void)
{
	expect("ABBAAB", 2, NULL, 0, "A0B0B1A1A2B2");
	expect("ABBAAB", 2, (int[]){ 1 }, 1, "A0B0xB1A1B0A2B2");
	expect("ABBAAB", 2, (int[]){ 0, 2, 5 }, 3, "A0xB0B1xA1A0B1xB1A2B2");
	expect("ABBAAB", 1, (int[]){ 1, 2 }, 2, "A0B0xB0xB0B1A1A2B2");
}

static void expect_failed(GArray *boots, int max_failed, int wanted_arm, const char *wanted_reason)
{
	SampleArm arm;
	const char *reason;
	gboolean failed = schedule_failed(boots, max_failed, &arm, &reason);

	g_assert_cmpint(failed, ==, wanted_arm >= 0);
	if (!failed)
		return;
	g_assert_cmpint((int)arm, ==, wanted_arm);
	g_assert_cmpstr(reason, ==, wanted_reason);
}

static void test_failed(void)
{
	g_autoptr(GArray) boots = boots_new();

	expect_failed(boots, 2, -1, NULL);
	add(boots, 0, SAMPLE_ARM_BASE, "");
	add(boots, 0, SAMPLE_ARM_PATCHED, "oops");
	expect_failed(boots, 2, -1, NULL);
	add(boots, 1, SAMPLE_ARM_PATCHED, "oops");
	expect_failed(boots, 2, SAMPLE_ARM_PATCHED, "oops");
	expect_failed(boots, 0, SAMPLE_ARM_PATCHED, "oops");
}

static void test_failed_both(void)
{
	g_autoptr(GArray) boots = boots_new();

	/* both fail: the base's failure says that it is not the patch */
	add(boots, 0, SAMPLE_ARM_PATCHED, "no-hello");
	add(boots, 0, SAMPLE_ARM_BASE, "no-hello");
	expect_failed(boots, 2, -1, NULL);
	add(boots, 1, SAMPLE_ARM_BASE, "no-hello");
	expect_failed(boots, 2, SAMPLE_ARM_BASE, "no-hello");
}

static void test_failed_sometimes(void)
{
	g_autoptr(GArray) boots = boots_new();

	add(boots, 0, SAMPLE_ARM_BASE, "");
	add(boots, 0, SAMPLE_ARM_PATCHED, "");
	add(boots, 1, SAMPLE_ARM_PATCHED, "silent");
	add(boots, 1, SAMPLE_ARM_BASE, "");
	add(boots, 1, SAMPLE_ARM_PATCHED, "silent");
	expect_failed(boots, 2, -1, NULL);
	add(boots, 1, SAMPLE_ARM_PATCHED, "oops");
	expect_failed(boots, 2, SAMPLE_ARM_PATCHED, "oops");
}

static void test_lost(void)
{
	g_autoptr(GArray) boots = boots_new();

	add(boots, 0, SAMPLE_ARM_BASE, "lost");
	add(boots, 0, SAMPLE_ARM_BASE, "lost");
	expect_failed(boots, 2, -1, NULL);
	add(boots, 0, SAMPLE_ARM_BASE, "lost");
	expect_failed(boots, 2, SAMPLE_ARM_BASE, "lost");
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/schedule/order", test_order);
	g_test_add_func("/schedule/replacements", test_replacements);
	g_test_add_func("/schedule/portions", test_portions);
	g_test_add_func("/schedule/failed", test_failed);
	g_test_add_func("/schedule/failed-both", test_failed_both);
	g_test_add_func("/schedule/failed-sometimes", test_failed_sometimes);
	g_test_add_func("/schedule/lost", test_lost);
	return g_test_run();
}
