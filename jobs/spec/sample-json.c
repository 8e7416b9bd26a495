/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "jobs/spec/sample.h"

#include <json-glib/json-glib.h>
#include <math.h>
#include <string.h>

#include "jobs/spec/sample-columns.h"

/* A larger integer would silently wrap in the JSON reader. */
#define INTEGER_MAX "9223372036854775807"
#define INTEGER_MAX_DIGITS (sizeof INTEGER_MAX - 1)

static gboolean bad_syntax(GError **error, const char *what)
{
	g_set_error_literal(error, SAMPLE_ERROR, SAMPLE_ERROR_SYNTAX, what);
	return FALSE;
}

/* Checks the number at text[*at] and moves *at behind it. Stricter than the JSON reader, which takes octal,
 * hexadecimal and overflowing integers for numbers. */
static gboolean skip_number(const char *text, gsize length, gsize *at, GError **error)
{
	gsize begin = *at, end = *at, digits;

	while (end < length && (g_ascii_isdigit(text[end]) || strchr("+-.eE", text[end])) && text[end])
		end++;
	*at = end;
	if (text[begin] == '-')
		begin++;
	for (digits = 0; begin + digits < end && g_ascii_isdigit(text[begin + digits]); digits++)
		;
	if (!digits || (digits > 1 && text[begin] == '0') || (end < length && !strchr(",}] \t\r\n", text[end])))
		return bad_syntax(error, "a malformed number");
	if (begin + digits == end && (digits > INTEGER_MAX_DIGITS ||
				      (digits == INTEGER_MAX_DIGITS && strncmp(text + begin, INTEGER_MAX, digits) > 0)))
		return bad_syntax(error, "a whole number above " INTEGER_MAX);
	return TRUE;
}

static gboolean skip_string(const char *text, gsize length, gsize *at, GError **error)
{
	for (gsize i = *at + 1; i < length; i++) {
		if (text[i] == '\\')
			i++;
		else if (text[i] == '"') {
			*at = i + 1;
			return TRUE;
		}
	}
	return bad_syntax(error, "a string without its end");
}

/* Finds the end of the flat object that begins at `text`: nothing nested, so the JSON reader cannot be made to recurse,
 * no comments, and only real numbers. */
static gboolean find_object_end(const char *text, gsize length, gsize *ret_length, GError **error)
{
	gsize at = 1;

	length = MIN(length, SAMPLE_LINE_MAX_BYTES + 1);
	while (at < length && text[at] != '}') {
		gboolean good = TRUE;

		if (text[at] == '"')
			good = skip_string(text, length, &at, error);
		else if (g_ascii_isdigit(text[at]) || text[at] == '-')
			good = skip_number(text, length, &at, error);
		else if (g_ascii_islower(text[at]) || (text[at] && strchr(":, \t\r\n", text[at])))
			at++;
		else
			good = bad_syntax(error, "not a JSON object of plain members");
		if (!good)
			return FALSE;
	}
	if (at < length && at < SAMPLE_LINE_MAX_BYTES) {
		*ret_length = at + 1;
		return TRUE;
	}
	if (length < SAMPLE_LINE_MAX_BYTES + 1)
		return bad_syntax(error, "an object without its end");
	g_set_error(error, SAMPLE_ERROR, SAMPLE_ERROR_LIMIT, "longer than %u bytes", SAMPLE_LINE_MAX_BYTES);
	return FALSE;
}

static gboolean wrong_type(GError **error, const SampleColumn *column, const char *wanted)
{
	g_set_error(error, SAMPLE_ERROR, SAMPLE_ERROR_VALUE, "%s: is not %s", column->name, wanted);
	return FALSE;
}

