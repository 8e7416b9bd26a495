/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Marks: files in a directory of this machine that say what a host has and
 * who works there, as locks that end with their process.
 */
#pragma once

#include <glib.h>

typedef enum {
	MARK_SHARED,	/* it is used */
	MARK_ALONE,	/* it is being changed */
} MarkLock;

/* Opens (and makes) a mark and locks it, waiting up to wait_s seconds. -1: errno says why. The descriptor is the caller's to close. */
int mark_lock(const char *dir, const char *name, MarkLock lock, int wait_s);

gboolean mark_is_set(int fd);
gboolean mark_set(int fd);	/* FALSE: errno */
void mark_clear(int fd);
void mark_touch(int fd);	/* it was used now */

/* When it was last used, seconds; 0: there is none. */
gint64 mark_used_s(const char *dir, const char *name);
