/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Measuring in looks with boots that are made up: a lab without machines. */
#pragma once

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
	int control_every;
	double control_factor;	/* of the control arm, which is a false alarm; 0: 1 */
	gboolean control_fails;
	guint32 seed;
	int dies_at;		/* the stage is gone before this boot, from 1 on, is in the events; 0: never */
	gboolean after_samples;	/* but its samples are there */
	guint made;		/* boots, in all lives */
	MeasureLoop loop;
} World;

#define WORLD(...) complete((World){ __VA_ARGS__ })

/* What a world does not say. */
static inline World complete(World world)
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

static inline double gauss(GRand *random)
{
	double sum = -6;

	for (int i = 0; i < 12; i++)
		sum += g_rand_double(random);
	return sum;
}

static inline gboolean fails(const World *world, int boot, SampleArm arm)
{
	if (arm == SAMPLE_ARM_CONTROL && world->control_fails)
		return TRUE;
	for (const int *number = world->failing; number && *number >= 0; number++)
		if (*number == boot)
			return TRUE;
	return FALSE;
}

static inline void measure(const World *world, int boot, SampleArm arm, GuestRun *runs, BootResult *result)
{
	static const BenchmarkMetric metric = { .name = (char *)"time", .unit = (char *)"ms", .primary = TRUE };
	g_autoptr(GRand) random = g_rand_new_with_seed(world->seed * 1000 + (guint32)boot);

	for (int set = 0; set < world->sets; set++) {
		const double factor[] = { 1, world->factor[set], world->control_factor ? world->control_factor : 1 };
		double level = 20 * (set + 1) * exp(world->sd * gauss(random)) * factor[arm];

		for (int pass = 0; pass <= 3; pass++) {
			BootSample sample = { &runs[set], &metric, pass, pass ? level : 9 * level };
			g_array_append_val(result->samples, sample);
		}
	}
}

static inline void tell_boot(World *world, int boot, const MeasureNext *next, const BootResult *result)
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

static inline gboolean make_boot(gpointer user, const MeasureNext *next)
{
	World *world = user;
	MeasureHistory *history = world->loop.history;
	int boot = (int)history->boots->len;
	BenchmarkSet sets[2] = { { .benchmark = (char *)"aging", .params = (char *)"nproc=1;lru=mglru" },
				 { .benchmark = (char *)"aging", .params = (char *)"nproc=8;lru=mglru" } };
	GuestRun runs[2] = { { .set = &sets[0], .run = 1 }, { .set = &sets[1], .run = 1 } };
	BootResult result = { .reason = fails(world, boot, next->arm) ? world->reason : "",
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

static inline void write_spec(const World *world)
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
	place->control_every = world->control_every;
	g_assert_true(job_spec_save(spec, world->dir, NULL));
	g_assert_true(job_place_save(place, world->dir, NULL));
}

/* One life of the stage; TRUE: there is a result. */
static inline gboolean live(World *world)
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
		history->plan = measure_plan_new(stage->spec, stage->place->control_every);
		g_assert_true(stage_event(stage, "plan", measure_plan_to_json(history->plan, stage->spec->seed), TRUE));
	}
	world->loop = (MeasureLoop){ .stage = stage, .history = history, .paths = PATHS, .boot = make_boot, .user = world };
	gboolean done = stage->ended || (measure_loop(&world->loop) && measure_more(&world->loop));
	if (done || stage->failure)
		g_assert_cmpint(stage_finish(stage, done, "done", ""), ==, STAGE_EXIT_ENDED);
	return done;
}

static inline void begin(World *world)
{
	world->dir = g_dir_make_tmp("measure-loop-XXXXXX", NULL);
	write_spec(world);
}

static inline void remove_tree(const char *path)
{
	g_autoptr(GDir) dir = g_dir_open(path, 0, NULL);
	const char *name;

	while (dir && (name = g_dir_read_name(dir))) {
		g_autofree char *below = g_build_filename(path, name, NULL);
		remove_tree(below);
	}
	g_remove(path);
}

static inline void end(World *world)
{
	remove_tree(world->dir);
	g_clear_pointer(&world->dir, g_free);
}

typedef struct {
	const char *type;
	GPtrArray *objects;
} Wanted;

static inline gboolean take_event(gint64 seq G_GNUC_UNUSED, const char *type, JsonObject *object, gpointer data,
			   GError **error G_GNUC_UNUSED)
{
	Wanted *wanted = data;

	if (g_str_equal(type, wanted->type))
		g_ptr_array_add(wanted->objects, json_object_ref(object));
	return TRUE;
}

static inline GPtrArray *events(const World *world, const char *type)
{
	Wanted wanted = { type, g_ptr_array_new_with_free_func((GDestroyNotify)json_object_unref) };
	gint64 offset = 0;

	g_assert_true(event_read(world->dir, &offset, 0, take_event, &wanted, NULL));
	return wanted.objects;
}

/* The last stored result of a type, as text; there are so many. */
static inline char *stored_as(const World *world, const char *type, guint count)
{
	g_autoptr(GPtrArray) list = events(world, type);
	g_autoptr(GError) error = NULL;

	g_assert_cmpuint(list->len, ==, count);
	JsonNode *node = json_object_get_member(g_ptr_array_index(list, count - 1), "result");
	g_autoptr(StatsResult) result = stats_result_from_json(node, &error);
	g_assert_no_error(error);
	return stats_result_to_json_text(result);
}

static inline char *stored(const World *world)
{
	return stored_as(world, "result", 1);
}

static inline StatsResult *parse(const char *text)
{
	g_autoptr(JsonNode) node = json_from_string(text, NULL);

	return stats_result_from_json(node, NULL);
}

static inline StatsResult *result_of(const World *world)
{
	g_autofree char *text = stored(world);

	return parse(text);
}

static const StatsComparison *at(const StatsResult *result, guint i)
{
	g_assert_cmpuint(i, <, result->comparisons->len);
	return g_ptr_array_index(result->comparisons, i);
}

static inline void assert_pattern(const char *text, const char *pattern)
{
	if (!g_pattern_match_simple(pattern, text))
		g_error("%s", text);
}

/* From samples.csv alone, as a stranger would. */
static inline void assert_again(const World *world, const StatsOptions *options, const char *wanted)
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

static inline void assert_reproduced(const World *world, const StatsOptions *options)
{
	g_autofree char *wanted = stored(world);

	assert_again(world, options, wanted);
}

static inline StatsOptions plain(guint max_boots)
{
	return (StatsOptions){ .alpha = .05, .min_effect_pct = 1, .max_boots = max_boots, .paths = PATHS };
}
