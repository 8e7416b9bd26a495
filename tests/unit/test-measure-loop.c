/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Measuring in looks, with boots that are made up: when it stops, why, and that a stage that dies goes on as if it had not. */
#include "tests/unit/measure-fixture.h"

/* ---- when it stops ---- */

static void test_found(void)
{
	World world = WORLD(.sd = .002, .factor = { 1.1 });
	StatsOptions options = plain(0);

	begin(&world);
	g_assert_true(live(&world));
	g_autoptr(StatsResult) result = result_of(&world);
	g_autoptr(GPtrArray) looks = events(&world, "look");
	g_assert_cmpuint(world.made, ==, 8);
	g_assert_cmpint(result->rule, ==, STATS_RULE_SEQUENTIAL);
	g_assert_cmpint(result->stop, ==, STATS_STOP_FOUND);
	g_assert_cmpuint(result->look, ==, 1);
	g_assert_cmpuint(result->looks->len, ==, 4);
	g_assert_cmpuint(result->pairs, ==, 4);
	g_assert_cmpint(at(result, 0)->verdict, ==, STATS_VERDICT_REGRESSION);
	g_assert_true(at(result, 0)->early);
	assert_pattern(at(result, 0)->reason, "*found at look 1 of 4: the estimate of a change found early leans away from 0*");
	g_assert_cmpstr(at(result, 0)->method, ==, STATS_METHOD ", sequential");
	/* its interval is the repeated one: wider than the plain one of 95 % */
	g_assert_cmpfloat(at(result, 0)->ci_level, >, .96);
	g_assert_cmpuint(looks->len, ==, 1);
	JsonObject *look = g_ptr_array_index(looks, 0);
	g_assert_cmpstr(json_object_get_string_member(look, "stop"), ==, "found");
	g_assert_cmpint(json_object_get_int_member(look, "next_pairs"), ==, 0);
	/* a job with the default options needs no option */
	assert_reproduced(&world, &options);
	end(&world);
}

static void test_equivalent(void)
{
	World world = WORLD(.sd = .001);
	StatsOptions options = plain(0);

	begin(&world);
	g_assert_true(live(&world));
	g_autoptr(StatsResult) result = result_of(&world);
	g_assert_cmpuint(world.made, ==, 8);
	g_assert_cmpint(result->stop, ==, STATS_STOP_EQUIVALENT);
	g_assert_cmpint(at(result, 0)->verdict, ==, STATS_VERDICT_EQUIVALENT);
	g_assert_false(at(result, 0)->early);
	assert_reproduced(&world, &options);
	end(&world);
}

/* Nothing to find, and far too much noise to show that there is nothing. */
static void test_futile_and_end(void)
{
	guint futile = 0, ended = 0;

	for (guint32 seed = 1; seed <= 12; seed++) {
		World world = WORLD(.sd = .05, .seed = seed, .max_boots = 20);
		StatsOptions options = plain(20);

		begin(&world);
		g_assert_true(live(&world));
		g_autoptr(StatsResult) result = result_of(&world);
		if (result->stop == STATS_STOP_FUTILE) {
			futile++;
			g_assert_cmpuint(world.made, <, 40);
			g_assert_cmpint(at(result, 0)->verdict, ==, STATS_VERDICT_INCONCLUSIVE);
			assert_pattern(at(result, 0)->reason, "*stopped at look * of 6: more boots were not likely to decide it*");
		} else if (result->stop == STATS_STOP_END) {
			ended++;
			g_assert_cmpuint(world.made, ==, 40);
		}
		g_assert_cmpuint(world.made, ==, 2 * result->pairs);
		assert_reproduced(&world, &options);
		end(&world);
	}
	g_assert_cmpuint(futile, >=, 3);
	g_assert_cmpuint(futile + ended, >=, 9);
}

