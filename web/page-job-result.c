/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <math.h>

#include "jobs/stats/figure.h"
#include "jobs/stats/result-text.h"
#include "web/page-job-parts.h"
#include "web/page.h"
#include "web/words.h"

static void figure_cell(Html *html, double value)
{
	g_autoptr(GString) text = g_string_new(NULL);

	stats_append_figure(text, value);
	html_raw(html, "<td class=\"n\">");
	html_text(html, text->str);
	html_raw(html, "</td>");
}

static void change_cell(Html *html, const StatsComparison *comparison)
{
	g_autoptr(GString) text = g_string_new(NULL);
	const char *direction = words_direction(comparison);

	stats_append_percent(text, comparison->change_pct);
	html_raw(html, "<td class=\"n\">");
	html_text(html, text->str);
	if (*direction) {
		html_raw(html, " ");
		html_text(html, direction);
	}
	html_raw(html, "</td>");
}

/* The p that the verdict was made from: adjusted for the number of comparisons; else the exact test's. */
static double deciding_p(const StatsComparison *comparison)
{
	double adjusted = comparison->primary ? comparison->p_holm : comparison->p_bh;

	return !isnan(adjusted) ? adjusted : !isnan(comparison->p) ? comparison->p : comparison->p_permutation;
}

static void row(Html *html, const StatsComparison *comparison)
{
	const WordsVerdict *verdict = words_verdict(comparison->verdict);
	g_autofree char *interval = words_interval(comparison->ci_low_pct, comparison->ci_high_pct);
	g_autofree char *p = words_p(deciding_p(comparison));

	html_raw(html, "<tr><th scope=\"row\">");
	html_text(html, *comparison->params ? comparison->params : "-");
	html_raw(html, "</th>");
	figure_cell(html, comparison->mean[SAMPLE_ARM_BASE]);
	figure_cell(html, comparison->mean[SAMPLE_ARM_PATCHED]);
	change_cell(html, comparison);
	html_raw(html, "<td class=\"n\">");
	html_text(html, interval);
	html_raw(html, "</td><td class=\"n\">");
	html_text(html, p);
	html_raw(html, "</td><td class=\"n\">");
	html_textf(html, "%u + %u", comparison->boots[SAMPLE_ARM_BASE], comparison->boots[SAMPLE_ARM_PATCHED]);
	html_raw(html, "</td><td class=\"verdict ");
	html_attr(html, verdict->css);
	html_raw(html, "\"><span aria-hidden=\"true\">");
	html_text(html, verdict->mark);
	html_raw(html, "</span> ");
	html_text(html, verdict->name);
	html_raw(html, "</td><td class=\"reason\">");
	html_text(html, comparison->reason);
	html_raw(html, "</td></tr>\n");
}

static gboolean same_table(const StatsComparison *a, const StatsComparison *b)
{
	return a->primary == b->primary && g_str_equal(a->benchmark, b->benchmark) && g_str_equal(a->metric, b->metric) &&
	       g_str_equal(a->unit, b->unit) && a->better == b->better && g_strcmp0(a->clock, b->clock) == 0;
}

static void table_begin(Html *html, const StatsComparison *first)
{
	static const char *const columns[] = { "parameters", "base", "patched", "change", "interval", "p", "boots",
					       "verdict", "because", NULL };

	html_raw(html, "<div class=\"wide\" tabindex=\"0\"><table>\n<caption><strong>");
	html_text(html, first->benchmark);
	html_raw(html, "</strong>: ");
	html_text(html, first->metric);
	if (*first->unit) {
		html_raw(html, " in ");
		html_text(html, first->unit);
	}
	html_text(html, first->better == SAMPLE_BETTER_LOWER ? ", lower is better" : ", higher is better");
	html_raw(html, "; clock: ");
	html_text(html, first->clock ? first->clock : "mixed");
	html_raw(html, "</caption>\n<thead><tr>");
	page_columns(html, columns);
	html_raw(html, "</tr></thead>\n<tbody>\n");
}

static void table(Html *html, const GPtrArray *sets)
{
	table_begin(html, g_ptr_array_index(sets, 0));
	for (guint i = 0; i < sets->len; i++)
		row(html, g_ptr_array_index(sets, i));
	html_raw(html, "</tbody>\n</table></div>\n");
}

/* From `at` on those that share a table; returns what comes after them. */
static guint take_sets(const StatsResult *result, guint at, GPtrArray *sets)
{
	g_ptr_array_set_size(sets, 0);
	for (; at < result->comparisons->len; at++) {
		StatsComparison *comparison = g_ptr_array_index(result->comparisons, at);

		if (sets->len && !same_table(g_ptr_array_index(sets, 0), comparison))
			break;
		g_ptr_array_add(sets, comparison);
	}
	return at;
}

static void tables(Html *html, const StatsResult *result, gboolean primary)
{
	g_autoptr(GPtrArray) sets = g_ptr_array_new();

	for (guint at = 0; at < result->comparisons->len;) {
		at = take_sets(result, at, sets);
		if (((const StatsComparison *)g_ptr_array_index(sets, 0))->primary == primary)
			table(html, sets);
	}
}

