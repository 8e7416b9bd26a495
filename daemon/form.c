/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/form.h"

#include <string.h>

static void field_free(gpointer data)
{
	FormField *field = data;

	g_free(field->name);
	g_free(field);
}

/*
 * The value of a parameter of a header such as 'form-data; name="series"'.
 * Quotes and backslashes inside quotes are understood. NULL: not there.
 */
static char *parameter(const char *header, const char *wanted)
{
	const char *p = strchr(header, ';');

	while (p && *p) {
		g_autoptr(GString) value = g_string_new(NULL);
		const char *name = p + 1, *end;

		while (*name == ' ' || *name == '\t')
			name++;
		end = name + strcspn(name, "=;");
		if (*end != '=') {
			p = *end ? end : NULL;
			continue;
		}
		p = end + 1;
		if (*p == '"') {
			for (p++; *p && *p != '"'; p++) {
				/* browsers write \" for a quote and leave other backslashes alone */
				if (*p == '\\' && p[1] == '"')
					p++;
				g_string_append_c(value, *p);
			}
			p = strchr(p, ';');
		} else {
			gsize length = strcspn(p, ";");

			g_string_append_len(value, p, (gssize)length);
			g_strchomp(value->str);
			p = p[length] ? p + length : NULL;
		}
		if ((gsize)(end - name) == strlen(wanted) && g_ascii_strncasecmp(name, wanted, strlen(wanted)) == 0)
			return g_strdup(value->str);
	}
	return NULL;
}

char *form_boundary(const char *content_type)
{
	g_autofree char *boundary = parameter(content_type, "boundary");

	if (!boundary || !*boundary || strlen(boundary) > FORM_MAX_BOUNDARY_BYTES)
		return NULL;
	for (const char *p = boundary; *p; p++)
		if (!g_ascii_isprint(*p))
			return NULL;
	return g_steal_pointer(&boundary);
}

typedef struct {
	const char *at, *end;
	char *delimiter;	/* "--BOUNDARY" */
} Scan;

/* The delimiter at the start of a line, from scan->at on; NULL: none. */
static const char *find_delimiter(const Scan *scan, const char *from)
{
	gsize length = strlen(scan->delimiter);

	while ((gsize)(scan->end - from) >= length) {
		const char *found = memmem(from, (gsize)(scan->end - from), scan->delimiter, length);

		if (!found)
			return NULL;
		if (found == scan->at || (found - scan->at >= 2 && found[-1] == '\n' && found[-2] == '\r'))
			return found;
		from = found + 1;
	}
	return NULL;
}

/* Behind a delimiter: spaces and a line end (one more part), or "--" (the last one was). */
static gboolean after_delimiter(Scan *scan, const char *delimiter, gboolean *ret_last, GError **error)
{
	const char *p = delimiter + strlen(scan->delimiter);

	if (scan->end - p >= 2 && p[0] == '-' && p[1] == '-') {
		*ret_last = TRUE;
		return TRUE;
	}
	while (p < scan->end && (*p == ' ' || *p == '\t'))
		p++;
	if (scan->end - p < 2 || p[0] != '\r' || p[1] != '\n')
		return spec_error_set(error, SPEC_ERROR_SYNTAX, NULL, "the form breaks off at a boundary");
	scan->at = p + 2;
	*ret_last = FALSE;
	return TRUE;
}

/* The headers of a part: only Content-Disposition matters. scan->at moves behind the empty line. */
static gboolean read_headers(Scan *scan, FormField *field, GError **error)
{
	gsize window = MIN((gsize)(scan->end - scan->at), FORM_MAX_HEADER_BYTES);
	const char *stop = memmem(scan->at, window, "\r\n\r\n", 4);
	g_autofree char *text = NULL;
	g_auto(GStrv) lines = NULL;

	if (!stop)
		return spec_error_set(error, SPEC_ERROR_SYNTAX, NULL,
				      "a part of the form has no end of its headers within %d bytes",
				      FORM_MAX_HEADER_BYTES);
	text = g_strndup(scan->at, (gsize)(stop - scan->at));
	if (memchr(scan->at, 0, (gsize)(stop - scan->at)))
		return spec_error_set(error, SPEC_ERROR_SYNTAX, NULL, "a header of the form has a NUL in it");
	scan->at = stop + 4;
	lines = g_strsplit(text, "\r\n", -1);
	for (char **line = lines; *line; line++) {
		g_autofree char *file = NULL;

		if (g_ascii_strncasecmp(*line, "content-disposition:", 20) != 0)
			continue;
		file = parameter(*line, "filename");
		g_free(field->name);
		field->name = parameter(*line, "name");
		field->is_file = file != NULL;
	}
	if (!field->name || !*field->name || !g_utf8_validate(field->name, -1, NULL))
		return spec_error_set(error, SPEC_ERROR_SYNTAX, NULL, "a part of the form has no name");
	return TRUE;
}

static gboolean read_parts(Scan *scan, GPtrArray *fields, GError **error)
{
	const char *delimiter = find_delimiter(scan, scan->at);
	gboolean last = FALSE;

	if (!delimiter)
		return spec_error_set(error, SPEC_ERROR_SYNTAX, NULL, "the form's boundary is not in the body");
	while (after_delimiter(scan, delimiter, &last, error)) {
		FormField *field;

		if (last)
			return TRUE;
		if (fields->len == FORM_MAX_FIELDS)
			return spec_error_set(error, SPEC_ERROR_LIMIT, NULL, "more than %d fields in a form",
					      FORM_MAX_FIELDS);
		field = g_new0(FormField, 1);
		g_ptr_array_add(fields, field);
		if (!read_headers(scan, field, error))
			return FALSE;
		delimiter = find_delimiter(scan, scan->at);
		if (!delimiter)
			return spec_error_set(error, SPEC_ERROR_SYNTAX, field->name, "the form breaks off in this field");
		field->data = scan->at;
		field->size = delimiter == scan->at ? 0 : (gsize)(delimiter - 2 - scan->at);
	}
	return FALSE;
}

gboolean form_parse(const char *body, gsize size, const char *boundary, GPtrArray **ret_fields, GError **error)
{
	g_autoptr(GPtrArray) fields = g_ptr_array_new_with_free_func(field_free);
	g_autofree char *delimiter = g_strconcat("--", boundary, NULL);
	Scan scan = { body, body + size, delimiter };

	if (!read_parts(&scan, fields, error))
		return FALSE;
	*ret_fields = g_steal_pointer(&fields);
	return TRUE;
}