/* A set that is decided is left as it was, while the job goes on for another. */
static void test_decided_stays(void)
{
	guint apart = 0;

	for (guint32 seed = 1; seed <= 12; seed++) {
		World world = WORLD(.sd = .01, .factor = { 1.2, 1.012 }, .sets = 2, .seed = seed, .max_boots = 20);

		begin(&world);
		g_assert_true(live(&world));
		g_autoptr(StatsResult) result = result_of(&world);
		g_autoptr(GPtrArray) looks = events(&world, "look");
		g_assert_cmpint(at(result, 0)->verdict, ==, STATS_VERDICT_REGRESSION);
		g_assert_cmpuint(looks->len, ==, result->look);
		g_assert_cmpuint(at(result, 0)->boots[0], ==, g_array_index(result->looks, guint, at(result, 0)->look - 1));
		if (at(result, 0)->look < at(result, 1)->look) {
			JsonArray *brief = json_object_get_array_member(g_ptr_array_index(looks, at(result, 0)->look - 1),
									"comparisons");
			JsonObject *then = json_array_get_object_element(brief, 0);

			apart++;
			g_assert_cmpfloat(json_object_get_double_member(then, "change_pct"), ==, at(result, 0)->change_pct);
			g_assert_cmpstr(json_object_get_string_member(then, "stop"), ==, "found");
		}
		end(&world);
	}
	g_assert_cmpuint(apart, >=, 3);
}

/* Up to STATS_MIN_BOOTS boots there is one look only; and by fixed as many boots as asked for are made. */
static void test_fixed(void)
{
	const struct {
		int max_boots;
		const char *rule;
	} rows[] = { { 4, "auto" }, { 2, "auto" }, { 7, "fixed" } };

	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
		World world = WORLD(.sd = .001, .factor = { 1.1 }, .max_boots = rows[i].max_boots, .rule = rows[i].rule);
		StatsOptions options = plain((guint)rows[i].max_boots);

		begin(&world);
		g_assert_true(live(&world));
		g_autoptr(StatsResult) result = result_of(&world);
		g_autoptr(GPtrArray) looks = events(&world, "look");
		g_assert_cmpuint(world.made, ==, 2 * rows[i].max_boots);
		g_assert_cmpint(result->rule, ==, STATS_RULE_FIXED);
		g_assert_cmpuint(looks->len, ==, 0);
		g_assert_cmpuint(result->look, ==, 0);
		if (rows[i].max_boots == 7)
			assert_pattern(result->arguments, "--max-boots 7 --rule fixed");
		stats_rule_from_string(rows[i].rule, &options.rule);
		assert_reproduced(&world, &options);
		end(&world);
	}
}

/* ---- what happens on the way ---- */

/* The stage dies at any boot, its samples written or not: the result is the same to the bit, and no boot too many. */
static void test_dies(void)
{
	const int failing[] = { 3, 9, -1 };
	World whole = WORLD(.sd = .01, .factor = { 1.012 }, .failing = failing, .reason = "truncated", .seed = 7);

	begin(&whole);
	g_assert_true(live(&whole));
	g_autofree char *wanted = stored(&whole);
	g_assert_cmpuint(whole.made, >, 12);
	for (int boot = 0; boot < (int)whole.made; boot++)
		for (int samples = boot % 2, once = 1; once; once = 0) {
			World world = WORLD(.sd = .01, .factor = { 1.012 }, .failing = failing, .reason = "truncated", .seed = 7,
					    .dies_at = boot + 1, .after_samples = samples);

			begin(&world);
			g_assert_false(live(&world));
			world.dies_at = 0;
			g_assert_true(live(&world));
			g_autofree char *got = stored(&world);
			g_assert_cmpstr(got, ==, wanted);
			g_assert_cmpuint(world.made, ==, whole.made + 1);
			g_autoptr(GPtrArray) plans = events(&world, "plan");
			g_assert_cmpuint(plans->len, ==, 1);
			end(&world);
		}
	end(&whole);
}

/* It dies between a look's event and the result: nothing is told twice, and no boot is made. */
static void test_dies_at_the_end(void)
{
	World world = WORLD(.sd = .002, .factor = { 1.1 });
	g_autofree char *path = NULL, *text = NULL, *wanted = NULL;
	gsize keep;

	begin(&world);
	g_assert_true(live(&world));
	wanted = stored(&world);
	path = g_build_filename(world.dir, "events.jsonl", NULL);
	g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
	keep = (gsize)(strstr(text, "\"type\":\"result\"") - text);
	while (keep > 0 && text[keep - 1] != '\n')
		keep--;
	g_assert_true(g_file_set_contents(path, text, (gssize)keep + 20, NULL)); /* and in the middle of a line */
	g_assert_true(live(&world));
	g_assert_cmpuint(world.made, ==, 8);
	g_autofree char *got = stored(&world);
	g_autoptr(GPtrArray) looks = events(&world, "look");
	g_assert_cmpstr(got, ==, wanted);
	g_assert_cmpuint(looks->len, ==, 1);
	end(&world);
}

