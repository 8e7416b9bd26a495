/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <math.h>

#include "jobs/stats/result-members.h"

static gboolean wrong(GError **error, const char *name, const char *wanted)
{
	g_set_error(error, STATS_RESULT_ERROR, STATS_RESULT_ERROR_SYNTAX, "%s is not %s", name, wanted);
	return FALSE;
}

static gboolean read_count(JsonNode *node, guint *ret_count)
{
	if (json_node_get_value_type(node) != G_TYPE_INT64 || json_node_get_int(node) < 0 ||
	    json_node_get_int(node) > G_MAXINT32)
		return FALSE;
	*ret_count = (guint)json_node_get_int(node);
	return TRUE;
}

static gboolean read_double(JsonNode *node, double *ret_value)
{
	GType type = json_node_get_value_type(node);

	if (type != G_TYPE_DOUBLE && type != G_TYPE_INT64)
		return FALSE;
	*ret_value = json_node_get_double(node);
	return isfinite(*ret_value);
}

static gboolean read_arms(JsonNode *node, guint counts[SAMPLE_ARM_COUNT])
{
	for (int a = 0; a < SAMPLE_ARM_COUNT; a++) {
		JsonNode *count;

		if (!JSON_NODE_HOLDS_OBJECT(node))
			return FALSE;
		count = json_object_get_member(json_node_get_object(node), sample_arm_to_string((SampleArm)a));
		if (!count || !read_count(count, &counts[a]))
			return FALSE;
	}
	return TRUE;
}

static gboolean read_values(JsonNode *node, GArray *const values[SAMPLE_ARM_COUNT])
{
	for (int a = 0; a < SAMPLE_ARM_COUNT; a++) {
		JsonNode *arm;
		JsonArray *array;

		if (!JSON_NODE_HOLDS_OBJECT(node))
			return FALSE;
		arm = json_object_get_member(json_node_get_object(node), sample_arm_to_string((SampleArm)a));
		if (!arm || !JSON_NODE_HOLDS_ARRAY(arm))
			return FALSE;
		array = json_node_get_array(arm);
		for (guint i = 0; i < json_array_get_length(array); i++) {
			double value;

			if (!read_double(json_array_get_element(array, i), &value))
				return FALSE;
			g_array_append_val(values[a], value);
		}
	}
	return TRUE;
}

static gboolean read_outlier(JsonNode *node, StatsOutlier *ret_outlier)
{
	JsonObject *object;
	JsonNode *arm, *boot, *value;
	guint number;

	if (!JSON_NODE_HOLDS_OBJECT(node))
		return FALSE;
	object = json_node_get_object(node);
	arm = json_object_get_member(object, "arm");
	boot = json_object_get_member(object, "boot");
	value = json_object_get_member(object, "value");
	if (!arm || !boot || !value || json_node_get_value_type(arm) != G_TYPE_STRING || !read_count(boot, &number))
		return FALSE;
	ret_outlier->boot = (int)number;
	return sample_arm_from_string(json_node_get_string(arm), &ret_outlier->arm) &&
	       read_double(value, &ret_outlier->value);
}

static gboolean read_outliers(JsonNode *node, GArray *outliers)
{
	JsonArray *array = JSON_NODE_HOLDS_ARRAY(node) ? json_node_get_array(node) : NULL;

	for (guint i = 0; array && i < json_array_get_length(array); i++) {
		StatsOutlier outlier;

		if (!read_outlier(json_array_get_element(array, i), &outlier))
			return FALSE;
		g_array_append_val(outliers, outlier);
	}
	return array != NULL;
}

static gboolean read_number_list(JsonNode *node, GArray *numbers)
{
	JsonArray *array = JSON_NODE_HOLDS_ARRAY(node) ? json_node_get_array(node) : NULL;

	for (guint i = 0; array && i < json_array_get_length(array); i++) {
		guint number;

		if (!read_count(json_array_get_element(array, i), &number))
			return FALSE;
		g_array_append_val(numbers, number);
	}
	return array != NULL;
}

static gboolean read_text(JsonNode *node, char **ret_text)
{
	if (json_node_get_value_type(node) != G_TYPE_STRING)
		return FALSE;
	g_free(*ret_text);
	*ret_text = g_strdup(json_node_get_string(node));
	return TRUE;
}

