/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "web/trust.h"

#include <math.h>

#include "jobs/stats/figure.h"
#include "web/page.h"
#include "web/words.h"

char *trust_warning(const StoreJob *job)
{
	JsonArray *lines = peek_array(job->trust, "false_alarms");
	g_autoptr(GString) text = g_string_new(NULL);

	for (guint i = 0; i < peek_length(lines); i++) {
		JsonObject *line = peek_element(lines, i);

		if (!g_str_equal(peek_string(line, "fitness"), stats_fitness_to_string(STATS_FITNESS_UNFIT)))
			continue;
		g_string_append_printf(text, "%s%s (%s): %" G_GINT64_FORMAT " false alarms in %" G_GINT64_FORMAT
				       " comparisons of a kernel with itself, and %" G_GINT64_FORMAT " are the most that a fit "
				       "host has.", text->len ? " " : "", peek_string(line, "benchmark"), peek_string(line, "clock"),
				       peek_int(line, "alarms", 0), peek_int(line, "comparisons", 0), peek_int(line, "limit", 0));
	}
	if (!text->len)
		return NULL;
	return g_strdup_printf("The host %s was not fit when this was measured, so its verdicts are not to be relied upon. %s",
			       job->host, text->str);
}

void trust_warning_paragraph(Html *html, const StoreJob *job)
{
	g_autofree char *text = trust_warning(job);

	if (!text)
		return;
	html_raw(html, "<p class=\"warning\"><strong>Not to be relied upon.</strong> ");
	html_text(html, text);
	html_raw(html, "</p>\n");
}

char *trust_control(const StoreJob *job)
{
	JsonArray *comparisons = peek_array(job->control, "comparisons");
	g_autoptr(GString) text = g_string_new(NULL);

	if (!job->control)
		return NULL;
	g_string_printf(text, "Control arm, the base kernel against itself in %" G_GINT64_FORMAT " pairs of boots: ",
			peek_int(job->control, "boots", 0));
	for (guint i = 0; i < peek_length(comparisons); i++) {
		JsonObject *comparison = peek_element(comparisons, i);
		g_autofree char *p = words_p(peek_double(comparison, "p", NAN));

		g_string_append_printf(text, "%s%s: %s (p %s)", i ? ", " : "", peek_string(comparison, "benchmark"),
				       peek_bool(comparison, "alarm") ? "a false alarm" : "no difference", p);
	}
	if (!peek_length(comparisons))
		g_string_append(text, "too few boots to compare");
	g_string_append(text, peek_bool(job->control, "counts") ? "; counted for its host" : "; not counted for its host");
	g_string_append(text, ". It is no part of the result.");
	return g_string_free(g_steal_pointer(&text), FALSE);
}

void trust_control_paragraph(Html *html, const StoreJob *job)
{
	g_autofree char *text = trust_control(job);

	if (!text)
		return;
	html_raw(html, "<p class=\"quiet\">");
	html_text(html, text);
	html_raw(html, " <code>regrlab analyze ");
	html_text(html, peek_string(job->control, "arguments"));
	html_raw(html, " samples.csv</code></p>\n");
}

/* ---- the ledger ---- */

static void number_cell(Html *html, guint number)
{
	html_raw(html, "<td class=\"n\">");
	html_textf(html, "%u", number);
	html_raw(html, "</td>");
}

static const char *fitness_words(StatsFitness fitness)
{
	static const char *const words[] = { "too few to judge", "fit", "NOT FIT" };

	return words[fitness];
}

static void ledger_table(Html *html, const GPtrArray *ledger)
{
	static const char *const columns[] = { "benchmark", "clock", "comparisons", "of control arms", "false alarms", "expected",
					       "at most", "host", NULL };

	html_raw(html, "<div class=\"wide\" tabindex=\"0\"><table>\n<caption>False alarms: a kernel compared with itself</caption>\n<thead><tr>");
	page_columns(html, columns);
	html_raw(html, "</tr></thead>\n<tbody>\n");
	for (guint i = 0; i < ledger->len; i++) {
		const StoreLedger *line = g_ptr_array_index(ledger, i);

		html_raw(html, "<tr><th scope=\"row\">");
		html_text(html, line->benchmark);
		html_raw(html, "</th>");
		page_cell(html, line->clock);
		number_cell(html, line->comparisons);
		number_cell(html, line->of_controls);
		number_cell(html, line->alarms);
		html_raw(html, "<td class=\"n\">");
		html_textf(html, "%.1f", STATS_LEDGER_ALPHA * line->comparisons);
		html_raw(html, "</td>");
		number_cell(html, line->limit);
		page_cell(html, fitness_words(line->fitness));
		html_raw(html, "</tr>\n");
	}
	html_raw(html, "</tbody>\n</table></div>\n");
}

