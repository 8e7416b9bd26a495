/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "jobs/stats/sentence.h"

#include <math.h>
#include <string.h>

#include "jobs/stats/figure.h"

/* More sets than this with a change in one direction are summed up as a range. */
#define SETS_NAMED_MAX 3u

/* The comparisons of one benchmark with a verdict of one kind. */
typedef struct {
	const StatsComparison **all; /* of the benchmark */
	guint all_count;
	const StatsComparison **of[STATS_VERDICT_COUNT];
	guint count[STATS_VERDICT_COUNT];
} Benchmark;

/* Units in which more or less means slower or faster. */
static gboolean is_speed(const char *unit)
{
	static const char *const prefixes[] = { "ns", "us", "ms", "s", "sec" };
	gsize word = strcspn(unit, "/");

	if (g_str_has_suffix(unit, "/s"))
		return TRUE;
	for (gsize i = 0; i < G_N_ELEMENTS(prefixes); i++)
		if (word == strlen(prefixes[i]) && !strncmp(unit, prefixes[i], word))
			return TRUE;
	return !strncmp(unit, "usecs", word) && word == strlen("usecs");
}

static const char *direction_word(const StatsComparison *comparison)
{
	gboolean speed = is_speed(comparison->unit);

	if (comparison->verdict == STATS_VERDICT_REGRESSION)
		return speed ? "slower" : "worse";
	return speed ? "faster" : "better";
}

static gboolean has_item(const char *params, const char *item)
{
	g_auto(GStrv) items = g_strsplit(params, ";", -1);

	return g_strv_contains((const char *const *)items, item);
}

/* " with nproc=8": what tells this parameter set from the benchmark's others; nothing if there is only one. */
static void append_set(GString *out, const Benchmark *benchmark, const StatsComparison *comparison)
{
	g_auto(GStrv) items = g_strsplit(comparison->params, ";", -1);
	const char *separator = " with ";

	for (gsize i = 0; benchmark->all_count > 1 && items[i]; i++) {
		gboolean shared = TRUE;

		for (guint j = 0; j < benchmark->all_count; j++)
			shared &= has_item(benchmark->all[j]->params, items[i]);
		if (!shared) {
			g_string_append(out, separator);
			g_string_append(out, items[i]);
			separator = ", ";
		}
	}
}

/* The number that a set gives this parameter; NaN: none. */
static double parameter(const StatsComparison *comparison, const char *name)
{
	g_auto(GStrv) items = g_strsplit(comparison->params, ";", -1);

	for (gsize i = 0; items[i]; i++) {
		char *value = strchr(items[i], '='), *end;

		if (!value || strncmp(items[i], name, strlen(name)) != 0 || (gsize)(value - items[i]) != strlen(name))
			continue;
		double number = g_ascii_strtod(value + 1, &end);
		return end == value + 1 || *end ? NAN : number;
	}
	return NAN;
}

/* Whether the sets of a verdict are exactly those from (or up to) a value of the parameter on. */
static gboolean append_side(GString *out, const Benchmark *benchmark, StatsVerdict verdict, const char *name, gboolean up)
{
	double bound = parameter(benchmark->of[verdict][0], name);
	guint inside = 0;

	for (guint i = 0; i < benchmark->count[verdict]; i++) {
		double value = parameter(benchmark->of[verdict][i], name);

		bound = up ? MIN(bound, value) : MAX(bound, value);
	}
	for (guint i = 0; i < benchmark->all_count; i++) {
		double value = parameter(benchmark->all[i], name);

		if (isnan(value))
			return FALSE;
		inside += up ? value >= bound : value <= bound;
	}
	if (inside != benchmark->count[verdict])
		return FALSE;
	g_string_append_printf(out, " with %s=", name);
	stats_append_figure(out, bound);
	g_string_append(out, up ? " or more" : " or less");
	return TRUE;
}

/* " with nproc=8 or more", where several sets, but not all, can be said so. */
static gboolean append_range(GString *out, const Benchmark *benchmark, StatsVerdict verdict)
{
	g_auto(GStrv) items = g_strsplit(benchmark->all[0]->params, ";", -1);

	if (benchmark->count[verdict] < 2 || benchmark->count[verdict] == benchmark->all_count)
		return FALSE;
	for (gsize i = 0; items[i]; i++) {
		g_autofree char *name = g_strndup(items[i], strcspn(items[i], "="));

		if (append_side(out, benchmark, verdict, name, TRUE) || append_side(out, benchmark, verdict, name, FALSE))
			return TRUE;
	}
	return FALSE;
}

/* " with nproc=8 or more", " with 2 of 3 parameter sets"; nothing for all of them. */
static void append_sets(GString *out, const Benchmark *benchmark, StatsVerdict verdict)
{
	guint count = benchmark->count[verdict];

	if (count == benchmark->all_count || append_range(out, benchmark, verdict))
		return;
	if (count == 1)
		append_set(out, benchmark, benchmark->of[verdict][0]);
	else
		g_string_append_printf(out, " with %u of %u parameter sets", count, benchmark->all_count);
}

