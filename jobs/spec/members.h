/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A record whose members are one table: name, kind, place, limits. The same
 * table reads and writes its JSON, sets a member from text, and frees it, so
 * that a new member is one row.
 */
#pragma once

#include <json-glib/json-glib.h>

#include "jobs/spec/error.h"

typedef enum {
	MEMBER_STRING,	/* char *, never NULL */
	MEMBER_STRV,	/* char **, never NULL; JSON array of strings; text: separated by spaces or, if commas is set, commas */
	MEMBER_INT,	/* int */
	MEMBER_INT64,	/* gint64 */
	MEMBER_UINT64,	/* guint64; a string in JSON, whose numbers are doubles for many readers */
	MEMBER_DOUBLE,
	MEMBER_BOOL,	/* gboolean */
	MEMBER_CLOCK,	/* JobClock, by name */
} MemberKind;

typedef struct {
	const char *name;
	MemberKind kind;
	gsize offset;
	double min, max;	/* numbers: the range; strings: the most bytes; arrays: the most elements */
	gboolean open_min;	/* min itself is not allowed */
	gboolean internal;	/* in JSON files, but not for members_set_text() */
	gboolean commas;	/* STRV from text: commas separate */
	gboolean (*check)(const char *text);	/* strings and elements; NULL: any UTF-8 without control characters */
	const char *allowed;	/* of check, in words */
} Member;

/* Each of these works on a zeroed or valid record. */
void members_clear(const Member *members, gsize n, gpointer record);
JsonObject *members_to_json(const Member *members, gsize n, gconstpointer record);

/* Members that are absent keep their value; unknown ones are errors. */
gboolean members_from_json(const Member *members, gsize n, gpointer record, JsonObject *object,
			   GError **error);
gboolean members_set_text(const Member *members, gsize n, gpointer record, const char *name,
			  const char *text, GError **error);
