/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <glib.h>
#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <math.h>
#include <string.h>

#include "jobs/stats/bisect.h"

#define BOOT_NS G_GINT64_CONSTANT(9000000000)

/* A made-up history of commits 0 … last, and the bisect of it. */
typedef struct {
	gsize last, culprit, other; /* other 0: none */
	double effect, other_effect, sd, drift; /* drift a boot */
	guint8 *failing; /* what cannot be booted; NULL: nothing */
	guint8 *ruled_out;
	double min_effect;
	guint max_boots;
	gint64 time_scale; /* 0: 1 */
	unsigned long seed;
} World;

typedef struct {
	GArray *boots;
	guint8 *failed, *built;
	StatsBisectNext next; /* the last */
	guint builds;
} Story;

static StatsBisect bisect_of(const World *world, const Story *story)
{
	return (StatsBisect){
		.data = { .last = world->last, .boots = (const StatsBisectBoot *)(void *)story->boots->data,
			  .boot_count = story->boots->len, .ruled_out = world->ruled_out },
		.failed = story->failed, .built = story->built, .certainty = STATS_BISECT_CERTAINTY,
		.min_effect = world->min_effect, .max_boots = world->max_boots ? world->max_boots : 200,
	};
}

static void story_clear(Story *story)
{
	g_array_unref(story->boots);
	g_free(story->failed);
	g_free(story->built);
	stats_bisect_next_clear(&story->next);
}

static double value_of(const World *world, gsl_rng *random, gsize commit, guint boot)
{
	double y = 3 + (world->sd > 0 ? gsl_ran_gaussian(random, world->sd) : 0) + world->drift * boot;

	return y + (commit >= world->culprit ? world->effect : 0) + (world->other && commit >= world->other ? world->other_effect : 0);
}

/* To its end. With each step the decision is taken again from a copy of what is known, as after a restart. */
static Story bisect(const World *world)
{
	Story story = { .boots = g_array_new(FALSE, FALSE, sizeof(StatsBisectBoot)), .failed = g_new0(guint8, world->last + 1),
			.built = g_new0(guint8, world->last + 1) };
	gsl_rng *random = gsl_rng_alloc(gsl_rng_mt19937);

	gsl_rng_set(random, world->seed);
	for (;;) {
		StatsBisect now = bisect_of(world, &story);
		g_auto(StatsBisectNext) again = { 0 };
		StatsBisectBoot boot;

		stats_bisect_next_clear(&story.next);
		stats_bisect_next(&now, &story.next);
		stats_bisect_next(&now, &again);
		g_assert_cmpint(again.step, ==, story.next.step);
		g_assert_cmpuint(again.commit, ==, story.next.commit);
		if (story.next.step >= STATS_BISECT_FOUND)
			break;
		g_assert_cmpuint(story.boots->len, <, now.max_boots);
		boot.commit = story.next.commit;
		story.builds += !story.built[boot.commit];
		story.built[boot.commit] = 1;
		if (world->failing && world->failing[boot.commit]) {
			g_assert_false(story.failed[boot.commit]);
			story.failed[boot.commit] = 1;
			continue;
		}
		boot.y = value_of(world, random, boot.commit, story.boots->len);
		boot.start_ns = BOOT_NS * (world->time_scale ? world->time_scale : 1) * story.boots->len;
		g_array_append_val(story.boots, boot);
	}
	gsl_rng_free(random);
	return story;
}

static void assert_found(const Story *story, gsize from, gsize to)
{
	g_assert_cmpint(story->next.step, ==, STATS_BISECT_FOUND);
	g_assert_cmpuint(story->next.from, ==, from);
	g_assert_cmpuint(story->next.to, ==, to);
	g_assert_cmpfloat(story->next.share, >=, STATS_BISECT_CERTAINTY);
}

/* ---- the posterior ---- */

