/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "jobs/spec/members.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "jobs/spec/clock.h"

static gpointer at(gpointer record, const Member *m)
{
	return (char *)record + m->offset;
}

static gconstpointer at_const(gconstpointer record, const Member *m)
{
	return (const char *)record + m->offset;
}

static const Member *find(const Member *members, gsize n, const char *name)
{
	for (gsize i = 0; i < n; i++)
		if (g_str_equal(members[i].name, name))
			return &members[i];
	return NULL;
}

void members_clear(const Member *members, gsize n, gpointer record)
{
	for (gsize i = 0; i < n; i++) {
		if (members[i].kind == MEMBER_STRING)
			g_clear_pointer((char **)at(record, &members[i]), g_free);
		else if (members[i].kind == MEMBER_STRV)
			g_clear_pointer((char ***)at(record, &members[i]), g_strfreev);
	}
}

JsonObject *members_to_json(const Member *members, gsize n, gconstpointer record)
{
	JsonObject *object = json_object_new();

	for (gsize i = 0; i < n; i++) {
		const Member *m = &members[i];
		gconstpointer p = at_const(record, m);

		switch (m->kind) {
		case MEMBER_STRING:
			json_object_set_string_member(object, m->name, *(char *const *)p);
			break;
		case MEMBER_STRV: {
			JsonArray *array = json_array_new();

			for (char *const *s = *(char **const *)p; *s; s++)
				json_array_add_string_element(array, *s);
			json_object_set_array_member(object, m->name, array);
			break;
		}
		case MEMBER_INT:
			json_object_set_int_member(object, m->name, *(const int *)p);
			break;
		case MEMBER_INT64:
			json_object_set_int_member(object, m->name, *(const gint64 *)p);
			break;
		case MEMBER_UINT64: {
			g_autofree char *digits = g_strdup_printf("%" G_GUINT64_FORMAT,
								  *(const guint64 *)p);

			json_object_set_string_member(object, m->name, digits);
			break;
		}
		case MEMBER_DOUBLE:
			json_object_set_double_member(object, m->name, *(const double *)p);
			break;
		case MEMBER_BOOL:
			json_object_set_boolean_member(object, m->name, *(const gboolean *)p);
			break;
		case MEMBER_CLOCK:
			json_object_set_string_member(object, m->name,
						      job_clock_name(*(const JobClock *)p));
			break;
		}
	}
	return object;
}

static gboolean check_text(const Member *m, const char *text, GError **error)
{
	if (!g_utf8_validate(text, -1, NULL))
		return spec_error_set(error, SPEC_ERROR_VALUE, m->name, "is not UTF-8");
	for (const char *p = text; *p; p++)
		if (g_ascii_iscntrl(*p))
			return spec_error_set(error, SPEC_ERROR_VALUE, m->name,
					      "has a control character in it");
	if (m->check && *text && !m->check(text))
		return spec_error_set(error, SPEC_ERROR_VALUE, m->name, "'%.60s' is not %s", text,
				      m->allowed);
	return TRUE;
}

static gboolean set_string(const Member *m, gpointer record, const char *text, GError **error)
{
	char **p = at(record, m);

	if (strlen(text) > (gsize)m->max)
		return spec_error_set(error, SPEC_ERROR_LIMIT, m->name, "is longer than %.0f bytes",
				      m->max);
	if (!check_text(m, text, error))
		return FALSE;
	g_free(*p);
	*p = g_strdup(text);
	return TRUE;
}

/* Takes words, sets the member or frees them. */
static gboolean set_strv(const Member *m, gpointer record, char **words, GError **error)
{
	g_auto(GStrv) owned = words;
	char ***p = at(record, m);

	if (g_strv_length(owned) > (guint)m->max)
		return spec_error_set(error, SPEC_ERROR_LIMIT, m->name, "more than %.0f of them",
				      m->max);
	for (char **word = owned; *word; word++) {
		if (!**word)
			return spec_error_set(error, SPEC_ERROR_VALUE, m->name, "an empty word");
		if (strlen(*word) > 512)
			return spec_error_set(error, SPEC_ERROR_LIMIT, m->name,
					      "a word longer than 512 bytes");
		if (!check_text(m, *word, error))
			return FALSE;
	}
	g_strfreev(*p);
	*p = g_steal_pointer(&owned);
	return TRUE;
}

