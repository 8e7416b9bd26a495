/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A control arm: what it compares, and that the job is none the worse for it. */
#include "jobs/stats/control.h"
#include "tests/unit/measure-fixture.h"

/* From samples.csv alone, as regrlab analyze --control does. */
static void assert_control_reproduced(const World *world)
{
	g_autofree char *wanted = stored_as(world, "control", 1), *csv = NULL, *got = NULL;
	g_autoptr(SampleTable) table = measure_samples_load(world->dir, 0, NULL), back = NULL;
	g_autoptr(StatsResult) result = NULL;
	StatsOptions options = STATS_OPTIONS_DEFAULT;

	csv = sample_table_to_csv(table);
	back = sample_table_from_csv(csv, strlen(csv), NULL);
	g_assert_true(stats_has_control(back));
	result = stats_analyse_control(back, &options, NULL);
	got = stats_result_to_json_text(result);
	g_assert_cmpstr(got, ==, wanted);
}

static StatsResult *control_of(const World *world)
{
	g_autofree char *text = stored_as(world, "control", 1);

	return parse(text);
}

/* Four boots more in the first pairs, compared with the first four of the base; the job's own result has none of them. */
static void test_control(void)
{
	World world = WORLD(.sd = .002, .factor = { 1.02 }, .control_every = 1, .alpha = .01, .min_effect = 3);
	StatsOptions options = { .alpha = .01, .min_effect_pct = 3, .max_boots = 10, .paths = PATHS };

	begin(&world);
	g_assert_true(live(&world));
	g_autoptr(StatsResult) result = result_of(&world), control = control_of(&world);
	g_autoptr(GPtrArray) plans = events(&world, "plan");
	g_assert_cmpuint(world.made, ==, 2 * result->pairs + 4);
	g_assert_cmpuint(at(result, 0)->boots[SAMPLE_ARM_BASE], ==, result->pairs);
	g_assert_cmpuint(strcspn(json_object_get_string_member(g_ptr_array_index(plans, 0), "order"), "C"), ==, 1);
	assert_reproduced(&world, &options);

	g_assert_cmpint(control->rule, ==, STATS_RULE_FIXED);
	g_assert_cmpuint(control->max_boots, ==, 4);
	g_assert_cmpfloat(control->alpha, ==, .05); /* the ledger's rate, whatever the job's is */
	g_assert_cmpuint(at(control, 0)->boots[0], ==, 4);
	g_assert_cmpuint(at(control, 0)->boots[1], ==, 4);
	g_assert_cmpint(at(control, 0)->verdict, ==, STATS_VERDICT_EQUIVALENT);
	g_assert_cmpstr(control->arguments, ==, "--control --max-boots 4");
	assert_control_reproduced(&world);
	end(&world);
}

/* Which boots the control arm is compared with does not depend on how long the job goes on, or it would not be fair. */
static void test_control_of_a_long_job(void)
{
	World world = WORLD(.sd = .02, .factor = { 1.02 }, .max_boots = 6, .seed = 1, .control_every = 1);

	begin(&world);
	g_assert_true(live(&world));
	g_autoptr(StatsResult) result = result_of(&world), control = control_of(&world);
	g_assert_cmpuint(result->pairs, ==, 6);
	g_assert_cmpuint(world.made, ==, 16);
	g_assert_cmpuint(at(control, 0)->boots[0], ==, 4);
	assert_control_reproduced(&world);

	/* boots that are added are of the two arms alone */
	world.more_boots = 2;
	write_spec(&world);
	g_assert_true(live(&world));
	g_assert_cmpuint(world.made, ==, 20);
	g_autoptr(GPtrArray) told = events(&world, "control");
	g_assert_cmpuint(told->len, ==, 1);
	end(&world);
}

/* A host on which the base differs from itself: an alarm, and the job's verdict is what it would have been. */
static void test_control_alarm(void)
{
	World world = WORLD(.sd = .001, .control_every = 1, .control_factor = 1.05);

	begin(&world);
	g_assert_true(live(&world));
	g_autoptr(StatsResult) result = result_of(&world), control = control_of(&world);
	g_assert_cmpint(at(result, 0)->verdict, ==, STATS_VERDICT_EQUIVALENT);
	g_assert_cmpint(at(control, 0)->verdict, ==, STATS_VERDICT_REGRESSION);
	assert_control_reproduced(&world);
	end(&world);
}