/* ln prior(k) − ((n − 2)/2)·ln SSE_k − ½ ln(n_<k·n_>=k), where all boots start at one time. */
static void test_posterior_formula(void)
{
	const StatsBisectBoot boots[] = { { 0, 1.0, 0 }, { 4, 2.1, 0 }, { 4, 1.9, 0 }, { 0, 1.1, 0 }, { 2, 1.3, 0 }, { 2, 1.8, 0 } };
	const StatsBisectData data = { .last = 4, .boots = boots, .boot_count = 6 };
	g_auto(StatsBisectPosterior) posterior = { 0 };
	double log_p[5] = { 0 }, total = 0;

	for (gsize k = 1; k <= 4; k++) {
		double sum[2] = { 0 }, n[2] = { 0 }, sse = 0;

		for (gsize i = 0; i < 6; i++) {
			n[boots[i].commit >= k]++;
			sum[boots[i].commit >= k] += boots[i].y;
		}
		for (gsize i = 0; i < 6; i++)
			sse += pow(boots[i].y - sum[boots[i].commit >= k] / n[boots[i].commit >= k], 2);
		log_p[k] = -2 * log(sse) - log(n[0] * n[1]) / 2;
		total += exp(log_p[k]);
	}
	stats_bisect_posterior(&data, &posterior);
	g_assert_cmpfloat(posterior.p[0], ==, 0);
	for (gsize k = 1; k <= 4; k++)
		g_assert_cmpfloat_with_epsilon(posterior.p[k], exp(log_p[k]) / total, 1e-12);
	g_assert_cmpfloat(posterior.p[1], ==, posterior.p[2]);
	g_assert_false(posterior.several);
}

static void test_posterior_properties(void)
{
	gsl_rng *random = gsl_rng_alloc(gsl_rng_mt19937);
	StatsBisectBoot boots[24], changed[24];
	guint8 ruled_out[51] = { 0 };
	StatsBisectData data = { .last = 50, .boots = boots, .boot_count = 24, .ruled_out = ruled_out };

	gsl_rng_set(random, 3);
	for (int set = 0; set < 50; set++) {
		g_auto(StatsBisectPosterior) posterior = { 0 }, other = { 0 };
		double sum = 0;

		for (gsize i = 0; i < 24; i++) {
			gsize commit = i < 8 ? (i % 4 == 1 || i % 4 == 2 ? 50 : 0) : gsl_rng_uniform_int(random, 51);

			boots[i] = (StatsBisectBoot){ commit, gsl_ran_gaussian(random, 1) + (commit >= 20 ? 2 : 0), (gint64)i * BOOT_NS };
			/* another unit, another level, a clock of another speed */
			changed[i] = (StatsBisectBoot){ commit, -3 * boots[i].y + 7, (gint64)i * BOOT_NS * 5 };
		}
		for (gsize i = 1; i < 50; i++)
			ruled_out[i] = set % 2 && i % 3 == 0;
		data.boots = boots;
		stats_bisect_posterior(&data, &posterior);
		data.boots = changed;
		stats_bisect_posterior(&data, &other);
		for (gsize i = 0; i <= 50; i++) {
			g_assert_cmpfloat_with_epsilon(posterior.p[i], other.p[i], 1e-9);
			g_assert_true(!ruled_out[i] || posterior.p[i] == 0);
			sum += posterior.p[i];
		}
		g_assert_cmpfloat_with_epsilon(sum, 1, 1e-12);
		g_assert_cmpfloat_with_epsilon(posterior.second_p, other.second_p, 1e-6);
	}
	gsl_rng_free(random);
}

static void test_credible(void)
{
	const double p[] = { 0, .5, .03, .3, .17 };
	guint8 set[5];

	g_assert_cmpuint(stats_bisect_credible(p, 4, .95, set), ==, 3);
	g_assert_cmpmem(set, 5, ((guint8[]){ 0, 1, 0, 1, 1 }), 5);
	g_assert_cmpuint(stats_bisect_credible(p, 4, .4, set), ==, 1);
	g_assert_cmpuint(stats_bisect_credible(p, 4, 1, set), ==, 4);
}

/* ---- decisions ---- */

static void test_finds(void)
{
	for (gsize culprit = 1; culprit <= 64; culprit += 7) {
		World world = { .last = 64, .culprit = culprit, .effect = .04, .sd = .01, .seed = culprit };
		Story story = bisect(&world);

		assert_found(&story, culprit - 1, culprit);
		g_assert_cmpfloat_with_epsilon(story.next.posterior.effect, .04, .015);
		g_assert_cmpuint(story.boots->len, <, 40);
		g_assert_cmpuint(story.builds, <, 20);
		story_clear(&story);
	}
}