static gboolean read_member(const StatsMember *member, JsonNode *node, void *field, GError **error)
{
	GType type = json_node_get_value_type(node);
	const char *text = type == G_TYPE_STRING ? json_node_get_string(node) : "";

	switch (member->kind) {
	case STATS_MEMBER_DOUBLE:
		return read_double(node, field) || wrong(error, member->name, "a number");
	case STATS_MEMBER_TEXT:
		return read_text(node, field) || wrong(error, member->name, "a string");
	case STATS_MEMBER_COUNT:
	case STATS_MEMBER_MAYBE:
		return read_count(node, field) || wrong(error, member->name, "a count");
	case STATS_MEMBER_ARMS:
		return read_arms(node, field) || wrong(error, member->name, "an object of the arms' counts");
	case STATS_MEMBER_VALUES:
		return read_values(node, field) || wrong(error, member->name, "an object of the arms' values");
	case STATS_MEMBER_OUTLIERS:
		return read_outliers(node, *(GArray **)field) || wrong(error, member->name, "an array of outliers");
	case STATS_MEMBER_COUNTS:
		return read_number_list(node, *(GArray **)field) || wrong(error, member->name, "an array of counts");
	case STATS_MEMBER_RULE:
		return stats_rule_from_string(text, field) || wrong(error, member->name, "a rule");
	case STATS_MEMBER_STOP:
		return stats_stop_from_string(text, field) || wrong(error, member->name, "a reason to stop");
	case STATS_MEMBER_BETTER:
		return sample_better_from_string(text, field) || wrong(error, member->name, "lower or higher");
	case STATS_MEMBER_VERDICT:
		return stats_verdict_from_string(text, field) || wrong(error, member->name, "a verdict");
	case STATS_MEMBER_INT64:
		if (type != G_TYPE_INT64)
			return wrong(error, member->name, "a whole number");
		*(gint64 *)field = json_node_get_int(node);
		return TRUE;
	case STATS_MEMBER_BOOL:
		if (type != G_TYPE_BOOLEAN)
			return wrong(error, member->name, "true or false");
		*(gboolean *)field = json_node_get_boolean(node);
		return TRUE;
	}
	g_assert_not_reached();
}

static gboolean read_members(const StatsMembers *table, JsonNode *node, void *into, GError **error)
{
	const StatsMember *members = table->members;

	if (!node || !JSON_NODE_HOLDS_OBJECT(node))
		return wrong(error, "the node", "an object");
	for (gsize i = 0; i < table->count; i++) {
		JsonNode *member = json_object_get_member(json_node_get_object(node), members[i].name);

		if ((!member || JSON_NODE_HOLDS_NULL(member)) && !members[i].required)
			continue;
		if (!member)
			return wrong(error, members[i].name, "there");
		if (!read_member(&members[i], member, G_STRUCT_MEMBER_P(into, members[i].offset), error))
			return FALSE;
	}
	return TRUE;
}

static gboolean read_comparisons(JsonNode *node, GPtrArray *comparisons, GError **error)
{
	JsonArray *array;

	if (!node || !JSON_NODE_HOLDS_ARRAY(node) || json_array_get_length(json_node_get_array(node)) > STATS_COMPARISONS_MAX)
		return wrong(error, "comparisons", "an array of at most 4096 objects");
	array = json_node_get_array(node);
	for (guint i = 0; i < json_array_get_length(array); i++) {
		StatsComparison *comparison = stats_comparison_new();

		g_ptr_array_add(comparisons, comparison);
		if (!read_members(&stats_comparison_members, json_array_get_element(array, i),
				  comparison, error)) {
			g_prefix_error(error, "comparison %u: ", i);
			return FALSE;
		}
	}
	return TRUE;
}

static StatsResult *read_result(JsonNode *node, GError **error)
{
	g_autoptr(StatsResult) result = stats_result_new();
	JsonObject *object;
	JsonNode *failures;

	if (!read_members(&stats_result_members, node, result, error))
		return NULL;
	object = json_node_get_object(node);
	if (!read_comparisons(json_object_get_member(object, "comparisons"), result->comparisons, error))
		return NULL;
	failures = json_object_get_member(object, "failures");
	if (failures && !read_members(&stats_failures_members, failures, &result->failures, error)) {
		g_prefix_error(error, "failures: ");
		return NULL;
	}
	return g_steal_pointer(&result);
}

StatsResult *stats_result_from_json(JsonNode *node, GError **error)
{
	g_autoptr(StatsResult) result = read_result(node, error);
	JsonNode *more = result ? json_object_get_member(json_node_get_object(node), "continuation") : NULL;

	if (!more || JSON_NODE_HOLDS_NULL(more))
		return g_steal_pointer(&result);
	result->continuation = read_result(more, error);
	if (!result->continuation) {
		g_prefix_error(error, "continuation: ");
		return NULL;
	}
	return g_steal_pointer(&result);
}