/* Control boots that fail cost the comparison, and neither the job nor its rate of failures. */
static void test_control_fails(void)
{
	World world = WORLD(.sd = .001, .control_every = 1, .control_fails = TRUE, .reason = "panic");

	begin(&world);
	g_assert_true(live(&world));
	g_autoptr(StatsResult) result = result_of(&world), control = control_of(&world);
	g_assert_cmpuint(world.made, ==, 12);
	g_assert_cmpint(at(result, 0)->verdict, ==, STATS_VERDICT_EQUIVALENT);
	g_assert_cmpuint(result->failures.failed[SAMPLE_ARM_BASE], ==, 0);
	g_assert_cmpuint(result->failures.boots[SAMPLE_ARM_BASE], ==, 4);
	g_assert_cmpint(at(control, 0)->verdict, ==, STATS_VERDICT_INSUFFICIENT);
	end(&world);
}

/* The stage dies at any boot; whether there is a control arm was in the plan, and is not asked again. */
static void test_control_dies(void)
{
	const int failing[] = { 3, 6, -1 };
	World whole = WORLD(.sd = .002, .factor = { 1.1 }, .failing = failing, .reason = "disturbed", .control_every = 1);

	begin(&whole);
	g_assert_true(live(&whole));
	g_autofree char *wanted = stored(&whole), *wanted_control = stored_as(&whole, "control", 1);
	g_assert_cmpuint(whole.made, ==, 14);
	for (int boot = 0; boot < 14; boot++) {
		World world = WORLD(.sd = .002, .factor = { 1.1 }, .failing = failing, .reason = "disturbed", .control_every = 1,
				    .dies_at = boot + 1, .after_samples = boot % 2);

		begin(&world);
		g_assert_false(live(&world));
		world.dies_at = world.control_every = 0;
		write_spec(&world);
		g_assert_true(live(&world));
		g_autofree char *got = stored(&world), *got_control = stored_as(&world, "control", 1);
		g_assert_cmpstr(got, ==, wanted);
		g_assert_cmpstr(got_control, ==, wanted_control);
		g_assert_cmpuint(world.made, ==, 15);
		end(&world);
	}
	end(&whole);
}

/* One of every ten jobs in a row, and not always the same of them; too small jobs have none. */
static void test_control_share(void)
{
	guint drawn = 0, places = 0, last = 10;
	World world = WORLD(.sd = .001, .max_boots = 3, .control_every = 1);

	for (gint64 block = 0; block < 300; block++) {
		guint of_block = 0;

		for (guint i = 0; i < 10; i++) {
			if (!measure_plan_draws_control(10 * block + i, 10))
				continue;
			of_block++;
			places += i != last;
			last = i;
		}
		g_assert_cmpuint(of_block, ==, 1);
		drawn += of_block;
	}
	g_assert_cmpuint(drawn, ==, 300);
	g_assert_cmpuint(places, >, 200);
	for (gint64 job = 0; job < 100; job++) {
		g_assert_true(measure_plan_draws_control(job, 1));
		g_assert_false(measure_plan_draws_control(job, 0));
	}
	begin(&world);
	g_assert_true(live(&world));
	g_assert_cmpuint(world.made, ==, 6);
	g_autoptr(GPtrArray) told = events(&world, "control");
	g_assert_cmpuint(told->len, ==, 0);
	end(&world);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/measure-control/control", test_control);
	g_test_add_func("/measure-control/of-a-long-job", test_control_of_a_long_job);
	g_test_add_func("/measure-control/alarm", test_control_alarm);
	g_test_add_func("/measure-control/fails", test_control_fails);
	g_test_add_func("/measure-control/dies", test_control_dies);
	g_test_add_func("/measure-control/share", test_control_share);
	return g_test_run();
}