/* Boots that left no sample are not in samples.csv: the result's arguments say how many. */
static void test_failed_boots(void)
{
	const int failing[] = { 2, 5, -1 };
	World world = WORLD(.sd = .001, .failing = failing, .reason = "panic");
	StatsOptions options = plain(10);

	begin(&world);
	g_assert_true(live(&world));
	g_autoptr(StatsResult) result = result_of(&world);
	guint base = result->failures.failed[SAMPLE_ARM_BASE], patched = result->failures.failed[SAMPLE_ARM_PATCHED];
	g_assert_cmpuint(world.made, ==, 10);
	g_assert_cmpuint(base + patched, ==, 2);
	g_assert_cmpuint(at(result, 0)->boots[0], ==, 4);
	g_autofree char *wanted = g_strdup_printf("--max-boots 10%s%s", base ? " --failed-base *" : "",
						  patched ? " --failed-patched *" : "");
	assert_pattern(result->arguments, wanted);
	options.failed_boots[SAMPLE_ARM_BASE] = base;
	options.failed_boots[SAMPLE_ARM_PATCHED] = patched;
	assert_reproduced(&world, &options);
	end(&world);
}

/* An arm that fails again and again ends the job at whatever look. */
static void test_fails_for_good(void)
{
	const int failing[] = { 0, 1, 2, 3, 4, 5, 6, 7, -1 };
	World world = WORLD(.sd = .001, .failing = failing, .reason = "panic");

	begin(&world);
	g_assert_false(live(&world));
	g_autoptr(GPtrArray) ends = events(&world, "end");
	g_assert_cmpuint(ends->len, ==, 1);
	g_assert_cmpstr(json_object_get_string_member(g_ptr_array_index(ends, 0), "state"), ==, "boot-failed");
	g_assert_cmpuint(world.made, <, 8);
	end(&world);
}

/* The plan was stored before the first boot: what spec.json says later is not asked. */
static void test_plan_stays(void)
{
	World world = WORLD(.sd = .001, .factor = { 1.004 }, .alpha = .01, .min_effect = 2, .max_boots = 6, .dies_at = 3);
	StatsOptions options = { .alpha = .01, .min_effect_pct = 2, .max_boots = 6, .paths = PATHS };

	begin(&world);
	g_assert_false(live(&world));
	g_autoptr(GPtrArray) plans = events(&world, "plan");
	JsonObject *plan = g_ptr_array_index(plans, 0);
	g_assert_cmpstr(json_object_get_string_member(plan, "rule"), ==, "sequential");
	g_assert_cmpstr(json_object_get_string_member(plan, "more"), ==, "open-ended");
	g_assert_cmpstr(json_object_get_string_member(plan, "method"), ==, STATS_METHOD);
	g_assert_cmpuint(json_array_get_length(json_object_get_array_member(plan, "looks")), ==, 2);
	world.alpha = .5;
	world.min_effect = .1;
	world.max_boots = 50;
	world.rule = "fixed";
	world.dies_at = 0;
	write_spec(&world);
	g_assert_true(live(&world));
	g_autoptr(StatsResult) result = result_of(&world);
	g_assert_cmpint(result->rule, ==, STATS_RULE_SEQUENTIAL);
	g_assert_cmpuint(result->max_boots, ==, 6);
	g_assert_cmpint(at(result, 0)->verdict, ==, STATS_VERDICT_EQUIVALENT);
	assert_pattern(result->arguments, "--max-boots 6 --alpha 0.01 --min-effect 2");
	assert_reproduced(&world, &options);
	end(&world);
}

/* ---- boots added afterwards ---- */

static World undecided(void)
{
	return WORLD(.sd = .02, .factor = { 1.02 }, .max_boots = 6, .seed = 5);
}

