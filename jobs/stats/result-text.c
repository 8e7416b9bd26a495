/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "jobs/stats/result-text.h"

#include <math.h>
#include <string.h>

#include "jobs/stats/figure.h"

/* Widths of the columns; a parameter set wider than its column gets a line of its own. */
#define PARAMS_WIDTH 20
#define FIGURE_WIDTH 8
#define CHANGE_WIDTH 7
#define BOUND_WIDTH 6
#define INTERVAL_WIDTH (2 * BOUND_WIDTH + 4)

static const StatsComparison *comparison_at(const StatsResult *result, guint i)
{
	return g_ptr_array_index(result->comparisons, i);
}

/* Whether two comparisons belong in one table. */
static gboolean same_table(const StatsComparison *a, const StatsComparison *b)
{
	return g_str_equal(a->benchmark, b->benchmark) && g_str_equal(a->metric, b->metric) && a->primary == b->primary;
}

static void append_column(GString *out, int width, void (*append)(GString *, double), double value)
{
	g_autoptr(GString) text = g_string_new(NULL);

	append(text, value);
	g_string_append_printf(out, "%*s", width, text->str);
}

static void append_row(GString *out, const StatsComparison *c)
{
	const char *params = *c->params ? c->params : "-";
	gsize begin = out->len;

	g_string_append(out, params);
	if (g_utf8_strlen(params, -1) > PARAMS_WIDTH) {
		g_string_append_c(out, '\n');
		begin = out->len;
	}
	while (g_utf8_strlen(out->str + begin, -1) < PARAMS_WIDTH)
		g_string_append_c(out, ' ');
	append_column(out, FIGURE_WIDTH + 1, stats_append_figure, c->mean[SAMPLE_ARM_BASE]);
	append_column(out, FIGURE_WIDTH + 1, stats_append_figure, c->mean[SAMPLE_ARM_PATCHED]);
	append_column(out, CHANGE_WIDTH + 1, stats_append_percent, c->change_pct);
	if (isnan(c->ci_low_pct)) {
		g_string_append_printf(out, "%*s", INTERVAL_WIDTH + 2, "-");
	} else {
		g_string_append(out, "  [");
		append_column(out, BOUND_WIDTH, stats_append_percent, c->ci_low_pct);
		g_string_append(out, ", ");
		append_column(out, BOUND_WIDTH, stats_append_percent, c->ci_high_pct);
		g_string_append_c(out, ']');
	}
	g_string_append_printf(out, "  %s\n", stats_verdict_to_string(c->verdict));
}

/* Appends text as lines of at most STATS_TEXT_WIDTH columns, all but the first indented. A longer word is cut. */
static void append_wrapped(GString *out, const char *text, int indent)
{
	g_auto(GStrv) words = g_strsplit(text, " ", -1);
	glong column = 0;

	for (gsize i = 0; words[i]; i++) {
		const char *word = words[i];
		glong width = g_utf8_strlen(word, -1);

		if (column && column + 1 + width > STATS_TEXT_WIDTH) {
			g_string_append_printf(out, "\n%*s", indent, "");
			column = indent;
		} else if (column) {
			g_string_append_c(out, ' ');
			column++;
		}
		while (column + width > STATS_TEXT_WIDTH) { /* only where the word began its line */
			const char *cut = g_utf8_offset_to_pointer(word, STATS_TEXT_WIDTH - column);

			g_string_append_len(out, word, cut - word);
			g_string_append_printf(out, "\n%*s", indent, "");
			word = cut;
			width -= STATS_TEXT_WIDTH - column;
			column = indent;
		}
		g_string_append(out, word);
		column += width;
	}
	g_string_append_c(out, '\n');
}

static void append_range(GString *out, const char *one, const char *many, guint low, guint high)
{
	if (low == high)
		g_string_append_printf(out, "%u %s", low, low == 1 ? one : many);
	else
		g_string_append_printf(out, "%u to %u %s", low, high, many);
}

