/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Small files of a run directory: whole reads with a limit, atomic writes. */
#pragma once

#include <json-glib/json-glib.h>

#include "jobs/spec/error.h"

/*
 * Reads a whole file of at most max_bytes; *ret_data is NUL-terminated and
 * the caller's. Larger is LIMIT, unreadable is IO.
 */
gboolean file_read(const char *path, gsize max_bytes, char **ret_data, gsize *ret_size,
		   GError **error);

/* The same from an open file; path: for messages. The descriptor stays open. */
gboolean file_read_fd(int fd, const char *path, gsize max_bytes, char **ret_data, gsize *ret_size,
		      GError **error);

/* Writes PATH.tmp, fsyncs it, renames it to PATH and fsyncs the folder. */
gboolean file_write(const char *path, const char *data, gsize size, GError **error);

/* fsyncs a folder: what was made, renamed or removed in it stays so. */
gboolean file_sync_folder(const char *folder, GError **error);

/* The files of a folder whose names end so, without the suffix, in order; the caller's. IO: there is no such folder. */
char **file_names(const char *folder, const char *suffix, GError **error);

/* One JSON object a file, of at most max_bytes. *ret_object is the caller's. */
gboolean file_read_json(const char *path, gsize max_bytes, JsonObject **ret_object, GError **error);
gboolean file_write_json(const char *path, JsonObject *object, GError **error);	/* transfer none */

/* One JSON object from memory; brackets deeper than JSON_MAX_DEPTH are a SYNTAX error. */
#define JSON_MAX_DEPTH 64
gboolean json_object_from_data(const char *data, gsize size, JsonObject **ret_object,
			       GError **error);
char *json_object_to_line(JsonObject *object);	/* compact, no newline; the caller's */