static gboolean set_member(const SampleColumn *column, Sample *sample, JsonNode *node, GError **error)
{
	GType type = json_node_get_value_type(node); /* none for null */
	char number[32];

	switch (column->kind) {
	case SAMPLE_COLUMN_VALUE:
		if (type == G_TYPE_INT64 || type == G_TYPE_DOUBLE)
			sample->value = json_node_get_double(node);
		else if (JSON_NODE_HOLDS_NULL(node))
			sample->value = NAN;
		else
			return wrong_type(error, column, "a number or null");
		return TRUE;
	case SAMPLE_COLUMN_BOOL:
		if (type == G_TYPE_BOOLEAN) {
			*(gboolean *)G_STRUCT_MEMBER_P(sample, column->offset) = json_node_get_boolean(node);
			return TRUE;
		}
		G_GNUC_FALLTHROUGH;
	case SAMPLE_COLUMN_INT64:
	case SAMPLE_COLUMN_INT:
		if (type != G_TYPE_INT64)
			return wrong_type(error, column, "a whole number");
		g_snprintf(number, sizeof number, "%" G_GINT64_FORMAT, json_node_get_int(node));
		return sample_column_set(column, sample, number, error);
	case SAMPLE_COLUMN_STRING:
	case SAMPLE_COLUMN_ARM:
	case SAMPLE_COLUMN_BETTER:
		if (type != G_TYPE_STRING)
			return wrong_type(error, column, "a string");
		return sample_column_set(column, sample, json_node_get_string(node), error);
	}
	g_assert_not_reached();
}

static gboolean append_object(SampleTable *table, JsonObject *object, GError **error)
{
	Sample sample;

	for (gsize i = 0; i < SAMPLE_COLUMN_COUNT; i++) {
		JsonNode *node = json_object_get_member(object, sample_columns[i].name);

		if (!node) {
			g_set_error(error, SAMPLE_ERROR, SAMPLE_ERROR_SYNTAX, "%s: is missing", sample_columns[i].name);
			return FALSE;
		}
		if (!set_member(&sample_columns[i], &sample, node, error))
			return FALSE;
	}
	if (json_object_get_size(object) != SAMPLE_COLUMN_COUNT)
		return bad_syntax(error, "a member that is no column");
	return sample_table_append(table, &sample, error);
}

/* Reads the object at the start of `text`; *ret_used is its length. */
static gboolean read_object(SampleTable *table, JsonParser *parser, const char *text, gsize length, gsize *ret_used,
			    GError **error)
{
	g_autoptr(GError) reason = NULL;
	gsize used;

	if (!length || text[0] != '{')
		return bad_syntax(error, "no JSON object where a sample should begin");
	if (!find_object_end(text, length, &used, error))
		return FALSE;
	if (!json_parser_load_from_data(parser, text, (gssize)used, &reason)) {
		g_set_error(error, SAMPLE_ERROR, SAMPLE_ERROR_SYNTAX, "not JSON: %s", reason->message);
		return FALSE;
	}
	*ret_used = used;
	return append_object(table, json_node_get_object(json_parser_get_root(parser)), error);
}

/* Moves *at over white space and counts the lines in it. */
static void skip_space(const char *text, gsize length, gsize *at, gsize *line)
{
	while (*at < length && text[*at] && strchr(" \t\r\n", text[*at]))
		*line += text[(*at)++] == '\n';
}

static gsize count_lines(const char *text, gsize length)
{
	gsize lines = 0;

	for (gsize i = 0; i < length; i++)
		lines += text[i] == '\n';
	return lines;
}

static gboolean append_line(SampleTable *table, JsonParser *parser, const char *line, gsize length, GError **error)
{
	gsize at = 0, used = 0, lines = 0;

	skip_space(line, length, &at, &lines);
	if (!read_object(table, parser, line + at, length - at, &used, error))
		return FALSE;
	at += used;
	skip_space(line, length, &at, &lines);
	return at == length || bad_syntax(error, "more than one object on the line");
}

gboolean sample_table_append_json(SampleTable *table, const char *line, gsize length, GError **error)
{
	g_autoptr(JsonParser) parser = json_parser_new_immutable();

	return append_line(table, parser, line, length, error);
}

static gboolean fits(gsize length, GError **error)
{
	if (length <= SAMPLE_TEXT_MAX_BYTES)
		return TRUE;
	g_set_error(error, SAMPLE_ERROR, SAMPLE_ERROR_LIMIT, "more than %u bytes", SAMPLE_TEXT_MAX_BYTES);
	return FALSE;
}

