/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "jobs/spec/error.h"

#include <string.h>

G_DEFINE_QUARK(spec-error-quark, spec_error)

gboolean spec_error_set(GError **error, SpecError code, const char *field, const char *format, ...)
{
	g_autofree char *words = NULL, *message = NULL, *valid = NULL;
	va_list args;

	va_start(args, format);
	words = g_strdup_vprintf(format, args);
	va_end(args);
	message = field ? g_strconcat(field, ": ", words, NULL) : g_strdup(words);
	/* what it quotes may be cut within a character */
	valid = g_utf8_make_valid(message, -1);
	g_set_error_literal(error, SPEC_ERROR, code, valid);
	return FALSE;
}

char *spec_error_field(const GError *error)
{
	const char *colon = strstr(error->message, ": ");

	for (const char *p = error->message; colon && p < colon; p++)
		if (!g_ascii_isalnum(*p) && !strchr("_.-[]", *p))
			return NULL;	/* a sentence with a colon in it */
	return colon ? g_strndup(error->message, (gsize)(colon - error->message)) : NULL;
}
