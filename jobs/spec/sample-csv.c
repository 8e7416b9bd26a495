/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "jobs/spec/sample.h"

#include <math.h>
#include <string.h>

#include "jobs/spec/sample-columns.h"

static gboolean bad_syntax(GError **error, const char *what)
{
	g_set_error_literal(error, SAMPLE_ERROR, SAMPLE_ERROR_SYNTAX, what);
	return FALSE;
}

/* Takes the quotes off a field that begins at the quote `at`; sets *ret_end to the character behind it. */
static gboolean unquote(char *at, char **ret_end, GError **error)
{
	char *to = at, *from = at + 1;

	for (;; from++) {
		if (!*from)
			return bad_syntax(error, "a quoted field has no end on its line");
		if (*from == '"' && *++from != '"')
			break;
		*to++ = *from;
	}
	*ret_end = from;
	if (*from && *from != ',')
		return bad_syntax(error, "a closing quote is followed by neither a comma nor the end of the line");
	*to = 0; /* lies at least two before `from` */
	return TRUE;
}

/* Splits a record, NUL-terminated, in place. */
static gboolean split(char *line, char *fields[SAMPLE_COLUMN_COUNT], GError **error)
{
	char *at = line;
	gsize count = 0;

	for (;;) {
		char *end;

		if (count == SAMPLE_COLUMN_COUNT)
			return bad_syntax(error, "more than 17 fields");
		fields[count++] = at;
		if (*at == '"') {
			if (!unquote(at, &end, error))
				return FALSE;
		} else {
			end = at + strcspn(at, ",\"");
			if (*end == '"')
				return bad_syntax(error, "a quote inside a field that does not begin with one");
		}
		if (!*end)
			break;
		*end = 0;
		at = end + 1;
	}
	if (count == SAMPLE_COLUMN_COUNT)
		return TRUE;
	g_set_error(error, SAMPLE_ERROR, SAMPLE_ERROR_SYNTAX, "%" G_GSIZE_FORMAT " fields instead of 17", count);
	return FALSE;
}

static gboolean append_record(SampleTable *table, char *line, GError **error)
{
	char *fields[SAMPLE_COLUMN_COUNT];
	Sample sample;

	if (!split(line, fields, error))
		return FALSE;
	for (gsize i = 0; i < SAMPLE_COLUMN_COUNT; i++)
		if (!sample_column_set(&sample_columns[i], &sample, fields[i], error))
			return FALSE;
	return sample_table_append(table, &sample, error);
}

/* One line without its end. An empty one after the header is let pass. */
static gboolean read_line(SampleTable *table, const char *text, gsize length, gboolean header, GError **error)
{
	char line[SAMPLE_LINE_MAX_BYTES + 1];

	if (length > SAMPLE_LINE_MAX_BYTES) {
		g_set_error(error, SAMPLE_ERROR, SAMPLE_ERROR_LIMIT, "longer than %u bytes", SAMPLE_LINE_MAX_BYTES);
		return FALSE;
	}
	if (memchr(text, 0, length))
		return bad_syntax(error, "a NUL byte");
	memcpy(line, text, length);
	line[length] = 0;
	if (header)
		return g_str_equal(line, SAMPLE_CSV_HEADER) ||
		       bad_syntax(error, length ? "the header is not " SAMPLE_CSV_HEADER : "empty; wanted is the header " SAMPLE_CSV_HEADER);
	return !length || append_record(table, line, error);
}

SampleTable *sample_table_from_csv(const char *text, gsize length, GError **error)
{
	g_autoptr(SampleTable) table = sample_table_new();
	gsize at = 0, number = 0;

	if (length > SAMPLE_TEXT_MAX_BYTES) {
		g_set_error(error, SAMPLE_ERROR, SAMPLE_ERROR_LIMIT, "more than %u bytes", SAMPLE_TEXT_MAX_BYTES);
		return NULL;
	}
	do {
		const char *newline = at < length ? memchr(text + at, '\n', length - at) : NULL;
		gsize end = newline ? (gsize)(newline - text) : length;
		gsize next = newline ? end + 1 : length;

		number++;
		if (end > at && text[end - 1] == '\r')
			end--;
		if (!read_line(table, text + at, end - at, number == 1, error)) {
			g_prefix_error(error, "line %" G_GSIZE_FORMAT ": ", number);
			return NULL;
		}
		at = next;
	} while (at < length);
	return g_steal_pointer(&table);
}

static void append_field(GString *out, const char *text)
{
	if (!strpbrk(text, ",\"\r\n")) {
		g_string_append(out, text);
		return;
	}
	g_string_append_c(out, '"');
	for (; *text; text++) {
		if (*text == '"')
			g_string_append_c(out, '"');
		g_string_append_c(out, *text);
	}
	g_string_append_c(out, '"');
}

void sample_append_csv(GString *out, const Sample *sample)
{
	char number[G_ASCII_DTOSTR_BUF_SIZE];

	for (gsize i = 0; i < SAMPLE_COLUMN_COUNT; i++) {
		const SampleColumn *column = &sample_columns[i];
		const void *field = G_STRUCT_MEMBER_P(sample, column->offset);

		if (i)
			g_string_append_c(out, ',');
		switch (column->kind) {
		case SAMPLE_COLUMN_INT64:
			g_string_append_printf(out, "%" G_GINT64_FORMAT, *(const gint64 *)field);
			break;
		case SAMPLE_COLUMN_INT:
			g_string_append_printf(out, "%d", *(const int *)field);
			break;
		case SAMPLE_COLUMN_BOOL:
			g_string_append_c(out, *(const gboolean *)field ? '1' : '0');
			break;
		case SAMPLE_COLUMN_STRING:
			append_field(out, *(const char *const *)field);
			break;
		case SAMPLE_COLUMN_VALUE:
			if (!isnan(sample->value))
				g_string_append(out, sample_format_double(number, sample->value));
			break;
		case SAMPLE_COLUMN_ARM:
			g_string_append(out, sample_arm_to_string(sample->arm));
			break;
		case SAMPLE_COLUMN_BETTER:
			g_string_append(out, sample_better_to_string(sample->better));
			break;
		}
	}
	g_string_append(out, "\r\n");
}

char *sample_table_to_csv(const SampleTable *table)
{
	GString *out = g_string_new(SAMPLE_CSV_HEADER "\r\n");

	for (gsize i = 0; i < sample_table_length(table); i++)
		sample_append_csv(out, sample_table_get(table, i));
	return g_string_free(out, FALSE);
}
