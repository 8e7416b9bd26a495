/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "web/page-compare.h"

#include <math.h>

#include "jobs/stats/figure.h"
#include "web/job-list.h"
#include "web/page.h"
#include "web/words.h"

static void kernel_name(Html *html, const CompareKernel *kernel)
{
	const StoreJob *job = kernel->of.job;

	if (kernel->arm == SAMPLE_ARM_BASE)
		html_textf(html, "base of job %" G_GINT64_FORMAT, job->id);
	else if (job->spec->version > 1)
		html_textf(html, "v%d, job %" G_GINT64_FORMAT, job->spec->version, job->id);
	else
		html_textf(html, "job %" G_GINT64_FORMAT, job->id);
}

/* ---- what they are ---- */

static void kernel_row(Html *html, const CompareKernel *kernel)
{
	const StoreJob *job = kernel->of.job;
	JsonObject *source = kernel->arm == SAMPLE_ARM_BASE ? job->source : NULL;

	html_raw(html, "<tr><th scope=\"row\">");
	kernel_name(html, kernel);
	html_raw(html, "</th><td>");
	job_list_link(html, job->id, job->spec->subject);
	html_raw(html, "</td><td><code>");
	html_textf(html, "%.12s", source ? peek_string(source, "base_commit") : peek_string(job->arms[kernel->arm], "commit"));
	html_raw(html, "</code></td>");
	page_cell(html, job->host);
	page_cell(html, kernel->of.result->clock ? kernel->of.result->clock : "mixed");
	page_cell(html, kernel->why);
	html_raw(html, "</tr>\n");
}

static void kernels_table(Html *html, const GArray *kernels)
{
	static const char *const columns[] = { "kernel", "of", "commit", "host", "clock", "compared with the reference", NULL };

	html_raw(html, "<section aria-labelledby=\"kernels\">\n<h2 id=\"kernels\">Kernels</h2>\n"
		       "<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"table of kernels\"><table>\n<thead><tr>");
	page_columns(html, columns);
	html_raw(html, "</tr></thead>\n<tbody>\n");
	for (guint i = 0; i < kernels->len; i++)
		kernel_row(html, &g_array_index(kernels, CompareKernel, i));
	html_raw(html, "</tbody>\n</table></div>\n</section>\n");
}

/* ---- figures ---- */

static void verdict_of(Html *html, const CompareKernel *kernel, const CompareCell *cell)
{
	const WordsVerdict *verdict;

	if (!cell->direct || kernel->reversed)
		return;
	verdict = words_verdict(cell->direct->verdict);
	html_raw(html, " <strong class=\"verdict ");
	html_attr(html, verdict->css);
	html_raw(html, "\"><span aria-hidden=\"true\">");
	html_text(html, verdict->mark);
	html_raw(html, "</span> ");
	html_text(html, verdict->name);
	html_raw(html, "</strong>");
}

/* In words where the interval excludes 0, as far as the direction goes. */
static const char *direction(const CompareCell *cell, const StatsComparison *measured)
{
	if (isnan(cell->low_pct) || cell->low_pct * cell->high_pct <= 0)
		return isnan(cell->low_pct) ? "" : " (not told apart)";
	return (cell->change_pct > 0) == (measured->better == SAMPLE_BETTER_LOWER) ? " slower" : " faster";
}

static void figure_cell(Html *html, const CompareKernel *kernel, const CompareCell *cell, const StatsComparison *measured)
{
	g_autoptr(GString) text = g_string_new(NULL);
	g_autofree char *interval = words_interval(cell->low_pct, cell->high_pct), *p = words_p(cell->p);

	html_raw(html, "<td>");
	stats_append_figure(text, cell->value);
	html_text(html, text->str);
	if (!isnan(cell->change_pct)) {
		g_string_assign(text, "");
		stats_append_percent(text, cell->change_pct);
		html_raw(html, "<br/>");
		html_textf(html, "%s%s %s, p %s", text->str, direction(cell, measured), interval, p);
		verdict_of(html, kernel, cell);
	}
	html_raw(html, "</td>");
}

static gboolean same_table(const StatsComparison *a, const StatsComparison *b)
{
	return g_str_equal(a->benchmark, b->benchmark) && g_str_equal(a->metric, b->metric) && g_str_equal(a->unit, b->unit);
}

static void table_begin(Html *html, const GArray *kernels, const StatsComparison *measured)
{
	html_raw(html, "<div class=\"wide\" tabindex=\"0\" role=\"region\" aria-label=\"");
	html_attr(html, measured->benchmark);
	html_raw(html, "\"><table class=\"compare\">\n<caption><strong>");
	html_text(html, measured->benchmark);
	html_raw(html, "</strong>: ");
	html_textf(html, "%s in %s, %s is better; clock: %s", measured->metric, measured->unit,
		   measured->better == SAMPLE_BETTER_LOWER ? "lower" : "higher", measured->clock ? measured->clock : "mixed");
	html_raw(html, "</caption>\n<thead><tr><th scope=\"col\">parameters</th>");
	for (guint i = 0; i < kernels->len; i++) {
		html_raw(html, "<th scope=\"col\">");
		kernel_name(html, &g_array_index(kernels, CompareKernel, i));
		html_raw(html, "</th>");
	}
	html_raw(html, "</tr></thead>\n<tbody>\n");
}

