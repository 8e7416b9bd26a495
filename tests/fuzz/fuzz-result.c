/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A result object, as the client gets it from a lab and the pages from the database: shown as text, written and read again. */
#include <stdint.h>
#include <string.h>

#include "jobs/spec/file.h"
#include "jobs/stats/result-text.h"
#include "jobs/stats/result.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	g_autoptr(JsonObject) object = NULL;
	g_autoptr(StatsResult) result = NULL, back = NULL;
	g_autoptr(JsonNode) node = json_node_new(JSON_NODE_OBJECT), second = NULL;
	g_autofree char *text = NULL, *one = NULL, *two = NULL;
	g_autoptr(GError) error = NULL;

	if (!json_object_from_data((const char *)data, size, &object, NULL))
		return 0;
	json_node_set_object(node, object);
	result = stats_result_from_json(node, &error);
	if (!result) {
		g_assert_true(error && error->domain == STATS_RESULT_ERROR && g_utf8_validate(error->message, -1, NULL));
		return 0;
	}
	g_assert_cmpuint(result->comparisons->len, <=, STATS_COMPARISONS_MAX);
	text = stats_result_to_text(result);
	g_assert_true(g_utf8_validate(text, -1, NULL));
	one = stats_result_to_json_text(result);
	second = json_from_string(one, NULL);
	g_assert_nonnull(second);
	back = stats_result_from_json(second, &error);
	g_assert_no_error(error);
	two = stats_result_to_json_text(back);
	g_assert_cmpstr(one, ==, two);
	return 0;
}
