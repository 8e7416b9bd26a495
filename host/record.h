/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What files held before they were changed: a log of intents. Each line is
 * durable before the file it names is written, so that whatever dies in
 * between, the log knows at least as much as was changed. A line without its
 * newline at the end was never acted on and is cut off.
 *
 *	regrlab-host 1
 *	boot 4f3c…				boot_id of the kernel whose files these are
 *	set PATH OLD NEW			tabs between; OLD (the file as it was) and NEW escaped as C strings
 */
#pragma once

#include <glib.h>

#define HOST_RECORD_FILE "/var/lib/regrlab-host/before"

#define HOST_ERROR (host_error_quark())
GQuark host_error_quark(void);

typedef enum {
	HOST_ERROR_BUSY,	/* another prepare or restore is at work */
	HOST_ERROR_RECORD,	/* the record cannot be read or written, or is not one */
} HostError;

typedef struct {
	char *path;	/* without the root */
	char *before;	/* the file as it was, with its newline */
	char *set;	/* what was written, without one */
} HostChange;

typedef struct HostRecord HostRecord;

/*
 * Locks the record at that path (made with its folder if there is none) until
 * it is closed, and reads it. boot_id: of the running kernel.
 */
HostRecord *host_record_open(const char *path, const char *boot_id, GError **error);
void host_record_close(HostRecord *record);	/* the file stays; NULL is fine */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(HostRecord, host_record_close)

const GPtrArray *host_record_changes(const HostRecord *record);	/* of HostChange, a path once, in the order of their first writes */
gboolean host_record_is_stale(const HostRecord *record);	/* its changes are of another boot of the machine */

/* Makes it durable that path is about to be changed. A path that is there keeps what it was before. */
gboolean host_record_intend(HostRecord *record, const char *path, const char *before, const char *set, GError **error);

/* Replaces the record by those of its changes that keep() says, as of this boot; all or nothing. */
gboolean host_record_rewrite(HostRecord *record, gboolean (*keep)(const HostChange *change, gpointer user), gpointer user,
			     GError **error);

/* Everything is as it was: the record goes. */
gboolean host_record_forget(HostRecord *record, GError **error);