/* Under icount boots repeat to the last digit: five of each end, then one a step. */
static void test_exact_clock(void)
{
	for (gsize culprit = 1; culprit <= 1024; culprit += 93) {
		World world = { .last = 1024, .culprit = culprit, .effect = culprit % 2 ? .03 : -.03, .min_effect = .01 };
		Story story = bisect(&world);

		assert_found(&story, culprit - 1, culprit);
		g_assert_cmpfloat_with_epsilon(story.next.posterior.effect, world.effect, 1e-6);
		g_assert_cmpuint(story.boots->len, <=, 10 + 10 + 2 * 10);
		g_assert_cmpuint(story.builds, <=, 2 + 10);
		story_clear(&story);
	}
}

static void test_ends_alike(void)
{
	World none = { .last = 64, .culprit = 30, .sd = .01, .min_effect = .005, .seed = 2 };
	World repeating = { .last = 64, .culprit = 30, .effect = .001, .min_effect = .01 };
	World small = { .last = 64, .culprit = 30, .effect = .002, .sd = .0004, .min_effect = .01, .seed = 4 };
	Story story = bisect(&none);

	g_assert_cmpint(story.next.step, ==, STATS_BISECT_ENDS_ALIKE);
	g_assert_cmpuint(story.boots->len, <=, 2 * STATS_BISECT_ENDS_MAX);
	g_assert_cmpfloat(story.next.ends_p, >=, STATS_BISECT_ENDS_P);
	g_assert_false(story.next.has_posterior);
	story_clear(&story);
	story = bisect(&repeating);
	g_assert_cmpint(story.next.step, ==, STATS_BISECT_ENDS_ALIKE);
	g_assert_cmpuint(story.boots->len, ==, 2 * STATS_BISECT_ENDS_MIN);
	g_assert_cmpfloat_with_epsilon(story.next.ends_effect, .001, 1e-9);
	story_clear(&story);
	/* a difference that is plain and does not matter */
	story = bisect(&small);
	g_assert_cmpint(story.next.step, ==, STATS_BISECT_ENDS_ALIKE);
	g_assert_cmpfloat(story.next.ends_p, <, STATS_BISECT_ENDS_P);
	story_clear(&story);
}

static void test_order_of_ends(void)
{
	World world = { .last = 2, .culprit = 1, .effect = .02, .sd = .01, .seed = 5 };
	Story story = bisect(&world);

	for (guint i = 0; i < 8; i++)
		g_assert_cmpuint(g_array_index(story.boots, StatsBisectBoot, i).commit, ==, "ABBA"[i % 4] == 'A' ? 0 : 2);
	story_clear(&story);
}

/* What cannot be booted is asked for once, and widens the answer if it is next to the culprit. */
static void test_failing(void)
{
	guint8 failing[65] = { 0 };
	World world = { .last = 64, .culprit = 33, .effect = .05, .sd = .01, .failing = failing, .seed = 6 };
	Story story;

	failing[16] = failing[32] = failing[31] = failing[40] = 1;
	story = bisect(&world);
	assert_found(&story, 30, 33);
	story_clear(&story);
	memset(failing + 1, 1, 63);
	story = bisect(&world);
	g_assert_cmpint(story.next.step, ==, STATS_BISECT_FOUND);
	g_assert_cmpuint(story.next.to - story.next.from, >=, 61); /* so few commits left out are 5 % at most */
	story_clear(&story);
}

static void test_ruled_out(void)
{
	guint8 ruled_out[1025];
	World world = { .last = 1024, .culprit = 600, .effect = .04, .sd = .01, .ruled_out = ruled_out, .seed = 8 };
	Story story;

	for (gsize i = 0; i <= 1024; i++)
		ruled_out[i] = i % 20 != 0;
	story = bisect(&world);
	g_assert_cmpint(story.next.step, ==, STATS_BISECT_FOUND);
	/* 581 … 599 cannot matter, so their kernels are that of 580 */
	g_assert_cmpuint(story.next.from, >=, 580);
	g_assert_cmpuint(story.next.from, <, 600);
	g_assert_cmpuint(story.next.to, ==, 600);
	g_assert_cmpuint(story.builds, <, 16);
	story_clear(&story);
}