/* "is 18 % slower with nproc=8 and 3 % slower with nproc=32" */
static void append_changes(GString *out, const Benchmark *benchmark, StatsVerdict verdict)
{
	const StatsComparison **sets = benchmark->of[verdict];
	guint count = benchmark->count[verdict];
	g_autoptr(GString) low = g_string_new(NULL), high = g_string_new(NULL), range = g_string_new(NULL);
	double least = INFINITY, most = 0;

	g_string_append(out, " is ");
	if (count <= SETS_NAMED_MAX && !append_range(range, benchmark, verdict)) {
		for (guint i = 0; i < count; i++) {
			if (i)
				g_string_append(out, i + 1 < count ? ", " : " and ");
			stats_append_share(out, sets[i]->change_pct);
			g_string_append_printf(out, " %s", direction_word(sets[i]));
			append_set(out, benchmark, sets[i]);
		}
		return;
	}
	for (guint i = 0; i < count; i++) {
		least = MIN(least, fabs(sets[i]->change_pct));
		most = MAX(most, fabs(sets[i]->change_pct));
	}
	stats_append_share(low, least);
	stats_append_share(high, most);
	if (!g_str_equal(low->str, high->str)) { /* "3.5 to 18 %" */
		g_string_truncate(low, low->len - strlen(" %"));
		g_string_append_printf(out, "%s to ", low->str);
	}
	g_string_append_printf(out, "%s %s", high->str, direction_word(sets[0]));
	append_sets(out, benchmark, verdict);
}

/* How far from 0 the change of an equivalent comparison may be. */
static double bound(const StatsComparison *comparison)
{
	if (isnan(comparison->ci_low_pct))
		return fabs(comparison->change_pct);
	return MAX(fabs(comparison->ci_low_pct), fabs(comparison->ci_high_pct));
}

static void append_equivalent(GString *out, const Benchmark *benchmark)
{
	double most = 0;

	for (guint i = 0; i < benchmark->count[STATS_VERDICT_EQUIVALENT]; i++)
		most = MAX(most, bound(benchmark->of[STATS_VERDICT_EQUIVALENT][i]));
	g_string_append(out, " unchanged");
	if (most > 0) {
		g_string_append(out, " within ±");
		stats_append_share(out, most);
	}
	append_sets(out, benchmark, STATS_VERDICT_EQUIVALENT);
}

static void append_open(GString *out, const Benchmark *benchmark)
{
	guint needed = 0;

	for (guint i = 0; i < benchmark->count[STATS_VERDICT_INCONCLUSIVE]; i++)
		needed = MAX(needed, benchmark->of[STATS_VERDICT_INCONCLUSIVE][i]->boots_needed);
	g_string_append(out, " undecided");
	append_sets(out, benchmark, STATS_VERDICT_INCONCLUSIVE);
	if (needed)
		g_string_append_printf(out, " (about %u boots an arm would tell)", needed);
}

static void append_benchmark(GString *out, const Benchmark *benchmark)
{
	const char *separator = "";

	g_string_append(out, benchmark->all[0]->benchmark);
	for (int verdict = 0; verdict < STATS_VERDICT_COUNT; verdict++) {
		/* what matters most comes first */
		static const StatsVerdict order[] = { STATS_VERDICT_REGRESSION, STATS_VERDICT_IMPROVEMENT,
						      STATS_VERDICT_EQUIVALENT, STATS_VERDICT_INCONCLUSIVE,
						      STATS_VERDICT_INSUFFICIENT, STATS_VERDICT_INVALID };
		StatsVerdict kind = order[verdict];

		if (!benchmark->count[kind])
			continue;
		g_string_append(out, separator);
		separator = ",";
		if (kind == STATS_VERDICT_REGRESSION || kind == STATS_VERDICT_IMPROVEMENT) {
			append_changes(out, benchmark, kind);
		} else if (kind == STATS_VERDICT_EQUIVALENT) {
			append_equivalent(out, benchmark);
		} else if (kind == STATS_VERDICT_INCONCLUSIVE) {
			append_open(out, benchmark);
		} else {
			g_string_append(out, kind == STATS_VERDICT_INVALID ? " not comparable" : " measured in too few boots");
			append_sets(out, benchmark, kind);
		}
	}
}

/* The primary comparisons of one benchmark are neighbours in the result. */
static guint take_benchmark(const StatsResult *result, guint at, Benchmark *benchmark)
{
	const StatsComparison *first = g_ptr_array_index(result->comparisons, at);

	benchmark->all_count = 0;
	memset(benchmark->count, 0, sizeof benchmark->count);
	for (; at < result->comparisons->len; at++) {
		const StatsComparison *comparison = g_ptr_array_index(result->comparisons, at);

		if (!g_str_equal(comparison->benchmark, first->benchmark))
			break;
		if (!comparison->primary)
			continue;
		benchmark->all[benchmark->all_count++] = comparison;
		benchmark->of[comparison->verdict][benchmark->count[comparison->verdict]++] = comparison;
	}
	return at;
}

char *stats_sentence(const StatsResult *result)
{
	GString *out = g_string_new(NULL);
	guint count = result->comparisons->len;
	Benchmark benchmark;

	benchmark.all = g_new(const StatsComparison *, count);
	for (int i = 0; i < STATS_VERDICT_COUNT; i++)
		benchmark.of[i] = g_new(const StatsComparison *, count);
	for (guint at = 0; at < count;) {
		at = take_benchmark(result, at, &benchmark);
		if (!benchmark.all_count)
			continue;
		if (out->len)
			g_string_append(out, "; ");
		append_benchmark(out, &benchmark);
	}
	if (result->failures.verdict == STATS_VERDICT_REGRESSION || result->failures.verdict == STATS_VERDICT_IMPROVEMENT)
		g_string_append_printf(out, "%s%s", out->len ? "; " : "", result->failures.reason);
	if (!out->len)
		g_string_append(out, "nothing was measured");
	g_free(benchmark.all);
	for (int i = 0; i < STATS_VERDICT_COUNT; i++)
		g_free(benchmark.of[i]);
	return g_string_free(out, FALSE);
}
