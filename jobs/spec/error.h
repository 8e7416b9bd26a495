/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The one error domain of jobs/spec: what is wrong with something that came
 * from outside. The message is for a person; the field names the member, form
 * field or .ini key that is wrong.
 */
#pragma once

#include <glib.h>

#define SPEC_ERROR (spec_error_quark())
GQuark spec_error_quark(void);

typedef enum {
	SPEC_ERROR_SYNTAX,	/* not JSON, not an mbox, not an .ini */
	SPEC_ERROR_MISSING,	/* a member that must be there is not */
	SPEC_ERROR_VALUE,	/* of the wrong type, or out of its range */
	SPEC_ERROR_LIMIT,	/* larger than this lab takes */
	SPEC_ERROR_UNSAFE,	/* a path or a name that leaves its place */
	SPEC_ERROR_INCOMPLETE,	/* a series with parts missing or doubled */
	SPEC_ERROR_IO,		/* a file that cannot be read or written */
} SpecError;

/*
 * Sets *error to "FIELD: MESSAGE"; spec_error_field() gives the FIELD back
 * (newly allocated, NULL if the message names none). Always returns FALSE.
 */
gboolean spec_error_set(GError **error, SpecError code, const char *field,
			const char *format, ...) G_GNUC_PRINTF(4, 5);
char *spec_error_field(const GError *error);
