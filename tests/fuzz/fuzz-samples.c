/* SPDX-License-Identifier: GPL-2.0-or-later */

/* Any bytes as samples: they give an error with a message, or a table that survives being written and read again, and
 * whose analysis can be written as text and as JSON.
 *
 *     clang -fsanitize=fuzzer,address,undefined … tests/fuzz/fuzz-samples.c build/libregrlab.a …
 */
#include <glib.h>
#include <stdint.h>
#include <string.h>

#include "jobs/spec/sample.h"
#include "jobs/stats/analysis.h"
#include "jobs/stats/result-text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_written(const SampleTable *table, char *text)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(SampleTable) back = sample_table_from_text(text, strlen(text), &error);

	g_assert_no_error(error);
	g_assert_cmpuint(sample_table_length(back), ==, sample_table_length(table));
	g_free(text);
}

static void check_analysis(const SampleTable *table, StatsRule rule)
{
	StatsOptions options = { .alpha = .05, .min_effect_pct = 1, .rule = rule, .paths = 200 };
	g_autoptr(GError) error = NULL;
	g_autoptr(StatsResult) result = stats_analyse(table, &options, &error), back = NULL;
	g_autofree char *text = NULL, *json = NULL, *again = NULL;
	g_autoptr(JsonNode) node = NULL;

	if (!result) {
		g_assert_nonnull(error);
		return;
	}
	text = stats_result_to_text(result);
	g_assert_true(g_utf8_validate(text, -1, NULL));
	json = stats_result_to_json_text(result);
	node = json_from_string(json, NULL);
	back = stats_result_from_json(node, &error);
	g_assert_no_error(error);
	again = stats_result_to_json_text(back);
	g_assert_cmpstr(again, ==, json);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(SampleTable) table = sample_table_from_text((const char *)data, size, &error);

	if (!table) {
		g_assert_true(error && *error->message);
		return 0;
	}
	check_written(table, sample_table_to_csv(table));
	if (sample_table_length(table)) /* an empty array is no CSV, but an empty table of either form is fine */
		check_written(table, sample_table_to_json(table));
	for (int rule = 0; rule < STATS_RULE_COUNT; rule++)
		check_analysis(table, (StatsRule)rule);
	return 0;
}