static void row(Html *html, const GArray *kernels, const CompareRow *one)
{
	html_raw(html, "<tr><th scope=\"row\">");
	html_text(html, *one->measured->params ? one->measured->params : "-");
	html_raw(html, "</th>");
	for (guint i = 0; i < kernels->len; i++)
		figure_cell(html, &g_array_index(kernels, CompareKernel, i), &one->cells[i], one->measured);
	html_raw(html, "</tr>\n");
}

static void tables(Html *html, const Comparison *comparison)
{
	const StatsComparison *open = NULL;

	html_raw(html, "<section aria-labelledby=\"figures\">\n<h2 id=\"figures\">Figures</h2>\n");
	for (guint i = 0; i < comparison->rows->len; i++) {
		const CompareRow *one = &g_array_index(comparison->rows, CompareRow, i);

		if (!open || !same_table(open, one->measured)) {
			if (open)
				html_raw(html, "</tbody>\n</table></div>\n");
			table_begin(html, comparison->kernels, one->measured);
			open = one->measured;
		}
		row(html, comparison->kernels, one);
	}
	if (open)
		html_raw(html, "</tbody>\n</table></div>\n");
	else
		html_raw(html, "<p>They have no samples.</p>\n");
	html_raw(html, "</section>\n");
}

static void how(Html *html, const Comparison *comparison)
{
	html_raw(html, "<section aria-labelledby=\"how\">\n<h2 id=\"how\">How to read this</h2>\n"
		       "<p>Every change is against the first kernel, the reference. It is given only where both were booted by turns in "
		       "one job (then it is that job&#39;s result, with its verdict), or where each was booted by turns with the same third "
		       "kernel, on the same host and clock. Then it is the difference of those two changes: what the host did between the "
		       "jobs is in both sides of each and cancels. Figures of two jobs are never set against each other as they are, and "
		       "never across clocks: they count different things.</p>\n");
	if (comparison->shared) {
		html_raw(html, "<p>By way of a third kernel there are ");
		html_textf(html, "%u", comparison->shared);
		html_raw(html, " changes here; their p and intervals are adjusted for that number, and hold for all of them together with "
			       "an error rate of ");
		html_textf(html, "%g", COMPARE_ALPHA);
		html_raw(html, ". No job planned them, so they get no verdict. A job that stopped early because it had found a change "
			       "leans away from 0, and so may they: submit both kernels as one job (<code>base=</code> and "
			       "<code>head=</code>) to be sure.</p>\n");
	}
	html_raw(html, "</section>\n");
}

/* ---- asking ---- */

static void field(Html *html, const char *id, const char *name, const char *label)
{
	html_raw(html, "<p><label for=\"");
	html_attr(html, id);
	html_raw(html, "\">");
	html_text(html, label);
	html_raw(html, "</label>\n<input id=\"");
	html_attr(html, id);
	html_raw(html, "\" name=\"");
	html_attr(html, name);
	html_raw(html, "\" size=\"12\" required=\"required\"/></p>\n");
}

static void ask(Html *html)
{
	html_raw(html, "<section aria-labelledby=\"ask\">\n<h2 id=\"ask\">Compare</h2>\n"
		       "<p>A kernel is named by its job: <code>7</code> is the patched kernel of job 7, <code>7:base</code> its base.</p>\n"
		       "<form class=\"search\" action=\"/compare\" method=\"get\">\n");
	field(html, "reference", "kernel", "reference");
	field(html, "other", "kernel", "compared with it");
	html_raw(html, "<p><button type=\"submit\">Compare</button></p>\n</form>\n"
		       "<p>Or all versions of a series, each against their base: v2, v3 and so on have the same "
		       "<code>change-id:</code>, or the same subject.</p>\n"
		       "<form class=\"search\" action=\"/compare\" method=\"get\">\n");
	field(html, "series", "series", "job of one version");
	html_raw(html, "<p><button type=\"submit\">Compare versions</button></p>\n</form>\n</section>\n");
}

static void left_out(Html *html, const char *const *sentences)
{
	if (!sentences || !*sentences)
		return;
	html_raw(html, "<ul>\n");
	for (; *sentences; sentences++) {
		html_raw(html, "<li>");
		html_text(html, *sentences);
		html_raw(html, "</li>\n");
	}
	html_raw(html, "</ul>\n");
}

char *page_compare(const CompareView *view, gsize *ret_size)
{
	g_autoptr(Html) html = html_new();
	g_autofree char *json = g_strconcat("/api/v1/compare", view->query, NULL);

	page_begin(html, &(PageFrame){ .title = "compare", .path = "/compare", .json = json });
	html_raw(html, "<h1>Kernels side by side</h1>\n");
	left_out(html, view->left_out);
	if (view->comparison) {
		tables(html, view->comparison);
		kernels_table(html, view->comparison->kernels);
		how(html, view->comparison);
	}
	ask(html);
	page_end(html);
	return html_take(html, ret_size);
}
