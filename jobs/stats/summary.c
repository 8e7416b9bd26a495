/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "jobs/stats/summary.h"

#include <math.h>

#include "jobs/stats/descriptive.h"

/* A sample with its place in (arm, boot, run, pass) order. */
typedef struct {
	guint64 key;
	const Sample *sample;
} Entry;

typedef struct {
	StatsSummary *summary;
	GArray *means; /* double: of the runs accepted of the boot at hand */
	GArray *logs;  /* double: of all passes accepted so far; NULL once the data are not balanced */
	GArray *arms;  /* SampleArm: of the boots in `logs` */
} Walk;

static guint64 key_of(const Sample *s)
{
	return ((((guint64)s->arm << 17 | (guint64)s->boot) << 17 | (guint64)s->run) << 20) | (guint64)s->pass;
}

static int compare_entries(const void *a, const void *b)
{
	const Entry *left = a, *right = b;

	return (left->key > right->key) - (left->key < right->key);
}

/* The valid samples, in order. */
static GArray *sorted_entries(const Sample *const *samples, gsize count)
{
	GArray *entries = g_array_sized_new(FALSE, FALSE, sizeof(Entry), (guint)count);
	gboolean sorted = TRUE;

	for (gsize i = 0; i < count; i++) {
		Entry entry = { key_of(samples[i]), samples[i] };

		if (!samples[i]->valid)
			continue;
		sorted &= !entries->len || g_array_index(entries, Entry, entries->len - 1).key < entry.key;
		g_array_append_val(entries, entry);
	}
	if (!sorted)
		g_array_sort(entries, compare_entries);
	return entries;
}

static void set_invalid(StatsSummary *summary, char *reason)
{
	if (summary->invalid)
		g_free(reason);
	else
		summary->invalid = reason;
}

/* What all samples of a comparison have to share. */
static void check_uniform(StatsSummary *summary, const GArray *entries)
{
	const Sample *first, *sample;

	if (!entries->len)
		return;
	first = g_array_index(entries, Entry, 0).sample;
	summary->clock = first->clock;
	for (guint i = 1; i < entries->len; i++) {
		sample = g_array_index(entries, Entry, i).sample;
		if (sample->clock != first->clock) {
			summary->clock = NULL;
			set_invalid(summary, g_strdup_printf("clocks are mixed (%s and %s): figures of different clocks "
							     "are never compared", first->clock, sample->clock));
		}
		if (sample->host != first->host)
			set_invalid(summary, g_strdup_printf("hosts are mixed (%s and %s): both arms have to run on one",
							     first->host, sample->host));
		if (sample->unit != first->unit)
			set_invalid(summary, g_strdup_printf("units are mixed (%s and %s)", first->unit, sample->unit));
		if (sample->better != first->better)
			set_invalid(summary, g_strdup("some samples say that lower is better, some that higher is"));
	}
}

static void count_runs_and_passes(StatsSummary *summary, const GArray *entries)
{
	g_autoptr(GHashTable) runs = g_hash_table_new(NULL, NULL);
	int last = -1;

	for (guint i = 0; i < entries->len; i++) {
		const Sample *sample = g_array_index(entries, Entry, i).sample;

		summary->passes = MAX(summary->passes, (guint)sample->pass);
		if (sample->pass > 0 && sample->run != last)
			g_hash_table_add(runs, GINT_TO_POINTER(last = sample->run));
	}
	summary->runs = g_hash_table_size(runs);
}

static void reject(StatsSummary *summary, char *rejection)
{
	if (summary->rejection)
		g_free(rejection);
	else
		summary->rejection = rejection;
}

/* One run: `entries` are its passes from 1 on. */
static void take_run(Walk *walk, const Entry *entries, gsize count)
{
	StatsSummary *summary = walk->summary;
	const Sample *first = entries[0].sample;
	gboolean positive = TRUE;
	double sum = 0;

	for (gsize i = 0; i < summary->passes; i++) {
		gboolean missing = i >= count || entries[i].sample->pass != (int)i + 1;

		if (missing || isnan(entries[i].sample->value)) {
			reject(summary, g_strdup_printf("boot %d (%s), run %d: pass %" G_GSIZE_FORMAT " %s", first->boot,
							sample_arm_to_string(first->arm), first->run, i + 1,
							missing ? "is missing" : "has no value"));
			summary->runs_rejected++;
			return;
		}
		sum += entries[i].sample->value;
		positive &= entries[i].sample->value > 0;
	}
	if (!positive)
		set_invalid(summary, g_strdup_printf("a value of 0 or less (boot %d of %s, run %d): the analysis compares "
						     "ratios", first->boot, sample_arm_to_string(first->arm), first->run));
	sum /= summary->passes;
	if (positive && !(sum > 0 && isfinite(sum))) /* beyond the range of a double */
		set_invalid(summary, g_strdup_printf("values too small or too large to add up (boot %d of %s, run %d)",
						     first->boot, sample_arm_to_string(first->arm), first->run));
	g_array_append_val(walk->means, sum);
	for (gsize i = 0; walk->logs && i < count; i++) {
		double value = log(entries[i].sample->value);

		g_array_append_val(walk->logs, value);
	}
}