/* A drift as large as the change over the whole bisect is no step, and an end is booted every now and then. */
static void test_drift(void)
{
	World world = { .last = 256, .culprit = 100, .effect = .04, .sd = .01, .drift = .002, .seed = 9 };
	Story story = bisect(&world);
	guint since = 0;

	assert_found(&story, 99, 100);
	g_assert_cmpfloat_with_epsilon(story.next.posterior.effect, .04, .02);
	for (guint i = 0; i < story.boots->len; i++) {
		gsize commit = g_array_index(story.boots, StatsBisectBoot, i).commit;

		since = commit == 0 || commit == 256 ? 0 : since + 1;
		g_assert_cmpuint(since, <=, STATS_BISECT_ANCHOR_EVERY);
	}
	story_clear(&story);
}

/* A slow-down and a speed-up after it: the slow-down is what was asked for, and the other is told. */
static void test_second_change(void)
{
	World exact = { .last = 100, .culprit = 40, .effect = .05, .other = 70, .other_effect = -.02, .min_effect = .01 };
	World noisy = { .last = 100, .culprit = 40, .effect = .08, .other = 70, .other_effect = -.03, .sd = .005, .seed = 12 };
	const World *worlds[] = { &exact, &noisy };

	for (gsize i = 0; i < 2; i++) {
		Story story = bisect(worlds[i]);

		assert_found(&story, 39, 40);
		g_assert_true(story.next.posterior.several);
		g_assert_cmpfloat(story.next.posterior.second_effect, <, 0);
		g_assert_cmpuint(story.next.posterior.second_from, <, 70);
		g_assert_cmpuint(story.next.posterior.second_to, >=, 70);
		story_clear(&story);
	}
}

static void test_budget(void)
{
	World world = { .last = 1024, .culprit = 700, .effect = .02, .sd = .01, .max_boots = 20, .seed = 13 };
	Story story = bisect(&world);
	guint8 set[1025];

	g_assert_cmpint(story.next.step, ==, STATS_BISECT_OUT_OF_BUDGET);
	g_assert_cmpuint(story.boots->len, ==, 20);
	if (story.next.has_posterior)
		g_assert_cmpuint(stats_bisect_credible(story.next.posterior.p, 1024, .95, set), <, 1024);
	story_clear(&story);
}

static void test_neighbours(void)
{
	World world = { .last = 1, .culprit = 1, .effect = .05, .sd = .01, .seed = 14 };
	Story story = bisect(&world);

	assert_found(&story, 0, 1);
	g_assert_cmpuint(story.builds, ==, 2);
	story_clear(&story);
}

/* A kernel that is there already is booted again rather than another one built, where it tells nearly as much. */
static void test_built_are_preferred(void)
{
	StatsBisectBoot boots[10];
	guint8 built[101] = { 0 };
	StatsBisect bisect = { .data = { .last = 100, .boots = boots, .boot_count = 10 }, .built = built,
			       .certainty = STATS_BISECT_CERTAINTY, .max_boots = 100 };
	g_auto(StatsBisectNext) next = { 0 }, other = { 0 };

	for (gsize i = 0; i < 10; i++)
		boots[i] = (StatsBisectBoot){ "ABBA"[i % 4] == 'A' ? 0 : 100, "ABBA"[i % 4] == 'A' ? .001 * (double)i : 1, (gint64)i * BOOT_NS };
	stats_bisect_next(&bisect, &next);
	g_assert_cmpint(next.step, ==, STATS_BISECT_BOOT_PROBE);
	g_assert_cmpuint(next.commit, ==, 50);
	built[57] = built[90] = 1;
	stats_bisect_next(&bisect, &other);
	g_assert_cmpuint(other.commit, ==, 57);
	g_assert_cmpfloat_with_epsilon(other.share, .57, 1e-9);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/bisect/posterior/formula", test_posterior_formula);
	g_test_add_func("/bisect/posterior/properties", test_posterior_properties);
	g_test_add_func("/bisect/credible", test_credible);
	g_test_add_func("/bisect/finds", test_finds);
	g_test_add_func("/bisect/exact-clock", test_exact_clock);
	g_test_add_func("/bisect/ends-alike", test_ends_alike);
	g_test_add_func("/bisect/order-of-ends", test_order_of_ends);
	g_test_add_func("/bisect/failing", test_failing);
	g_test_add_func("/bisect/ruled-out", test_ruled_out);
	g_test_add_func("/bisect/drift", test_drift);
	g_test_add_func("/bisect/second-change", test_second_change);
	g_test_add_func("/bisect/budget", test_budget);
	g_test_add_func("/bisect/neighbours", test_neighbours);
	g_test_add_func("/bisect/built-are-preferred", test_built_are_preferred);
	return g_test_run();
}
