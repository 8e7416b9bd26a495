/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Measuring in looks, with boots that are made up: when it stops, why, and that a stage that dies goes on as if it had not. */
#include <glib/gstdio.h>
#include <math.h>
#include <string.h>

#include "jobs/measure-loop.h"
#include "jobs/measure-samples.h"
#include "jobs/spec/file.h"

#define PATHS 20000
#define START_NS G_GINT64_CONSTANT(1764540000000000000)
#define SECOND_NS G_GINT64_CONSTANT(1000000000)

/* A lab without machines. What a boot measures follows from its number, its arm and the seed. */
typedef struct {
	char *dir;
	int job, max_boots, more_boots;
	const char *rule;
	double alpha, min_effect;
	double sd, factor[2];	/* of boots on the log scale; of the patched arm, one a parameter set */
	int sets;
	const int *failing;	/* numbers of boots that fail, ended by -1; NULL: none */
	const char *reason;
	guint32 seed;
	int dies_at;		/* the stage is gone before this boot, from 1 on, is in the events; 0: never */
	gboolean after_samples;	/* but its samples are there */
	guint made;		/* boots, in all lives */
	MeasureLoop loop;
} World;

#define WORLD(...) complete((World){ __VA_ARGS__ })

/* What a world does not say. */
static World complete(World world)
{
	world.job = 9;
	world.max_boots = world.max_boots ? world.max_boots : 10;
	world.rule = world.rule ? world.rule : "auto";
	world.alpha = world.alpha ? world.alpha : .05;
	world.min_effect = world.min_effect ? world.min_effect : 1;
	world.sets = world.sets ? world.sets : 1;
	world.seed = world.seed ? world.seed : 1;
	for (int i = 0; i < 2; i++)
		world.factor[i] = world.factor[i] ? world.factor[i] : 1;
	return world;
}

static double gauss(GRand *random)
{
	double sum = -6;

	for (int i = 0; i < 12; i++)
		sum += g_rand_double(random);
	return sum;
}

static gboolean fails(const World *world, int boot)
{
	for (const int *number = world->failing; number && *number >= 0; number++)
		if (*number == boot)
			return TRUE;
	return FALSE;
}

static void measure(const World *world, int boot, SampleArm arm, GuestRun *runs, BootResult *result)
{
	static const BenchmarkMetric metric = { .name = (char *)"time", .unit = (char *)"ms", .primary = TRUE };
	g_autoptr(GRand) random = g_rand_new_with_seed(world->seed * 1000 + (guint32)boot);

	for (int set = 0; set < world->sets; set++) {
		double level = 20 * (set + 1) * exp(world->sd * gauss(random)) *
			       (arm == SAMPLE_ARM_PATCHED ? world->factor[set] : 1);

		for (int pass = 0; pass <= 3; pass++) {
			BootSample sample = { &runs[set], &metric, pass, pass ? level : 9 * level };
			g_array_append_val(result->samples, sample);
		}
	}
}

static void tell_boot(World *world, int boot, const MeasureNext *next, const BootResult *result)
{
	JsonObject *members = json_object_new();

	json_object_set_int_member(members, "boot", boot);
	json_object_set_int_member(members, "pair", next->pair);
	json_object_set_string_member(members, "arm", sample_arm_to_string(next->arm));
	json_object_set_string_member(members, "reason", result->reason);
	json_object_set_int_member(members, "start_ns", result->start_ns);
	json_object_set_int_member(members, "end_ns", result->start_ns + 8 * SECOND_NS);
	json_object_set_int_member(members, "samples", result->samples->len);
	g_assert_true(stage_event(world->loop.stage, "boot", members, TRUE));
}

static gboolean make_boot(gpointer user, const MeasureNext *next)
{
	World *world = user;
	MeasureHistory *history = world->loop.history;
	int boot = (int)history->boots->len;
	BenchmarkSet sets[2] = { { .benchmark = (char *)"aging", .params = (char *)"nproc=1;lru=mglru" },
				 { .benchmark = (char *)"aging", .params = (char *)"nproc=8;lru=mglru" } };
	GuestRun runs[2] = { { .set = &sets[0], .run = 1 }, { .set = &sets[1], .run = 1 } };
	BootResult result = { .reason = fails(world, boot) ? world->reason : "",
			      .start_ns = START_NS + boot * 9 * SECOND_NS + boot % 3 * SECOND_NS,
			      .samples = g_array_new(FALSE, FALSE, sizeof(BootSample)) };

	g_assert_cmpint(next->left, <=, next->left_at_most);
	world->made++;
	if (world->dies_at == boot + 1 && !world->after_samples) {
		g_array_unref(result.samples);
		return FALSE;
	}
	if (!*result.reason || g_str_equal(result.reason, "truncated"))
		measure(world, boot, next->arm, runs, &result);
	g_assert_true(measure_samples_append(world->dir, world->loop.stage->spec, "lab1", CLOCK_TCG, boot, next->pair,
					     next->arm, &result, NULL));
	if (world->dies_at != boot + 1) {
		tell_boot(world, boot, next, &result);
		measure_history_add_boot(history, next->pair, next->arm, result.reason, result.samples->len, 8 * SECOND_NS);
	}
	g_array_unref(result.samples);
	return world->dies_at != boot + 1;
}

