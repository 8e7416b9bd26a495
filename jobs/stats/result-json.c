/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <math.h>

#include "jobs/spec/json-text.h"
#include "jobs/stats/result-members.h"

static JsonNode *double_node(double value)
{
	return !isfinite(value) ? json_node_init_null(json_node_alloc()) : json_node_init_double(json_node_alloc(), value);
}

static JsonNode *array_node(JsonArray *array)
{
	return json_node_init_array(json_node_alloc(), array);
}

static JsonNode *values_node(GArray *const values[SAMPLE_ARM_COUNT])
{
	JsonObject *arms = json_object_new();

	for (int a = 0; a < SAMPLE_ARM_COUNT; a++) {
		JsonArray *array = json_array_new();

		for (guint i = 0; i < values[a]->len; i++)
			json_array_add_element(array, double_node(g_array_index(values[a], double, i)));
		json_object_set_array_member(arms, sample_arm_to_string((SampleArm)a), array);
	}
	return json_node_init_object(json_node_alloc(), arms);
}

static JsonNode *counts_node(const guint counts[SAMPLE_ARM_COUNT])
{
	JsonObject *arms = json_object_new();

	for (int a = 0; a < SAMPLE_ARM_COUNT; a++)
		json_object_set_int_member(arms, sample_arm_to_string((SampleArm)a), counts[a]);
	return json_node_init_object(json_node_alloc(), arms);
}

static JsonNode *outliers_node(const GArray *outliers)
{
	JsonArray *array = json_array_new();

	for (guint i = 0; i < outliers->len; i++) {
		const StatsOutlier *outlier = &g_array_index(outliers, StatsOutlier, i);
		JsonObject *object = json_object_new();

		json_object_set_string_member(object, "arm", sample_arm_to_string(outlier->arm));
		json_object_set_int_member(object, "boot", outlier->boot);
		json_object_set_member(object, "value", double_node(outlier->value));
		json_array_add_object_element(array, object);
	}
	return array_node(array);
}

static JsonNode *number_list_node(const GArray *numbers)
{
	JsonArray *array = json_array_new();

	for (guint i = 0; i < numbers->len; i++)
		json_array_add_int_element(array, g_array_index(numbers, guint, i));
	return array_node(array);
}

static JsonNode *text_node(const char *text)
{
	JsonNode *node = json_node_alloc();

	return text ? json_node_init_string(node, text) : json_node_init_null(node);
}

static JsonNode *member_node(StatsMemberKind kind, const void *field)
{
	JsonNode *node;

	switch (kind) {
	case STATS_MEMBER_VALUES:
		return values_node(field);
	case STATS_MEMBER_ARMS:
		return counts_node(field);
	case STATS_MEMBER_OUTLIERS:
		return outliers_node(*(GArray *const *)field);
	case STATS_MEMBER_COUNTS:
		return number_list_node(*(GArray *const *)field);
	case STATS_MEMBER_DOUBLE:
		return double_node(*(const double *)field);
	case STATS_MEMBER_TEXT:
		return text_node(*(const char *const *)field);
	case STATS_MEMBER_RULE:
		return text_node(stats_rule_to_string(*(const StatsRule *)field));
	case STATS_MEMBER_STOP:
		return text_node(stats_stop_to_string(*(const StatsStop *)field));
	case STATS_MEMBER_BETTER:
		return text_node(sample_better_to_string(*(const SampleBetter *)field));
	case STATS_MEMBER_VERDICT:
		return text_node(stats_verdict_to_string(*(const StatsVerdict *)field));
	default:
		break;
	}
	node = json_node_alloc();
	switch (kind) {
	case STATS_MEMBER_COUNT:
		return json_node_init_int(node, *(const guint *)field);
	case STATS_MEMBER_MAYBE:
		if (*(const guint *)field)
			return json_node_init_int(node, *(const guint *)field);
		return json_node_init_null(node);
	case STATS_MEMBER_INT64:
		return json_node_init_int(node, *(const gint64 *)field);
	case STATS_MEMBER_BOOL:
		return json_node_init_boolean(node, *(const gboolean *)field);
	default:
		g_assert_not_reached();
	}
}

static JsonObject *write_members(const StatsMembers *table, const void *from)
{
	JsonObject *object = json_object_new();

	for (gsize i = 0; i < table->count; i++)
		json_object_set_member(object, table->members[i].name,
				       member_node(table->members[i].kind,
						   G_STRUCT_MEMBER_P(from, table->members[i].offset)));
	return object;
}

JsonNode *stats_result_to_json(const StatsResult *result)
{
	JsonObject *object = write_members(&stats_result_members, result);
	JsonArray *comparisons = json_array_new();

	for (guint i = 0; i < result->comparisons->len; i++)
		json_array_add_object_element(comparisons,
					      write_members(&stats_comparison_members,
							    g_ptr_array_index(result->comparisons, i)));
	json_object_set_array_member(object, "comparisons", comparisons);
	json_object_set_object_member(object, "failures",
				      write_members(&stats_failures_members, &result->failures));
	if (result->continuation)
		json_object_set_member(object, "continuation", stats_result_to_json(result->continuation));
	return json_node_init_object(json_node_alloc(), object);
}

char *stats_result_to_json_text(const StatsResult *result)
{
	g_autoptr(JsonNode) node = stats_result_to_json(result);
	g_autofree char *text = json_text(node, TRUE);

	return g_strconcat(text, "\n", NULL);
}