/* ---- calibrations ---- */

static void percent_cell(Html *html, double percent)
{
	g_autoptr(GString) text = g_string_new(NULL);

	if (isnan(percent))
		g_string_append_c(text, '-');
	else
		stats_append_share(text, percent);
	html_raw(html, "<td class=\"n\">");
	html_text(html, text->str);
	html_raw(html, "</td>");
}

static void effects_cells(Html *html, JsonArray *effects)
{
	for (guint i = 0; i < 3; i++)
		percent_cell(html, peek_double(i < peek_length(effects) ? peek_element(effects, i) : NULL, "effect_pct", NAN));
}

static void warnings_cell(Html *html, JsonArray *warnings)
{
	html_raw(html, "<td>");
	for (guint i = 0; i < peek_length(warnings); i++) {
		const char *warning = json_node_get_string(json_array_get_element(warnings, i));

		html_text(html, i ? ", " : "");
		html_text(html, warning);
	}
	if (!peek_length(warnings))
		html_raw(html, "-");
	html_raw(html, "</td>");
}

static void calibration_row(Html *html, const StoreCalibration *calibration)
{
	JsonObject *row = calibration->row;
	gint64 runs = peek_int(row, "best_runs", 0);

	html_raw(html, "<tr><th scope=\"row\">");
	html_textf(html, "%s %s", calibration->benchmark, calibration->params);
	html_raw(html, "</th>");
	page_cell(html, calibration->clock);
	html_raw(html, "<td><code>");
	html_textf(html, "%.12s", calibration->config_sha256);
	html_raw(html, "</code></td>");
	number_cell(html, (guint)peek_int(row, "boots", 0));
	effects_cells(html, peek_array(row, "effects"));
	percent_cell(html, peek_double(row, "boot_sd_pct", NAN));
	percent_cell(html, peek_double(row, "run_sd_pct", NAN));
	percent_cell(html, peek_double(row, "pass_sd_pct", NAN));
	html_raw(html, "<td class=\"n\">");
	if (runs)
		html_textf(html, "%" G_GINT64_FORMAT, runs);
	else
		html_raw(html, "-");
	html_raw(html, "</td>");
	warnings_cell(html, peek_array(row, "warnings"));
	html_raw(html, "<td><a href=\"/jobs/");
	html_attrf(html, "%" G_GINT64_FORMAT, calibration->job);
	html_raw(html, "\">job ");
	html_textf(html, "%" G_GINT64_FORMAT, calibration->job);
	html_raw(html, "</a></td></tr>\n");
}

static void calibration_table(Html *html, const GPtrArray *calibrations)
{
	static const char *const columns[] = { "benchmark", "clock", "configuration", "boots", "seen in 4 boots", "in 10", "in 20",
					       "boots vary by", "runs by", "passes by", "best runs", "warnings", "from", NULL };

	html_raw(html, "<div class=\"wide\" tabindex=\"0\"><table>\n<caption>Calibration: the smallest change that so many boots of each kernel "
		       "show</caption>\n<thead><tr>");
	page_columns(html, columns);
	html_raw(html, "</tr></thead>\n<tbody>\n");
	for (guint i = 0; i < calibrations->len; i++)
		calibration_row(html, g_ptr_array_index(calibrations, i));
	html_raw(html, "</tbody>\n</table></div>\n");
}

void trust_section(Html *html, const char *host, const GPtrArray *ledger, const GPtrArray *calibrations)
{
	html_raw(html, "<section>\n<h2>How far ");
	html_text(html, host);
	html_raw(html, " can be trusted</h2>\n");
	if (ledger && ledger->len)
		ledger_table(html, ledger);
	else
		html_raw(html, "<p>No kernel has been compared with itself on it yet, so its rate of false alarms is not known.</p>\n");
	if (calibrations && calibrations->len)
		calibration_table(html, calibrations);
	else
		html_raw(html, "<p>It has not been calibrated: <code>regrlab calibrate</code> does that.</p>\n");
	html_raw(html, "</section>\n");
}