/* "time in ms (lower is better), clock icount: geometric means over 4+4 boots of the median of 1 run of …" */
static void append_caption(GString *out, const StatsResult *result, guint begin, guint end)
{
	const StatsComparison *c = comparison_at(result, begin);
	g_autoptr(GString) text = g_string_new(NULL);
	guint base[2] = { G_MAXUINT, 0 }, patched[2] = { G_MAXUINT, 0 };
	double low = 1, high = 0;

	for (guint i = begin; i < end; i++) {
		const StatsComparison *other = comparison_at(result, i);

		base[0] = MIN(base[0], other->boots[SAMPLE_ARM_BASE]);
		base[1] = MAX(base[1], other->boots[SAMPLE_ARM_BASE]);
		patched[0] = MIN(patched[0], other->boots[SAMPLE_ARM_PATCHED]);
		patched[1] = MAX(patched[1], other->boots[SAMPLE_ARM_PATCHED]);
		low = MIN(low, other->ci_level);
		high = MAX(high, other->ci_level);
	}
	g_string_append_printf(text, "%s %s in %s (%s is better), clock %s: geometric mean over ", c->benchmark, c->metric,
			       *c->unit ? c->unit : "units", sample_better_to_string(c->better),
			       c->clock ? c->clock : "mixed");
	append_range(text, "base", "base", base[0], base[1]);
	g_string_append(text, " and ");
	append_range(text, "patched boot", "patched boots", patched[0], patched[1]);
	g_string_append(text, " of the median over ");
	append_range(text, "run", "runs", c->runs, c->runs);
	g_string_append(text, " of the mean of ");
	append_range(text, "pass", "passes", c->passes, c->passes);
	g_string_append(text, c->drift_adjusted ? "; change adjusted for drift, with its " : "; change with its ");
	if (c->primary && result->rule == STATS_RULE_SEQUENTIAL)
		g_string_append(text, "repeated interval, at this look of ");
	else if (c->primary && result->rule == STATS_RULE_OPEN_ENDED)
		g_string_append(text, "interval that holds at any time, of ");
	stats_append_figure(text, 100 * low);
	if (high > low) {
		g_string_append(text, " to ");
		stats_append_figure(text, 100 * high);
	}
	g_string_append(text, " % interval.");
	if (!c->primary)
		g_string_append(text, " Exploration: corrected among itself, not part of the verdict.");
	append_wrapped(out, text->str, 0);
}

static void append_table(GString *out, const StatsResult *result, guint begin, guint end)
{
	g_string_append_printf(out, "%-*s %*s %*s %*s  %*s  verdict\n", PARAMS_WIDTH,
			       comparison_at(result, begin)->benchmark, FIGURE_WIDTH, "base", FIGURE_WIDTH, "patched",
			       CHANGE_WIDTH, "change", INTERVAL_WIDTH, "interval");
	for (guint i = begin; i < end; i++)
		append_row(out, comparison_at(result, i));
	g_string_append_c(out, '\n');
}

/* Calls `append` for each table of primary comparisons, or of the exploration. */
static void each_table(GString *out, const StatsResult *result, gboolean primary,
		       void (*append)(GString *, const StatsResult *, guint, guint))
{
	for (guint begin = 0, end; begin < result->comparisons->len; begin = end) {
		const StatsComparison *first = comparison_at(result, begin);

		for (end = begin + 1; end < result->comparisons->len && same_table(first, comparison_at(result, end)); end++)
			;
		if (first->primary == primary)
			append(out, result, begin, end);
	}
}

static void append_p(GString *out, const char *name, double p)
{
	if (isnan(p))
		return;
	g_string_append_printf(out, ", %s ", name);
	stats_append_figure(out, p);
}

static void append_reasons(GString *out, const StatsResult *result, guint begin, guint end)
{
	for (guint i = begin; i < end; i++) {
		const StatsComparison *c = comparison_at(result, i);
		g_autoptr(GString) text = g_string_new("- ");

		g_string_append_printf(text, "%s %s", c->benchmark, c->params);
		if (!c->primary)
			g_string_append_printf(text, " %s", c->metric);
		g_string_append_printf(text, ": %s: %s", stats_verdict_to_string(c->verdict), c->reason);
		append_p(text, "p", c->p);
		append_p(text, "Holm", c->p_holm);
		append_p(text, "Benjamini-Hochberg", c->p_bh);
		append_p(text, "permutation", c->p_permutation);
		append_wrapped(out, text->str, 2);
	}
}