static gboolean set_number(const Member *m, gpointer record, double value, GError **error)
{
	gboolean whole = m->kind != MEMBER_DOUBLE;

	if (!isfinite(value) || (whole && floor(value) != value))
		return spec_error_set(error, SPEC_ERROR_VALUE, m->name, "is not a %snumber",
				      whole ? "whole " : "");
	if (value < m->min || value > m->max || (m->open_min && value <= m->min))
		return spec_error_set(error, SPEC_ERROR_VALUE, m->name,
				      "%g is outside %s%g to %g", value,
				      m->open_min ? "above " : "", m->min, m->max);
	if (m->kind == MEMBER_INT)
		*(int *)at(record, m) = (int)value;
	else if (m->kind == MEMBER_INT64)
		*(gint64 *)at(record, m) = (gint64)value;
	else
		*(double *)at(record, m) = value;
	return TRUE;
}

static gboolean set_uint64(const Member *m, gpointer record, const char *text, GError **error)
{
	g_autoptr(GError) problem = NULL;

	if (!g_ascii_string_to_unsigned(text, 10, 0, G_MAXUINT64, at(record, m), &problem))
		return spec_error_set(error, SPEC_ERROR_VALUE, m->name, "%s", problem->message);
	return TRUE;
}

static gboolean set_bool(const Member *m, gpointer record, const char *text, GError **error)
{
	gboolean yes = g_str_equal(text, "1") || g_str_equal(text, "true") || g_str_equal(text, "yes");

	if (!yes && !g_str_equal(text, "0") && !g_str_equal(text, "false") && !g_str_equal(text, "no"))
		return spec_error_set(error, SPEC_ERROR_VALUE, m->name, "is neither true nor false");
	*(gboolean *)at(record, m) = yes;
	return TRUE;
}

static gboolean set_clock(const Member *m, gpointer record, const char *text, GError **error)
{
	if (!job_clock_from_name(text, at(record, m)))
		return spec_error_set(error, SPEC_ERROR_VALUE, m->name,
				      "'%.60s' is none of auto, kvm, tcg, icount", text);
	return TRUE;
}

static gboolean text_number(const Member *m, const char *text, double *ret_value, GError **error)
{
	char *end;

	errno = 0;
	*ret_value = g_ascii_strtod(text, &end);
	if (end == text || *end || errno || g_ascii_isspace(*text))
		return spec_error_set(error, SPEC_ERROR_VALUE, m->name, "'%.60s' is not a number",
				      text);
	return TRUE;
}

gboolean members_set_text(const Member *members, gsize n, gpointer record, const char *name,
			  const char *text, GError **error)
{
	const Member *m = find(members, n, name);
	double value;

	if (!m || m->internal)
		return spec_error_set(error, SPEC_ERROR_VALUE, NULL, "unknown field '%.60s'", name);
	switch (m->kind) {
	case MEMBER_STRING:
		return set_string(m, record, text, error);
	case MEMBER_STRV:
		return set_strv(m, record, *text ? g_strsplit(text, m->commas ? "," : " ", -1) :
						   g_new0(char *, 1), error);
	case MEMBER_UINT64:
		return set_uint64(m, record, text, error);
	case MEMBER_BOOL:
		return set_bool(m, record, text, error);
	case MEMBER_CLOCK:
		return set_clock(m, record, text, error);
	case MEMBER_INT:
	case MEMBER_INT64:
	case MEMBER_DOUBLE:
		return text_number(m, text, &value, error) && set_number(m, record, value, error);
	}
	g_assert_not_reached();
}

