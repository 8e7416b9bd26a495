/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "jobs/schedule.h"

#include <string.h>

/* One bit of the seed, well mixed: neighbouring seeds shall not all begin alike. */
static gboolean seed_bit(guint64 seed)
{
	guint64 mixed = seed * G_GUINT64_CONSTANT(0x9e3779b97f4a7c15) + G_GUINT64_CONSTANT(0xd1b54a32d192ed03);

	mixed ^= mixed >> 32;
	mixed *= G_GUINT64_CONSTANT(0xd6e8feb86659fd93);
	return mixed >> 63;
}

char *schedule_extend(const char *order, int pairs)
{
	const char *two = *order == 'B' ? "BAAB" : "ABBA";
	GString *longer = g_string_new(NULL);

	for (int i = 0; i < 2 * pairs; i++)
		g_string_append_c(longer, two[i % 4]);
	return g_string_free(longer, FALSE);
}

char *schedule_order(guint64 seed, int pairs)
{
	return schedule_extend(seed_bit(seed) ? "B" : "A", pairs);
}

static SampleArm arm_of(char letter)
{
	return letter == 'A' ? SAMPLE_ARM_BASE : SAMPLE_ARM_PATCHED;
}

static gboolean is_valid(const ScheduleBoot *boot)
{
	return boot->reason[0] == '\0';
}

static gboolean is_disturbed(const ScheduleBoot *boot)
{
	return g_str_equal(boot->reason, SCHEDULE_DISTURBED);
}

/* Whether there is a boot of that half; with only_valid, one that counts. */
static gboolean has_half(const GArray *boots, int pair, SampleArm arm, gboolean only_valid)
{
	for (guint i = 0; i < boots->len; i++) {
		const ScheduleBoot *boot = &g_array_index(boots, ScheduleBoot, i);
		if (boot->pair == pair && boot->arm == arm && (is_valid(boot) || !only_valid))
			return TRUE;
	}
	return FALSE;
}

/* The earliest pair without a valid boot of the arm, or -1. */
static int missing_pair(int pairs, const GArray *boots, SampleArm arm)
{
	for (int pair = 0; pair < pairs; pair++)
		if (!has_half(boots, pair, arm, TRUE))
			return pair;
	return -1;
}

gboolean schedule_next(const char *order, int pairs, const GArray *boots, int *ret_pair, SampleArm *ret_arm)
{
	g_assert(strlen(order) >= 2 * (gsize)pairs);
	for (int i = 0; i < 2 * pairs; i++) {
		SampleArm planned = arm_of(order[i]);
		if (has_half(boots, i / 2, planned, FALSE))
			continue;
		*ret_pair = i / 2;
		*ret_arm = planned;
		return TRUE;
	}
	if (pairs == 0)
		return FALSE;
	/* the order repeats after four, whatever its length */
	SampleArm arm = arm_of(boots->len % 4 == 0 || boots->len % 4 == 3 ? order[0] : order[1]);
	int pair = missing_pair(pairs, boots, arm);
	if (pair < 0) {
		arm = arm == SAMPLE_ARM_BASE ? SAMPLE_ARM_PATCHED : SAMPLE_ARM_BASE;
		pair = missing_pair(pairs, boots, arm);
	}
	if (pair < 0)
		return FALSE;
	*ret_pair = pair;
	*ret_arm = arm;
	return TRUE;
}

int schedule_left(int pairs, const GArray *boots)
{
	int left = 0;

	for (int pair = 0; pair < pairs; pair++)
		for (int arm = 0; arm < SAMPLE_ARM_COUNT; arm++)
			if (!has_half(boots, pair, (SampleArm)arm, TRUE))
				left++;
	return left;
}

typedef struct {
	int valid, failed;
	const char *last, *last_but_one;	/* reasons of its last two boots; NULL: none yet */
} Tally;

static void count_boots(const GArray *boots, Tally tallies[SAMPLE_ARM_COUNT])
{
	for (guint i = 0; i < boots->len; i++) {
		const ScheduleBoot *boot = &g_array_index(boots, ScheduleBoot, i);
		Tally *tally = &tallies[boot->arm];

		if (is_disturbed(boot) || g_str_equal(boot->reason, SCHEDULE_EXCUSED))
			continue;
		*(is_valid(boot) ? &tally->valid : &tally->failed) += 1;
		tally->last_but_one = tally->last;
		tally->last = boot->reason;
	}
}

static gboolean fails_always(const Tally *tally)
{
	return tally->valid == 0 && tally->last_but_one && *tally->last && g_str_equal(tally->last, tally->last_but_one) &&
	       !g_str_equal(tally->last, "lost");
}

/* The reason of the last boot of the arm that failed. */
static const char *last_reason(const GArray *boots, SampleArm arm)
{
	for (guint i = boots->len; i-- > 0;) {
		const ScheduleBoot *boot = &g_array_index(boots, ScheduleBoot, i);
		if (boot->arm == arm && !is_valid(boot) && !is_disturbed(boot))
			return boot->reason;
	}
	return "";
}

gboolean schedule_failed(const GArray *boots, int max_failed, SampleArm *ret_arm, const char **ret_reason)
{
	Tally tallies[SAMPLE_ARM_COUNT] = { 0 };

	count_boots(boots, tallies);
	const Tally *base = &tallies[SAMPLE_ARM_BASE], *patched = &tallies[SAMPLE_ARM_PATCHED];
	if (base->failed > max_failed || fails_always(base))
		*ret_arm = SAMPLE_ARM_BASE;
	else if (patched->failed > max_failed || (base->valid > 0 && fails_always(patched)))
		*ret_arm = SAMPLE_ARM_PATCHED;
	else
		return FALSE;
	*ret_reason = last_reason(boots, *ret_arm);
	return TRUE;
}
