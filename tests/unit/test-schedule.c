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
	int all = schedule_pairs(order), pairs = MIN(portion, all);
	g_autoptr(GArray) boots = boots_new();
	GString *made = g_string_new(NULL);
	SampleArm arm;
	int pair;

	for (;;) {
		gboolean fails = FALSE;
		if (!schedule_next(order, pairs, boots, &pair, &arm)) {
			g_assert_cmpint(schedule_left(order, pairs, boots), ==, 0);
			if (pairs == all)
				break;
			pairs = MIN(pairs + portion, all);
			continue;
		}
		g_assert_cmpint(schedule_left(order, pairs, boots), >, 0);
		for (guint i = 0; i < count; i++)
			fails |= failing[i] == (int)boots->len;
		g_string_append_printf(made, "%c%d%s", 'A' + (int)arm, pair, fails ? "x" : "");
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

/* Base, patched and control have the same place on average, so that a steady drift weighs on none of them. */
static void test_control_order(void)
{
	for (int first = 0; first < 2; first++) {
		g_autofree char *plain = schedule_extend(first ? "B" : "A", 5), *order = schedule_with_control(plain, 4);
		int places[SAMPLE_ARMS] = { 0 };

		g_assert_cmpstr(order, ==, first ? "BCAACBBCAACBBA" : "ACBBCAACBBCAAB");
		for (int i = 0; i < 12; i++)
			places[order[i] - 'A'] += i;
		g_assert_cmpint(places[SAMPLE_ARM_BASE], ==, 22);
		g_assert_cmpint(places[SAMPLE_ARM_PATCHED], ==, 22);
		g_assert_cmpint(places[SAMPLE_ARM_CONTROL], ==, 22);
		g_autofree char *longer = schedule_extend(order, 5);
		g_assert_cmpstr(longer, ==, plain);
	}
}

/* Without its control boots an order is made as it would be without a control arm. */
static void test_control_boots(void)
{
	expect("ACBBCA", 10, NULL, 0, "A0C0B0B1C1A1");
	expect("ACBBCAAB", 1, NULL, 0, "A0C0B0B1C1A1A2B2");
	expect("ACBBCA", 10, (int[]){ 2 }, 1, "A0C0B0xB1C1A1B0");
	expect("ACBBCA", 10, (int[]){ 0, 2 }, 2, "A0xC0B0xB1C1A1A0B0");
	expect("BCAACB", 10, (int[]){ 0, 2 }, 2, "B0xC0A0xA1C1B1B0A0");
	/* a control boot that fails is not made again */
	expect("ACBBCA", 10, (int[]){ 1, 4 }, 2, "A0C0xB0B1C1xA1");
}

static void test_control_replaced(void)
{
	static const char *const reasons[] = { SCHEDULE_DISTURBED, SCHEDULE_EXCUSED, "panic", "lost" };

	for (gsize i = 0; i < G_N_ELEMENTS(reasons); i++) {
		g_autoptr(GArray) boots = boots_new();
		gboolean again;
		SampleArm arm;
		int pair;

		add(boots, 0, SAMPLE_ARM_BASE, "");
		add(boots, 0, SAMPLE_ARM_CONTROL, reasons[i]);
		add(boots, 0, SAMPLE_ARM_PATCHED, "");
		again = schedule_next("ACB", 1, boots, &pair, &arm);
		g_assert_cmpint(again, ==, i < 2);
		g_assert_cmpint(schedule_left("ACB", 1, boots), ==, again ? 1 : 0);
		if (again)
			g_assert_cmpint(arm, ==, SAMPLE_ARM_CONTROL);
	}
}

static void test_sound(void)
{
	static const char *const sound[] = { "AB", "BA", "ABBA", "ACBBCA", "BCAACBBA" };
	static const char *const not[] = { "", "A", "ABA", "CAB", "ABC ", "ABBAABBAAB", "ACCB", "abba" };

	for (gsize i = 0; i < G_N_ELEMENTS(sound); i++)
		g_assert_true(schedule_order_is_sound(sound[i], 4));
	for (gsize i = 0; i < G_N_ELEMENTS(not); i++)
		g_assert_false(schedule_order_is_sound(not[i], 4));
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

/* A control boot says nothing about the base, or a job would end for it. */
static void test_failed_control(void)
{
	g_autoptr(GArray) boots = boots_new();

	for (int pair = 0; pair < 4; pair++)
		add(boots, pair, SAMPLE_ARM_CONTROL, "panic");
	expect_failed(boots, 0, -1, NULL);
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

/* Threads that are not where they belong are not the kernel's doing. */
/* What the lab lost is made again in its place, so that the order stays. */
static void test_lost_at_once(void)
{
	g_autoptr(GArray) boots = g_array_new(FALSE, FALSE, sizeof(ScheduleBoot));
	int pair;
	SampleArm arm;

	for (int i = 0; i < 3; i++) {
		g_assert_true(schedule_next("ABBA", 2, boots, &pair, &arm));
		g_assert_cmpint(pair, ==, 0);
		g_assert_cmpint(arm, ==, SAMPLE_ARM_BASE);
		add(boots, 0, SAMPLE_ARM_BASE, "lost");
	}
	add(boots, 0, SAMPLE_ARM_BASE, "");
	g_assert_true(schedule_next("ABBA", 2, boots, &pair, &arm));
	g_assert_cmpint(pair, ==, 0);
	g_assert_cmpint(arm, ==, SAMPLE_ARM_PATCHED);
}

static void test_misplaced(void)
{
	g_autoptr(GArray) boots = boots_new();

	add(boots, 0, SAMPLE_ARM_BASE, "");
	add(boots, 0, SAMPLE_ARM_PATCHED, SCHEDULE_MISPLACED);
	add(boots, 0, SAMPLE_ARM_PATCHED, SCHEDULE_MISPLACED);
	expect_failed(boots, 2, -1, NULL);
	add(boots, 0, SAMPLE_ARM_PATCHED, SCHEDULE_MISPLACED);
	expect_failed(boots, 2, SAMPLE_ARM_PATCHED, SCHEDULE_MISPLACED);
	g_assert_true(schedule_is_labs_fault(SCHEDULE_MISPLACED) && schedule_is_labs_fault("lost"));
	g_assert_false(schedule_is_labs_fault("") || schedule_is_labs_fault("panic"));
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/schedule/order", test_order);
	g_test_add_func("/schedule/lost-at-once", test_lost_at_once);
	g_test_add_func("/schedule/replacements", test_replacements);
	g_test_add_func("/schedule/portions", test_portions);
	g_test_add_func("/schedule/control-order", test_control_order);
	g_test_add_func("/schedule/control-boots", test_control_boots);
	g_test_add_func("/schedule/control-replaced", test_control_replaced);
	g_test_add_func("/schedule/sound", test_sound);
	g_test_add_func("/schedule/failed", test_failed);
	g_test_add_func("/schedule/failed-control", test_failed_control);
	g_test_add_func("/schedule/failed-both", test_failed_both);
	g_test_add_func("/schedule/failed-sometimes", test_failed_sometimes);
	g_test_add_func("/schedule/lost", test_lost);
	g_test_add_func("/schedule/misplaced", test_misplaced);
	return g_test_run();
}
