/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * multipart/form-data (RFC 7578), from memory. Pure. libmicrohttpd has such a
 * parser, but only for a live connection; this one can be fuzzed.
 */
#pragma once

#include <glib.h>

#include "jobs/spec/error.h"

#define FORM_MAX_FIELDS		128
#define FORM_MAX_HEADER_BYTES	4096	/* of one part */
#define FORM_MAX_BOUNDARY_BYTES	70	/* RFC 2046 */

typedef struct {
	char *name;
	gboolean is_file;	/* came with a file name */
	const char *data;	/* in the body */
	gsize size;
} FormField;

/* "multipart/form-data; boundary=..." to its boundary; NULL: there is none, or it is not one. */
char *form_boundary(const char *content_type);

/* *ret_fields is an array of FormField that owns them but not the body, which must outlive it. */
gboolean form_parse(const char *body, gsize size, const char *boundary, GPtrArray **ret_fields, GError **error);