static void write_spec(const World *world)
{
	g_autoptr(JobSpec) spec = job_spec_new();
	g_autoptr(JobPlace) place = job_place_new();

	spec->job = world->job;
	spec->max_boots = world->max_boots;
	spec->more_boots = world->more_boots;
	g_free(spec->rule);
	spec->rule = g_strdup(world->rule);
	spec->alpha = world->alpha;
	spec->min_effect_pct = world->min_effect;
	spec->seed = 5;
	g_free(place->cache_dir);
	place->cache_dir = g_build_filename(world->dir, "cache", NULL);
	place->max_failed_boots = 3;
	g_assert_true(job_spec_save(spec, world->dir, NULL));
	g_assert_true(job_place_save(place, world->dir, NULL));
}

/* One life of the stage; TRUE: there is a result. */
static gboolean live(World *world)
{
	g_autoptr(StageContext) stage = NULL;
	g_autoptr(MeasureHistory) history = NULL;
	g_autoptr(GError) error = NULL;
	int status;

	stage_open("measure", world->dir, &stage, &status, &error);
	g_assert_no_error(error);
	measure_history_load(world->dir, &history, &error);
	g_assert_no_error(error);
	g_assert_true(measure_samples_cut(world->dir, history->samples, NULL));
	if (!history->plan) {
		history->plan = measure_plan_new(stage->spec);
		g_assert_true(stage_event(stage, "plan", measure_plan_to_json(history->plan, stage->spec->seed), TRUE));
	}
	world->loop = (MeasureLoop){ .stage = stage, .history = history, .paths = PATHS, .boot = make_boot, .user = world };
	gboolean done = stage->ended || (measure_loop(&world->loop) && measure_more(&world->loop));
	if (done || stage->failure)
		g_assert_cmpint(stage_finish(stage, done, "done", ""), ==, STAGE_EXIT_ENDED);
	return done;
}

static void begin(World *world)
{
	world->dir = g_dir_make_tmp("measure-loop-XXXXXX", NULL);
	write_spec(world);
}

static void remove_tree(const char *path)
{
	g_autoptr(GDir) dir = g_dir_open(path, 0, NULL);
	const char *name;

	while (dir && (name = g_dir_read_name(dir))) {
		g_autofree char *below = g_build_filename(path, name, NULL);
		remove_tree(below);
	}
	g_remove(path);
}

static void end(World *world)
{
	remove_tree(world->dir);
	g_clear_pointer(&world->dir, g_free);
}

typedef struct {
	const char *type;
	GPtrArray *objects;
} Wanted;

static gboolean take_event(gint64 seq G_GNUC_UNUSED, const char *type, JsonObject *object, gpointer data,
			   GError **error G_GNUC_UNUSED)
{
	Wanted *wanted = data;

	if (g_str_equal(type, wanted->type))
		g_ptr_array_add(wanted->objects, json_object_ref(object));
	return TRUE;
}

static GPtrArray *events(const World *world, const char *type)
{
	Wanted wanted = { type, g_ptr_array_new_with_free_func((GDestroyNotify)json_object_unref) };
	gint64 offset = 0;

	g_assert_true(event_read(world->dir, &offset, 0, take_event, &wanted, NULL));
	return wanted.objects;
}

/* The last stored result of a type, as text; there are so many. */
static char *stored_as(const World *world, const char *type, guint count)
{
	g_autoptr(GPtrArray) list = events(world, type);
	g_autoptr(GError) error = NULL;

	g_assert_cmpuint(list->len, ==, count);
	JsonNode *node = json_object_get_member(g_ptr_array_index(list, count - 1), "result");
	g_autoptr(StatsResult) result = stats_result_from_json(node, &error);
	g_assert_no_error(error);
	return stats_result_to_json_text(result);
}

static char *stored(const World *world)
{
	return stored_as(world, "result", 1);
}

static StatsResult *parse(const char *text)
{
	g_autoptr(JsonNode) node = json_from_string(text, NULL);

	return stats_result_from_json(node, NULL);
}

static StatsResult *result_of(const World *world)
{
	g_autofree char *text = stored(world);

	return parse(text);
}

static const StatsComparison *at(const StatsResult *result, guint i)
{
	g_assert_cmpuint(i, <, result->comparisons->len);
	return g_ptr_array_index(result->comparisons, i);
}

static void assert_pattern(const char *text, const char *pattern)
{
	if (!g_pattern_match_simple(pattern, text))
		g_error("%s", text);
}

/* From samples.csv alone, as a stranger would. */
static void assert_again(const World *world, const StatsOptions *options, const char *wanted)
{
	g_autofree char *csv = NULL, *got = NULL;
	g_autoptr(SampleTable) table = measure_samples_load(world->dir, 0, NULL), back = NULL;
	g_autoptr(StatsResult) result = NULL;

	csv = sample_table_to_csv(table);
	back = sample_table_from_csv(csv, strlen(csv), NULL);
	result = stats_analyse(back, options, NULL);
	got = stats_result_to_json_text(result);
	g_assert_cmpstr(got, ==, wanted);
}

static void assert_reproduced(const World *world, const StatsOptions *options)
{
	g_autofree char *wanted = stored(world);

	assert_again(world, options, wanted);
}

static StatsOptions plain(guint max_boots)
{
	return (StatsOptions){ .alpha = .05, .min_effect_pct = 1, .max_boots = max_boots, .paths = PATHS };
}

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
