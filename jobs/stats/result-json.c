/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "jobs/stats/result.h"

#include <math.h>

#include "jobs/spec/json-text.h"

typedef enum {
	MEMBER_DOUBLE,	/* NaN = null */
	MEMBER_TEXT,	/* NULL = null */
	MEMBER_COUNT,	/* guint */
	MEMBER_MAYBE,	/* guint, 0 = null */
	MEMBER_INT64,
	MEMBER_BOOL,
	MEMBER_ARMS,	/* guint[2] as {base, patched} */
	MEMBER_BETTER,
	MEMBER_VERDICT,
	MEMBER_VALUES,	/* GArray *[2] of double as {base, patched} */
	MEMBER_OUTLIERS,
} MemberKind;

typedef struct {
	const char *name;
	MemberKind kind;
	gsize offset;
	gboolean required; /* when read; the others may be missing or null */
} StatsMember;

#define MEMBER(type_, name_, field_, kind_, ...) \
	{ .name = name_, .kind = MEMBER_##kind_, .offset = G_STRUCT_OFFSET(type_, field_), ##__VA_ARGS__ }
#define REQUIRED .required = TRUE
#define C(name_, field_, kind_, ...) MEMBER(StatsComparison, name_, field_, kind_, ##__VA_ARGS__)
#define R(name_, field_, kind_, ...) MEMBER(StatsResult, name_, field_, kind_, ##__VA_ARGS__)
#define F(name_, field_, kind_, ...) MEMBER(StatsFailures, name_, field_, kind_, ##__VA_ARGS__)

static const StatsMember comparison_members[] = {
	C("benchmark", benchmark, TEXT, REQUIRED),
	C("params", params, TEXT, REQUIRED),
	C("metric", metric, TEXT, REQUIRED),
	C("unit", unit, TEXT, REQUIRED),
	C("better", better, BETTER, REQUIRED),
	C("primary", primary, BOOL, REQUIRED),
	C("clock", clock, TEXT),
	C("boots", boots, ARMS, REQUIRED),
	C("boots_rejected", boots_rejected, ARMS),
	C("runs", runs, COUNT),
	C("runs_rejected", runs_rejected, COUNT),
	C("passes", passes, COUNT),
	C("base", mean[SAMPLE_ARM_BASE], DOUBLE),
	C("patched", mean[SAMPLE_ARM_PATCHED], DOUBLE),
	C("change_pct", change_pct, DOUBLE),
	C("ci_low_pct", ci_low_pct, DOUBLE),
	C("ci_high_pct", ci_high_pct, DOUBLE),
	C("ci_level", ci_level, DOUBLE),
	C("p", p, DOUBLE),
	C("p_holm", p_holm, DOUBLE),
	C("p_bh", p_bh, DOUBLE),
	C("p_permutation", p_permutation, DOUBLE),
	C("permutation_exact", permutation_exact, BOOL),
	C("drift_adjusted", drift_adjusted, BOOL),
	C("drift_p", drift_p, DOUBLE),
	C("hl_shift_pct", hl_shift_pct, DOUBLE),
	C("hl_low_pct", hl_low_pct, DOUBLE),
	C("hl_high_pct", hl_high_pct, DOUBLE),
	C("residual_sd_pct", residual_sd_pct, DOUBLE),
	C("boot_sd_pct", boot_sd_pct, DOUBLE),
	C("run_sd_pct", run_sd_pct, DOUBLE),
	C("pass_sd_pct", pass_sd_pct, DOUBLE),
	C("components_truncated", components_truncated, BOOL),
	C("verdict", verdict, VERDICT, REQUIRED),
	C("reason", reason, TEXT, REQUIRED),
	C("boots_needed", boots_needed, MAYBE),
	C("outliers", outliers, OUTLIERS),
	C("without_outliers_change_pct", without_change_pct, DOUBLE),
	C("without_outliers_ci_low_pct", without_ci_low_pct, DOUBLE),
	C("without_outliers_ci_high_pct", without_ci_high_pct, DOUBLE),
	C("seed", seed, INT64),
	C("boot_values", boot_values, VALUES),
};

static const StatsMember failures_members[] = {
	F("boots", boots, ARMS),
	F("failed", failed, ARMS),
	F("p", p, DOUBLE),
	F("verdict", verdict, VERDICT, REQUIRED),
	F("reason", reason, TEXT, REQUIRED),
};

static const StatsMember result_members[] = {
	R("method", method, TEXT, REQUIRED),
	R("clock", clock, TEXT),
	R("alpha", alpha, DOUBLE, REQUIRED),
	R("min_effect_pct", min_effect_pct, DOUBLE, REQUIRED),
	R("max_boots", max_boots, MAYBE),
	R("seed", seed, INT64, REQUIRED),
	R("summary", summary, TEXT, REQUIRED),
};

/* Writing */

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

static JsonNode *member_node(MemberKind kind, const void *field)
{
	JsonNode *node;

	switch (kind) {
	case MEMBER_VALUES:
		return values_node(field);
	case MEMBER_ARMS:
		return counts_node(field);
	case MEMBER_OUTLIERS:
		return outliers_node(*(GArray *const *)field);
	case MEMBER_DOUBLE:
		return double_node(*(const double *)field);
	default:
		break;
	}
	node = json_node_alloc();
	switch (kind) {
	case MEMBER_TEXT:
		if (*(const char *const *)field)
			return json_node_init_string(node, *(const char *const *)field);
		return json_node_init_null(node);
	case MEMBER_COUNT:
		return json_node_init_int(node, *(const guint *)field);
	case MEMBER_MAYBE:
		if (*(const guint *)field)
			return json_node_init_int(node, *(const guint *)field);
		return json_node_init_null(node);
	case MEMBER_INT64:
		return json_node_init_int(node, *(const gint64 *)field);
	case MEMBER_BOOL:
		return json_node_init_boolean(node, *(const gboolean *)field);
	case MEMBER_BETTER:
		return json_node_init_string(node, sample_better_to_string(*(const SampleBetter *)field));
	case MEMBER_VERDICT:
		return json_node_init_string(node, stats_verdict_to_string(*(const StatsVerdict *)field));
	default:
		g_assert_not_reached();
	}
}

static JsonObject *write_members(const StatsMember *members, gsize count, const void *from)
{
	JsonObject *object = json_object_new();

	for (gsize i = 0; i < count; i++)
		json_object_set_member(object, members[i].name,
				       member_node(members[i].kind, G_STRUCT_MEMBER_P(from, members[i].offset)));
	return object;
}

JsonNode *stats_result_to_json(const StatsResult *result)
{
	JsonObject *object = write_members(result_members, G_N_ELEMENTS(result_members), result);
	JsonArray *comparisons = json_array_new();

	for (guint i = 0; i < result->comparisons->len; i++)
		json_array_add_object_element(comparisons,
					      write_members(comparison_members, G_N_ELEMENTS(comparison_members),
							    g_ptr_array_index(result->comparisons, i)));
	json_object_set_array_member(object, "comparisons", comparisons);
	json_object_set_object_member(object, "failures",
				      write_members(failures_members, G_N_ELEMENTS(failures_members), &result->failures));
	return json_node_init_object(json_node_alloc(), object);
}

char *stats_result_to_json_text(const StatsResult *result)
{
	g_autoptr(JsonNode) node = stats_result_to_json(result);
	g_autofree char *text = json_text(node, TRUE);

	return g_strconcat(text, "\n", NULL);
}

/* Reading */

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
	case MEMBER_DOUBLE:
		return read_double(node, field) || wrong(error, member->name, "a number");
	case MEMBER_TEXT:
		return read_text(node, field) || wrong(error, member->name, "a string");
	case MEMBER_COUNT:
	case MEMBER_MAYBE:
		return read_count(node, field) || wrong(error, member->name, "a count");
	case MEMBER_ARMS:
		return read_arms(node, field) || wrong(error, member->name, "an object of the arms' counts");
	case MEMBER_VALUES:
		return read_values(node, field) || wrong(error, member->name, "an object of the arms' values");
	case MEMBER_OUTLIERS:
		return read_outliers(node, *(GArray **)field) || wrong(error, member->name, "an array of outliers");
	case MEMBER_BETTER:
		return sample_better_from_string(text, field) || wrong(error, member->name, "lower or higher");
	case MEMBER_VERDICT:
		return stats_verdict_from_string(text, field) || wrong(error, member->name, "a verdict");
	case MEMBER_INT64:
		if (type != G_TYPE_INT64)
			return wrong(error, member->name, "a whole number");
		*(gint64 *)field = json_node_get_int(node);
		return TRUE;
	case MEMBER_BOOL:
		if (type != G_TYPE_BOOLEAN)
			return wrong(error, member->name, "true or false");
		*(gboolean *)field = json_node_get_boolean(node);
		return TRUE;
	}
	g_assert_not_reached();
}

static gboolean read_members(const StatsMember *members, gsize count, JsonNode *node, void *into, GError **error)
{
	if (!node || !JSON_NODE_HOLDS_OBJECT(node))
		return wrong(error, "the node", "an object");
	for (gsize i = 0; i < count; i++) {
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
		if (!read_members(comparison_members, G_N_ELEMENTS(comparison_members), json_array_get_element(array, i),
				  comparison, error)) {
			g_prefix_error(error, "comparison %u: ", i);
			return FALSE;
		}
	}
	return TRUE;
}

StatsResult *stats_result_from_json(JsonNode *node, GError **error)
{
	g_autoptr(StatsResult) result = stats_result_new();
	JsonObject *object;
	JsonNode *failures;

	if (!read_members(result_members, G_N_ELEMENTS(result_members), node, result, error))
		return NULL;
	object = json_node_get_object(node);
	if (!read_comparisons(json_object_get_member(object, "comparisons"), result->comparisons, error))
		return NULL;
	failures = json_object_get_member(object, "failures");
	if (failures && !read_members(failures_members, G_N_ELEMENTS(failures_members), failures, &result->failures, error)) {
		g_prefix_error(error, "failures: ");
		return NULL;
	}
	return g_steal_pointer(&result);
}
