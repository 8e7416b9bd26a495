/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Files of /proc and /sys, read and written below a root that is a parameter:
 * "" is the machine itself, a folder is a tree made for a test. Files may
 * vanish at any moment between being listed and being read.
 *
 * Uses GLib alone: what is here goes into a static program.
 */
#pragma once

#include <glib.h>

#define HOST_FILE_MAX_BYTES (1024 * 1024)	/* more of a file is not read */

/*
 * The text of root + path without blanks at its ends, as valid UTF-8. FALSE:
 * *ret_reason says why ("PATH: No such file or directory"). ret_reason may be
 * NULL. Both are the caller's.
 */
gboolean host_file_read(const char *root, const char *path, char **ret_text, char **ret_reason);
gboolean host_file_read_raw(const char *root, const char *path, char **ret_text, char **ret_reason);	/* as it is */

/* The first word of the file as a whole number. */
gboolean host_file_read_int(const char *root, const char *path, gint64 *ret_value, char **ret_reason);

gboolean host_file_exists(const char *root, const char *path);

/* Names in a folder that begin with prefix, sorted, numbers by value; an empty array if there is no such folder. */
GPtrArray *host_file_list(const char *root, const char *path, const char *prefix);

/* Writes into a file that is there, in one write(). FALSE: *ret_reason as above. */
gboolean host_file_write(const char *root, const char *path, const char *text, char **ret_reason);

/* The choice in force of a text such as "always [madvise] never", or the text itself; the caller's. */
char *host_file_choice(const char *text);