/* One boot, all of whose runs have been taken. */
static void take_boot(Walk *walk, const Sample *first)
{
	StatsSummary *summary = walk->summary;
	guint kept = walk->means->len;
	StatsBoot boot = { .arm = first->arm, .boot = first->boot, .pair = first->pair, .start_ns = first->boot_start_ns };

	if (kept < summary->runs)
		g_clear_pointer(&walk->logs, g_array_unref);
	if (!kept || 2 * kept < summary->runs) {
		reject(summary, g_strdup_printf("boot %d (%s): %u of %u runs", boot.boot, sample_arm_to_string(boot.arm),
						kept, summary->runs));
		summary->rejected[boot.arm]++;
	} else {
		boot.value = stats_median((const double *)walk->means->data, kept);
		g_array_append_val(summary->boots, boot);
		g_array_append_val(walk->arms, boot.arm);
	}
	g_array_set_size(walk->means, 0);
}

static void walk_entries(StatsSummary *summary, const GArray *entries)
{
	Walk walk = { .summary = summary, .means = g_array_new(FALSE, FALSE, sizeof(double)),
		      .logs = g_array_sized_new(FALSE, FALSE, sizeof(double), entries->len),
		      .arms = g_array_new(FALSE, FALSE, sizeof(SampleArm)) };
	const Entry *entry = (const Entry *)entries->data, *end = entry + entries->len;

	while (entry < end) {
		const Entry *run = entry;
		const Sample *first = entry->sample;
		guint64 run_key = entry->key >> 20;

		for (; entry < end && entry->key >> 20 == run_key; entry++)
			if (!entry->sample->pass)
				run = entry + 1;
		if (run < entry)
			take_run(&walk, run, (gsize)(entry - run));
		if (entry == end || entry->key >> 37 != run_key >> 17)
			take_boot(&walk, first);
	}
	if (walk.logs && walk.arms->len && !summary->invalid) {
		summary->passes_log = (double *)g_array_free(g_steal_pointer(&walk.logs), FALSE);
		summary->passes_arm = (SampleArm *)g_array_free(g_steal_pointer(&walk.arms), FALSE);
	}
	g_array_unref(walk.means);
	g_clear_pointer(&walk.logs, g_array_unref);
	g_clear_pointer(&walk.arms, g_array_unref);
}

static int compare_boots(const void *a, const void *b)
{
	const StatsBoot *left = a, *right = b;

	if (left->start_ns != right->start_ns)
		return left->start_ns < right->start_ns ? -1 : 1;
	if (left->boot != right->boot)
		return left->boot < right->boot ? -1 : 1;
	return (int)left->arm - (int)right->arm;
}

/* All boots of one arm before all boots of the other: drift and patch cannot be told apart. One boot an arm cannot help
 * but be so, and says nothing anyway. */
static void check_order(StatsSummary *summary)
{
	guint changes = 0, count[SAMPLE_ARM_COUNT] = { 0 };
	const StatsBoot *boots = (const StatsBoot *)summary->boots->data;

	for (guint i = 0; i < summary->boots->len; i++) {
		count[boots[i].arm]++;
		changes += i > 0 && boots[i].arm != boots[i - 1].arm;
	}
	if (changes == 1 && count[SAMPLE_ARM_BASE] >= 2 && count[SAMPLE_ARM_PATCHED] >= 2)
		set_invalid(summary, g_strdup_printf("all boots of %s came before all boots of %s, so a drift of the host "
						     "would look like a change", sample_arm_to_string(boots[0].arm),
						     sample_arm_to_string(boots[summary->boots->len - 1].arm)));
}

StatsSummary *stats_summary_new(const Sample *const *samples, gsize count)
{
	StatsSummary *summary = g_new0(StatsSummary, 1);
	g_autoptr(GArray) entries = sorted_entries(samples, count);

	summary->boots = g_array_new(FALSE, FALSE, sizeof(StatsBoot));
	count_runs_and_passes(summary, entries);
	check_uniform(summary, entries);
	walk_entries(summary, entries);
	g_array_sort(summary->boots, compare_boots);
	check_order(summary);
	return summary;
}

void stats_summary_free(StatsSummary *summary)
{
	if (!summary)
		return;
	g_array_unref(summary->boots);
	g_free(summary->rejection);
	g_free(summary->invalid);
	g_free(summary->passes_log);
	g_free(summary->passes_arm);
	g_free(summary);
}