static void change_plots(Html *html, const StatsResult *result)
{
	g_autoptr(GPtrArray) sets = g_ptr_array_new();
	guint number = 0;

	html_raw(html, "<section aria-labelledby=\"changes\">\n<h2 id=\"changes\">Change, with its interval</h2>\n<p class=\"quiet\">"
		       "The band around 0 is what does not matter here: ±");
	html_textf(html, "%g", result->min_effect_pct);
	html_raw(html, " %.</p>\n");
	for (guint at = 0; at < result->comparisons->len;) {
		at = take_sets(result, at, sets);
		if (((const StatsComparison *)g_ptr_array_index(sets, 0))->primary)
			job_change_plots(html, sets, result->min_effect_pct, number++);
	}
	html_raw(html, "</section>\n");
}

static gboolean has_exploration(const StatsResult *result)
{
	for (guint i = 0; i < result->comparisons->len; i++)
		if (!((const StatsComparison *)g_ptr_array_index(result->comparisons, i))->primary)
			return TRUE;
	return FALSE;
}

static const char *clock_help(const char *clock)
{
	if (g_strcmp0(clock, "icount") == 0)
		return "The clock icount counts the instructions that the guest executes, as if each took one nanosecond. It sees "
		       "a change of a few instructions, and nothing of caches, locks that wait, or memory.";
	if (g_strcmp0(clock, "tcg") == 0)
		return "The clock tcg is wall time under emulation: it tells little of the time on real hardware.";
	if (g_strcmp0(clock, "kvm") == 0)
		return "The clock kvm is wall time under hardware virtualization.";
	return "The figures come from different clocks and are not compared.";
}

static void failures(Html *html, const StatsFailures *rates)
{
	const WordsVerdict *verdict = words_verdict(rates->verdict);
	g_autofree char *p = words_p(rates->p);

	if (!rates->failed[SAMPLE_ARM_BASE] && !rates->failed[SAMPLE_ARM_PATCHED])
		return;
	html_raw(html, "<p>Boots that failed: ");
	html_textf(html, "%u of %u base, %u of %u patched (p %s): %s", rates->failed[SAMPLE_ARM_BASE],
		   rates->boots[SAMPLE_ARM_BASE], rates->failed[SAMPLE_ARM_PATCHED], rates->boots[SAMPLE_ARM_PATCHED], p,
		   verdict->name);
	if (rates->reason && *rates->reason)
		html_textf(html, ", %s", rates->reason);
	html_raw(html, ".</p>\n");
}

static void section(Html *html, const StatsResult *result, const char *id, const char *title)
{
	html_raw(html, "<section aria-labelledby=\"");
	html_attr(html, id);
	html_raw(html, "\">\n<h2 id=\"");
	html_attr(html, id);
	html_raw(html, "\">");
	html_text(html, title);
	html_raw(html, "</h2>\n");
	if (result->comparisons->len == 0)
		html_raw(html, "<p>There are no samples.</p>\n");
	tables(html, result, TRUE);
	failures(html, &result->failures);
	html_raw(html, "<p class=\"quiet\">");
	html_text(html, clock_help(result->clock));
	html_raw(html, " Figures are geometric means of one summary a boot; the boot is the unit of all statistics. p is adjusted "
		       "for the number of comparisons. A change below ");
	html_textf(html, "%g", result->min_effect_pct);
	html_raw(html, " % does not matter here; the error rate of all verdicts together is ");
	html_textf(html, "%g", result->alpha);
	html_raw(html, ". ");
	html_textf(html, "Method: %s, rule %s, seed %" G_GINT64_FORMAT ".", result->method,
		   stats_rule_to_string(result->rule), result->seed);
	if (result->rule == STATS_RULE_SEQUENTIAL)
		html_textf(html, " Stopped at look %u of %u, after %u of at most %u boots of each kernel; the intervals hold "
				 "over all looks together.", result->look, result->looks->len, result->pairs, result->max_boots);
	else if (result->rule == STATS_RULE_OPEN_ENDED)
		html_textf(html, " Over all %u pairs of boots; p and intervals hold however often boots are added. This result and "
				 "the planned one have each that error rate, both together at most twice that.", result->pairs);
	html_raw(html, "</p>\n");
	if (result->arguments) {
		html_raw(html, "<p class=\"quiet\">The same numbers from the samples alone: <code>regrlab analyze ");
		html_text(html, result->arguments);
		html_raw(html, " samples.csv</code></p>\n");
	}
	if (has_exploration(result)) {
		html_raw(html, "<details><summary>Other metrics, for exploration</summary>\n");
		tables(html, result, FALSE);
		html_raw(html, "</details>\n");
	}
	html_raw(html, "</section>\n");
}

void job_change_section(Html *html, const StatsResult *result)
{
	const StatsResult *latest = stats_result_latest(result);

	for (guint i = 0; i < latest->comparisons->len; i++)
		if (((const StatsComparison *)g_ptr_array_index(latest->comparisons, i))->primary) {
			change_plots(html, latest);
			return;
		}
}

void job_table_section(Html *html, const StatsResult *result)
{
	g_autofree char *text = stats_result_table_text(stats_result_latest(result));

	if (!*text)
		return;
	html_raw(html, "<details class=\"copy\"><summary>Copy as changelog table</summary>\n<pre id=\"table\" tabindex=\"0\" "
		       "data-copy=\"table\">");
	html_text(html, text);
	html_raw(html, "</pre></details>\n");
}

void job_result_section(Html *html, const StatsResult *result)
{
	if (result->continuation)
		section(html, result->continuation, "result", "Result, with the boots that were added");
	section(html, result, result->continuation ? "planned-result" : "result",
		result->continuation ? "Result as planned, before boots were added" : "Result");
}