static void append_failures(GString *out, const StatsFailures *f)
{
	g_autoptr(GString) text = g_string_new(NULL);

	if (!f->failed[SAMPLE_ARM_BASE] && !f->failed[SAMPLE_ARM_PATCHED])
		return;
	g_string_append_printf(text, "Failed boots: %u of %u base, %u of %u patched: %s: %s", f->failed[SAMPLE_ARM_BASE],
			       f->boots[SAMPLE_ARM_BASE], f->failed[SAMPLE_ARM_PATCHED], f->boots[SAMPLE_ARM_PATCHED],
			       stats_verdict_to_string(f->verdict), f->reason);
	append_p(text, "Fisher", f->p);
	g_string_append_c(out, '\n');
	append_wrapped(out, text->str, 0);
}

/* How it was decided when there were boots enough. */
static void append_rule(GString *out, const StatsResult *result)
{
	static const char *const stops[STATS_STOP_COUNT] = {
		[STATS_STOP_NOT] = "measuring goes on",
		[STATS_STOP_FOUND] = "stopped as all is decided",
		[STATS_STOP_EQUIVALENT] = "stopped as nothing that matters changed",
		[STATS_STOP_FUTILE] = "stopped as more boots were not likely to decide the rest",
		[STATS_STOP_END] = "all boots that there may be were made",
		[STATS_STOP_INVALID] = "stopped as more boots cannot help",
	};

	if (result->rule == STATS_RULE_SEQUENTIAL)
		g_string_append_printf(out, "Rule sequential, look %u of %u, after %u of at most %u boots an arm: %s. ", result->look,
				       result->looks->len, result->pairs, result->max_boots, stops[result->stop]);
	else if (result->rule == STATS_RULE_OPEN_ENDED)
		g_string_append_printf(out, "Rule open-ended, over all %u pairs of boots. ", result->pairs);
	else
		g_string_append_printf(out, "Rule %s. ", stats_rule_to_string(result->rule));
}

char *stats_result_table_text(const StatsResult *result)
{
	GString *out = g_string_new(NULL);

	each_table(out, result, TRUE, append_table);
	each_table(out, result, TRUE, append_caption);
	return g_string_free(out, FALSE);
}

char *stats_result_to_text(const StatsResult *result)
{
	g_autofree char *tables = stats_result_table_text(result);
	GString *out = g_string_new(tables);
	g_autoptr(GString) rules = g_string_new(NULL);

	if (out->len)
		g_string_append_c(out, '\n');
	append_wrapped(out, result->summary, 0);
	g_string_append_c(out, '\n');
	each_table(out, result, TRUE, append_reasons);
	append_failures(out, &result->failures);
	for (guint i = 0; i < result->comparisons->len; i++)
		if (!comparison_at(result, i)->primary) {
			g_string_append_c(out, '\n');
			each_table(out, result, FALSE, append_table);
			each_table(out, result, FALSE, append_caption);
			g_string_append_c(out, '\n');
			each_table(out, result, FALSE, append_reasons);
			break;
		}
	append_rule(rules, result);
	g_string_append_printf(rules, "Method %s, alpha ", result->method);
	stats_append_figure(rules, result->alpha);
	g_string_append(rules, ", smallest change that matters ");
	stats_append_share(rules, result->min_effect_pct);
	g_string_append_printf(rules, ", seed %" G_GINT64_FORMAT ".", result->seed);
	if (result->arguments)
		g_string_append_printf(rules, " Again from the samples: regrlab analyze %s samples.csv", result->arguments);
	g_string_append_c(out, '\n');
	append_wrapped(out, rules->str, 0);
	return g_string_free(out, FALSE);
}