/* The first result stays to the bit, the second is of all boots by the open-ended rule; both come from the samples. */
static void test_more(void)
{
	World world = undecided();
	StatsOptions first = plain(6), second = plain(12);
	g_autofree char *before = NULL, *after = NULL, *more = NULL, *last = NULL;

	begin(&world);
	g_assert_true(live(&world));
	before = stored(&world);
	g_autoptr(StatsResult) result = parse(before);
	g_assert_cmpint(at(result, 0)->verdict, ==, STATS_VERDICT_INCONCLUSIVE);
	g_assert_cmpuint(world.made, ==, 12);
	g_assert_true(live(&world)); /* nothing is asked for */
	g_assert_cmpuint(world.made, ==, 12);

	world.more_boots = 6;
	write_spec(&world);
	g_assert_true(live(&world));
	g_assert_cmpuint(world.made, ==, 24);
	after = stored(&world);
	g_assert_cmpstr(after, ==, before);
	more = stored_as(&world, "more-result", 1);
	g_autoptr(StatsResult) open = parse(more);
	g_assert_cmpint(open->rule, ==, STATS_RULE_OPEN_ENDED);
	g_assert_cmpuint(open->pairs, ==, 12);
	g_assert_cmpuint(at(open, 0)->boots[SAMPLE_ARM_PATCHED], ==, 12);
	g_assert_cmpstr(at(open, 0)->method, ==, STATS_METHOD ", open-ended");
	assert_pattern(at(open, 0)->reason, "*p and interval hold however often boots are added*");
	assert_pattern(open->arguments, "--max-boots 12 --rule open-ended");
	assert_again(&world, &first, before);
	second.rule = STATS_RULE_OPEN_ENDED;
	assert_again(&world, &second, more);

	/* and more again: the same process goes on */
	world.more_boots = 10;
	write_spec(&world);
	g_assert_true(live(&world));
	g_assert_cmpuint(world.made, ==, 32);
	last = stored_as(&world, "more-result", 2);
	g_autoptr(StatsResult) longer = parse(last);
	g_assert_cmpuint(longer->pairs, ==, 16);
	g_assert_cmpfloat(at(longer, 0)->p, <=, at(open, 0)->p); /* E never forgets what it has seen */
	g_autoptr(GPtrArray) ends = events(&world, "end");
	g_assert_cmpuint(ends->len, ==, 3);
	end(&world);
}

/* It dies at any of the added boots: the same to the bit. */
static void test_more_dies(void)
{
	const int failing[] = { 13, -1 };
	World whole = undecided();
	g_autofree char *wanted = NULL;

	whole.failing = failing;
	whole.reason = "panic";
	begin(&whole);
	g_assert_true(live(&whole));
	whole.more_boots = 2;
	write_spec(&whole);
	g_assert_true(live(&whole));
	wanted = stored_as(&whole, "more-result", 1);
	g_assert_cmpuint(whole.made, ==, 17);
	for (int boot = 12; boot < 17; boot++) {
		World world = undecided();

		world.failing = failing;
		world.reason = "panic";
		begin(&world);
		g_assert_true(live(&world));
		world.more_boots = 2;
		write_spec(&world);
		world.dies_at = boot + 1;
		g_assert_false(live(&world));
		world.dies_at = 0;
		g_assert_true(live(&world));
		g_autofree char *got = stored_as(&world, "more-result", 1);
		g_assert_cmpstr(got, ==, wanted);
		g_autoptr(GPtrArray) plans = events(&world, "more");
		g_assert_cmpuint(plans->len, ==, 1);
		end(&world);
	}
	end(&whole);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/measure-loop/found", test_found);
	g_test_add_func("/measure-loop/equivalent", test_equivalent);
	g_test_add_func("/measure-loop/futile-and-end", test_futile_and_end);
	g_test_add_func("/measure-loop/decided-stays", test_decided_stays);
	g_test_add_func("/measure-loop/fixed", test_fixed);
	g_test_add_func("/measure-loop/dies", test_dies);
	g_test_add_func("/measure-loop/dies-at-the-end", test_dies_at_the_end);
	g_test_add_func("/measure-loop/failed-boots", test_failed_boots);
	g_test_add_func("/measure-loop/fails-for-good", test_fails_for_good);
	g_test_add_func("/measure-loop/plan-stays", test_plan_stays);
	g_test_add_func("/measure-loop/more", test_more);
	g_test_add_func("/measure-loop/more-dies", test_more_dies);
	return g_test_run();
}