static gboolean strv_from_json(const Member *m, gpointer record, JsonNode *node, GError **error)
{
	g_autoptr(GStrvBuilder) words = g_strv_builder_new();
	JsonArray *array;

	if (JSON_NODE_HOLDS_VALUE(node) && json_node_get_value_type(node) == G_TYPE_STRING)
		return members_set_text(m, 1, record, m->name, json_node_get_string(node), error);
	if (!JSON_NODE_HOLDS_ARRAY(node))
		return spec_error_set(error, SPEC_ERROR_VALUE, m->name, "is not an array of strings");
	array = json_node_get_array(node);
	if (json_array_get_length(array) > (guint)m->max)
		return spec_error_set(error, SPEC_ERROR_LIMIT, m->name, "more than %.0f of them",
				      m->max);
	for (guint i = 0; i < json_array_get_length(array); i++) {
		JsonNode *element = json_array_get_element(array, i);

		if (!JSON_NODE_HOLDS_VALUE(element) ||
		    json_node_get_value_type(element) != G_TYPE_STRING)
			return spec_error_set(error, SPEC_ERROR_VALUE, m->name,
					      "is not an array of strings");
		g_strv_builder_add(words, json_node_get_string(element));
	}
	return set_strv(m, record, g_strv_builder_end(words), error);
}

static gboolean member_from_json(const Member *m, gpointer record, JsonNode *node, GError **error)
{
	GType type;

	if (m->kind == MEMBER_STRV)
		return strv_from_json(m, record, node, error);
	if (!JSON_NODE_HOLDS_VALUE(node))
		return spec_error_set(error, SPEC_ERROR_VALUE, m->name, "is of the wrong type");
	type = json_node_get_value_type(node);
	switch (m->kind) {
	case MEMBER_BOOL:
		if (type != G_TYPE_BOOLEAN)
			return spec_error_set(error, SPEC_ERROR_VALUE, m->name,
					      "is neither true nor false");
		*(gboolean *)at(record, m) = json_node_get_boolean(node);
		return TRUE;
	case MEMBER_INT64:
		if (type != G_TYPE_INT64)
			return spec_error_set(error, SPEC_ERROR_VALUE, m->name,
					      "is not a whole number");
		if ((double)json_node_get_int(node) < m->min || (double)json_node_get_int(node) > m->max)
			return spec_error_set(error, SPEC_ERROR_VALUE, m->name, "is out of range");
		*(gint64 *)at(record, m) = json_node_get_int(node);
		return TRUE;
	case MEMBER_INT:
	case MEMBER_DOUBLE:
		if (type != G_TYPE_INT64 && type != G_TYPE_DOUBLE)
			return spec_error_set(error, SPEC_ERROR_VALUE, m->name, "is not a number");
		return set_number(m, record, json_node_get_double(node), error);
	default:
		if (type != G_TYPE_STRING)
			return spec_error_set(error, SPEC_ERROR_VALUE, m->name, "is not a string");
	}
	switch (m->kind) {
	case MEMBER_STRING:
		return set_string(m, record, json_node_get_string(node), error);
	case MEMBER_UINT64:
		return set_uint64(m, record, json_node_get_string(node), error);
	default:
		return set_clock(m, record, json_node_get_string(node), error);
	}
}

gboolean members_from_json(const Member *members, gsize n, gpointer record, JsonObject *object,
			   GError **error)
{
	JsonObjectIter iter;
	const char *name;
	JsonNode *node;

	json_object_iter_init(&iter, object);
	while (json_object_iter_next(&iter, &name, &node)) {
		const Member *m = find(members, n, name);

		if (!m)
			return spec_error_set(error, SPEC_ERROR_VALUE, NULL,
					      "unknown member '%.60s'", name);
		if (!member_from_json(m, record, node, error))
			return FALSE;
	}
	return TRUE;
}
