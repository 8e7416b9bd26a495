/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Files in a folder that a build had to itself. Anything may lie there under
 * any name: a link to a file of the host, a pipe that nobody writes, a file
 * of any size. Nothing here follows a link, not even in the middle of a
 * name, waits, or takes anything but a regular file.
 */
#pragma once

#include <glib.h>

/* name: below folder, without ".."; the content with a 0 at its end is the caller's. SPEC_ERROR_IO, SPEC_ERROR_LIMIT. */
gboolean slot_file_read(const char *folder, const char *name, gsize max_bytes, char **ret_data, gsize *ret_size, GError **error);

/* In the folder itself, in the place of whatever had the name; with the owner of the folder. */
gboolean slot_file_write(const char *folder, const char *name, const char *text, GError **error);

/* Whether there is a regular file of that name. */
gboolean slot_file_exists(const char *folder, const char *name);
