/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * events.jsonl: what a stage tells the daemon. Types and members are in
 * ARCHITECTURE.md, "Events". The writer is the stage, alone (it holds the
 * lock); the reader is anybody.
 */
#pragma once

#include <json-glib/json-glib.h>

#include "jobs/spec/error.h"

#define EVENT_MAX_LINE_BYTES	(8 * 1024 * 1024)	/* a result with many parameter sets is the largest */
#define EVENT_MAX_EVENTS	100000			/* of one job */

/* ---- writing ---- */

typedef struct EventLog EventLog;

/*
 * Opens DIR/events.jsonl for appending. An unfinished last line is cut off.
 * Events go on being numbered where the file stops.
 */
EventLog *event_log_open(const char *dir, GError **error);
void event_log_close(EventLog *log);	/* NULL is fine */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(EventLog, event_log_close)

/*
 * Appends one event: seq, time_ns and type are added to the members. Takes
 * the members (transfer full; NULL for none). durable: fsynced before return.
 */
gboolean event_log_append(EventLog *log, const char *type, JsonObject *members,
			  gboolean durable, GError **error);

/* ---- reading ---- */

/* Called with each event in order; object is the reader's. FALSE with error set stops the reading. */
typedef gboolean (*EventFunc)(gint64 seq, const char *type, JsonObject *object,
			      gpointer data, GError **error);

/*
 * Calls func for each complete event of DIR/events.jsonl from byte *offset
 * on, at most max_events (0: all), and moves *offset behind the last one
 * that func took. No file yet: no event, TRUE. A malformed line, a gap in seq
 * or a file that ends before *offset is an error that names the offset.
 */
gboolean event_read(const char *dir, gint64 *offset, guint max_events,
		    EventFunc func, gpointer data, GError **error);

/* What has been read of it is on the disk: nobody may keep an event longer than the file does. */
gboolean event_sync(const char *dir, GError **error);