SampleTable *sample_table_from_jsonl(const char *text, gsize length, gsize *ret_used, GError **error)
{
	g_autoptr(SampleTable) table = sample_table_new();
	g_autoptr(JsonParser) parser = json_parser_new_immutable();
	const char *newline;
	gsize at = 0, number = 0;

	if (!fits(length, error))
		return NULL;
	while (at < length && (newline = memchr(text + at, '\n', length - at))) {
		gsize end = (gsize)(newline - text);

		number++;
		if (!append_line(table, parser, text + at, end - at, error)) {
			g_prefix_error(error, "line %" G_GSIZE_FORMAT ": ", number);
			return NULL;
		}
		at = end + 1;
	}
	if (ret_used)
		*ret_used = at;
	return g_steal_pointer(&table);
}

/* The elements between the brackets; *at is behind the opening one. */
static gboolean read_elements(SampleTable *table, const char *text, gsize length, gsize *at, gsize *line,
			      GError **error)
{
	g_autoptr(JsonParser) parser = json_parser_new_immutable();

	skip_space(text, length, at, line);
	if (*at < length && text[*at] == ']')
		return TRUE;
	for (;;) {
		gsize used = 0;

		if (!read_object(table, parser, text + *at, length - *at, &used, error))
			return FALSE;
		*line += count_lines(text + *at, used);
		*at += used;
		skip_space(text, length, at, line);
		if (*at < length && text[*at] == ']')
			return TRUE;
		if (*at == length || text[*at] != ',')
			return bad_syntax(error, "neither a comma nor the end of the array behind a sample");
		(*at)++;
		skip_space(text, length, at, line);
	}
}

SampleTable *sample_table_from_json(const char *text, gsize length, GError **error)
{
	g_autoptr(SampleTable) table = sample_table_new();
	gsize at = 0, line = 1;
	gboolean good;

	if (!fits(length, error))
		return NULL;
	skip_space(text, length, &at, &line);
	if (at == length || text[at] != '[')
		good = bad_syntax(error, "not a JSON array of samples");
	else {
		at++;
		good = read_elements(table, text, length, &at, &line, error);
	}
	if (good) {
		at++;
		skip_space(text, length, &at, &line);
		good = at == length || bad_syntax(error, "something behind the end of the array");
	}
	if (!good) {
		g_prefix_error(error, "line %" G_GSIZE_FORMAT ": ", line);
		return NULL;
	}
	return g_steal_pointer(&table);
}

static void append_string(GString *out, const char *text)
{
	g_string_append_c(out, '"');
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			g_string_append_c(out, '\\');
		g_string_append_c(out, *text);
	}
	g_string_append_c(out, '"');
}

void sample_append_json(GString *out, const Sample *sample)
{
	char number[G_ASCII_DTOSTR_BUF_SIZE];

	for (gsize i = 0; i < SAMPLE_COLUMN_COUNT; i++) {
		const SampleColumn *column = &sample_columns[i];
		const void *field = G_STRUCT_MEMBER_P(sample, column->offset);

		g_string_append_printf(out, "%c\"%s\":", i ? ',' : '{', column->name);
		switch (column->kind) {
		case SAMPLE_COLUMN_INT64:
			g_string_append_printf(out, "%" G_GINT64_FORMAT, *(const gint64 *)field);
			break;
		case SAMPLE_COLUMN_INT:
			g_string_append_printf(out, "%d", *(const int *)field);
			break;
		case SAMPLE_COLUMN_BOOL:
			g_string_append(out, *(const gboolean *)field ? "true" : "false");
			break;
		case SAMPLE_COLUMN_STRING:
			append_string(out, *(const char *const *)field);
			break;
		case SAMPLE_COLUMN_VALUE:
			g_string_append(out, isnan(sample->value) ? "null" : sample_format_double(number, sample->value));
			break;
		case SAMPLE_COLUMN_ARM:
			append_string(out, sample_arm_to_string(sample->arm));
			break;
		case SAMPLE_COLUMN_BETTER:
			append_string(out, sample_better_to_string(sample->better));
			break;
		}
	}
	g_string_append_c(out, '}');
}

char *sample_table_to_json(const SampleTable *table)
{
	GString *out = g_string_new("[");

	for (gsize i = 0; i < sample_table_length(table); i++) {
		g_string_append(out, i ? ",\n" : "\n");
		sample_append_json(out, sample_table_get(table, i));
	}
	g_string_append(out, "\n]\n");
	return g_string_free(out, FALSE);
}
