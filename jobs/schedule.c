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

char *schedule_with_control(const char *order, int pairs)
{
	GString *with = g_string_new(NULL);

	for (int i = 0; order[i]; i++) {
		g_string_append_c(with, order[i]);
		if (i % 2 == 0 && i / 2 < pairs)
			g_string_append_c(with, 'C');
	}
	return g_string_free(with, FALSE);
}

gboolean schedule_order_is_sound(const char *order, int most_pairs)
{
	int count[SAMPLE_ARMS] = { 0 };

	if ((*order != 'A' && *order != 'B') || order[strspn(order, "ABC")])
		return FALSE;
	for (; *order; order++)
		count[*order - 'A']++;
	return count[SAMPLE_ARM_BASE] == count[SAMPLE_ARM_PATCHED] && count[SAMPLE_ARM_BASE] <= most_pairs &&
	       count[SAMPLE_ARM_CONTROL] <= count[SAMPLE_ARM_BASE];
}

int schedule_pairs(const char *order)
{
	int pairs = 0;

	for (; *order; order++)
		pairs += *order == 'A';
	return pairs;
}

/* One boot of the order: of a pair, and of an arm of it. */
typedef struct {
	const char *rest;
	int seen[SAMPLE_ARMS];
	int pair;
	SampleArm arm;
} Walk;

/* The next boot of a pair below pairs; FALSE: there is none. */
static gboolean walk(Walk *walk, int pairs)
{
	while (*walk->rest) {
		walk->arm = (SampleArm)(*walk->rest++ - 'A');
		walk->pair = walk->seen[walk->arm]++;
		if (walk->pair < pairs)
			return TRUE;
	}
	return FALSE;
}

static gboolean is_valid(const ScheduleBoot *boot)
{
	return boot->reason[0] == '\0';
}

static gboolean is_disturbed(const ScheduleBoot *boot)
{
	return g_str_equal(boot->reason, SCHEDULE_DISTURBED);
}

/* The host's fault alone. */
static gboolean is_excused(const ScheduleBoot *boot)
{
	return is_disturbed(boot) || g_str_equal(boot->reason, SCHEDULE_EXCUSED);
}

/* Whether no boot will replace it. */
static gboolean is_final(const ScheduleBoot *boot)
{
	return is_valid(boot) || (boot->arm == SAMPLE_ARM_CONTROL && !is_excused(boot));
}

/* As if it had not been made: the lab's own fault. */
static gboolean is_undone(const ScheduleBoot *boot)
{
	return boot->arm != SAMPLE_ARM_CONTROL && schedule_is_labs_fault(boot->reason);
}

/* Whether there is such a boot of the pair, not counting what is undone; with only_final, one that is not to be replaced. */
static gboolean has_boot(const GArray *boots, int pair, SampleArm arm, gboolean only_final)
{
	for (guint i = 0; i < boots->len; i++) {
		const ScheduleBoot *boot = &g_array_index(boots, ScheduleBoot, i);
		if (boot->pair == pair && boot->arm == arm && (only_final ? is_final(boot) : !is_undone(boot)))
			return TRUE;
	}
	return FALSE;
}

/* The earliest pair of the order whose boot of the arm is to be replaced, or -1. */
static int missing_pair(const char *order, int pairs, const GArray *boots, SampleArm arm)
{
	Walk at = { .rest = order };

	while (walk(&at, pairs))
		if (at.arm == arm && !has_boot(boots, at.pair, arm, TRUE))
			return at.pair;
	return -1;
}

/* Which arm's turn it would be if the order went on: it repeats after four boots, whatever its length. */
static SampleArm arm_in_turn(const char *order, const GArray *boots)
{
	gboolean base_first = *order == 'A';
	guint compared = 0;

	for (guint i = 0; i < boots->len; i++)
		compared += g_array_index(boots, ScheduleBoot, i).arm != SAMPLE_ARM_CONTROL;
	return (compared % 4 == 0 || compared % 4 == 3) == base_first ? SAMPLE_ARM_BASE : SAMPLE_ARM_PATCHED;
}

gboolean schedule_next(const char *order, int pairs, const GArray *boots, int *ret_pair, SampleArm *ret_arm)
{
	Walk at = { .rest = order };

	g_assert(schedule_pairs(order) >= pairs);
	while (walk(&at, pairs)) {
		if (has_boot(boots, at.pair, at.arm, FALSE))
			continue;
		*ret_pair = at.pair;
		*ret_arm = at.arm;
		return TRUE;
	}
	SampleArm first = arm_in_turn(order, boots);
	const SampleArm arms[] = { first, first == SAMPLE_ARM_BASE ? SAMPLE_ARM_PATCHED : SAMPLE_ARM_BASE, SAMPLE_ARM_CONTROL };
	for (gsize i = 0; i < G_N_ELEMENTS(arms); i++) {
		int pair = missing_pair(order, pairs, boots, arms[i]);
		if (pair < 0)
			continue;
		*ret_pair = pair;
		*ret_arm = arms[i];
		return TRUE;
	}
	return FALSE;
}

int schedule_left(const char *order, int pairs, const GArray *boots)
{
	Walk at = { .rest = order };
	int left = 0;

	while (walk(&at, pairs))
		left += !has_boot(boots, at.pair, at.arm, TRUE);
	return left;
}

typedef struct {
	int valid, failed;
	const char *last, *last_but_one;	/* reasons of its last two boots; NULL: none yet */
} Tally;

static void count_boots(const GArray *boots, Tally tallies[SAMPLE_ARMS])
{
	for (guint i = 0; i < boots->len; i++) {
		const ScheduleBoot *boot = &g_array_index(boots, ScheduleBoot, i);
		Tally *tally = &tallies[boot->arm];

		if (is_excused(boot))
			continue;
		*(is_valid(boot) ? &tally->valid : &tally->failed) += 1;
		tally->last_but_one = tally->last;
		tally->last = boot->reason;
	}
}

gboolean schedule_is_labs_fault(const char *reason)
{
	return g_str_equal(reason, SCHEDULE_LOST) || g_str_equal(reason, SCHEDULE_MISPLACED);
}

static gboolean fails_always(const Tally *tally)
{
	return tally->valid == 0 && tally->last_but_one && *tally->last && g_str_equal(tally->last, tally->last_but_one) &&
	       !schedule_is_labs_fault(tally->last);
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
	Tally tallies[SAMPLE_ARMS] = { 0 };

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
