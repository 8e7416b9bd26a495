/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "jobs/spec/peek.h"

static JsonNode *value(JsonObject *object, const char *member, GType type)
{
	JsonNode *node = object ? json_object_get_member(object, member) : NULL;

	return node && JSON_NODE_HOLDS_VALUE(node) && json_node_get_value_type(node) == type ? node : NULL;
}

const char *peek_string(JsonObject *object, const char *member)
{
	JsonNode *node = value(object, member, G_TYPE_STRING);

	return node ? json_node_get_string(node) : "";
}

gint64 peek_int(JsonObject *object, const char *member, gint64 standard)
{
	JsonNode *node = value(object, member, G_TYPE_INT64);

	return node ? json_node_get_int(node) : standard;
}

double peek_double(JsonObject *object, const char *member, double standard)
{
	JsonNode *node = value(object, member, G_TYPE_DOUBLE);

	if (node)
		return json_node_get_double(node);
	node = value(object, member, G_TYPE_INT64);
	return node ? (double)json_node_get_int(node) : standard;
}

gboolean peek_bool(JsonObject *object, const char *member)
{
	JsonNode *node = value(object, member, G_TYPE_BOOLEAN);

	return node && json_node_get_boolean(node);
}

JsonObject *peek_object(JsonObject *object, const char *member)
{
	JsonNode *node = object ? json_object_get_member(object, member) : NULL;

	return node && JSON_NODE_HOLDS_OBJECT(node) ? json_node_get_object(node) : NULL;
}

JsonArray *peek_array(JsonObject *object, const char *member)
{
	JsonNode *node = object ? json_object_get_member(object, member) : NULL;

	return node && JSON_NODE_HOLDS_ARRAY(node) ? json_node_get_array(node) : NULL;
}

guint peek_length(JsonArray *array)
{
	return array ? json_array_get_length(array) : 0;
}

JsonObject *peek_element(JsonArray *array, guint i)
{
	JsonNode *node = json_array_get_element(array, i);

	return JSON_NODE_HOLDS_OBJECT(node) ? json_node_get_object(node) : NULL;
}
