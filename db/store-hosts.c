/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "db/store-records.h"

#define EVENTS_KEPT	500	/* of a host */

void store_host_clear(StoreHost *host)
{
	g_clear_pointer(&host->accelerator, g_free);
	g_clear_pointer(&host->qemu_version, g_free);
	g_clear_pointer(&host->libvirt_version, g_free);
}

gboolean store_host(Db *db, const char *name, StoreHost *ret_host, GError **error)
{
	g_autoptr(DbStmt) stmt = db_prepare(
		db, "SELECT accelerator, qemu_version, libvirt_version, boots_valid, boots_failed, last_boot_ns, drained"
		    " FROM host WHERE name = ?1", error);
	gboolean row;

	if (!stmt)
		return FALSE;
	db_bind_text(stmt, 1, name);
	if (!db_step(stmt, &row, error))
		return FALSE;
	ret_host->accelerator = g_strdup(row ? db_text(stmt, 0) : "");
	ret_host->qemu_version = g_strdup(row ? db_text(stmt, 1) : "");
	ret_host->libvirt_version = g_strdup(row ? db_text(stmt, 2) : "");
	ret_host->boots_valid = row ? db_int(stmt, 3) : 0;
	ret_host->boots_failed = row ? db_int(stmt, 4) : 0;
	ret_host->last_boot_ns = row ? db_int(stmt, 5) : 0;
	ret_host->drained = row && db_int(stmt, 6) != 0;
	return TRUE;
}

static gboolean add_event(Db *db, const char *name, const char *what, const char *message, gint64 now_ns, GError **error)
{
	g_autoptr(DbStmt) stmt = db_prepare(
		db, "INSERT INTO host_event (host, time_ns, what, message) VALUES (?1, ?2, ?3, ?4)", error);
	g_autoptr(DbStmt) forget = stmt ? db_prepare(
		db, "DELETE FROM host_event WHERE host = ?1 AND id <="
		    " (SELECT id FROM host_event WHERE host = ?1 ORDER BY id DESC LIMIT 1 OFFSET ?2)", error) : NULL;

	if (!forget)
		return FALSE;
	db_bind_text(stmt, 1, name);
	db_bind_int(stmt, 2, now_ns);
	db_bind_text(stmt, 3, what);
	db_bind_text(stmt, 4, message);
	db_bind_text(forget, 1, name);
	db_bind_int(forget, 2, EVENTS_KEPT);
	return db_run(stmt, error) && db_run(forget, error);
}

gboolean store_host_event(Db *db, const char *name, const char *what, const char *message, gint64 now_ns, GError **error)
{
	g_autoptr(DbTransaction) transaction = db_begin(db, "host-event", error);

	return transaction && add_event(db, name, what, message, now_ns, error) &&
	       db_commit(g_steal_pointer(&transaction), error);
}

gboolean store_host_drain(Db *db, const char *name, gboolean drained, const char *message, gint64 now_ns, GError **error)
{
	g_autoptr(DbTransaction) transaction = db_begin(db, "host-drain", error);
	g_autoptr(DbStmt) stmt = transaction ? db_prepare(
		db, "INSERT INTO host (name, drained) VALUES (?1, ?2)"
		    " ON CONFLICT (name) DO UPDATE SET drained = excluded.drained", error) : NULL;

	if (!stmt)
		return FALSE;
	db_bind_text(stmt, 1, name);
	db_bind_int(stmt, 2, drained ? 1 : 0);
	return db_run(stmt, error) && add_event(db, name, drained ? "drained" : "resumed", message, now_ns, error) &&
	       db_commit(g_steal_pointer(&transaction), error);
}

void store_host_event_free(StoreHostEvent *event)
{
	if (!event)
		return;
	g_free(event->what);
	g_free(event->message);
	g_free(event);
}

static gpointer event_from_row(DbStmt *stmt, GError **error G_GNUC_UNUSED)
{
	StoreHostEvent *event = g_new0(StoreHostEvent, 1);

	event->time_ns = db_int(stmt, 0);
	event->what = g_strdup(db_text(stmt, 1));
	event->message = g_strdup(db_text(stmt, 2));
	return event;
}

gboolean store_host_events(Db *db, const char *name, int limit, GPtrArray **ret_events, GError **error)
{
	g_autoptr(DbStmt) stmt = db_prepare(
		db, "SELECT time_ns, what, message FROM host_event WHERE host = ?1 ORDER BY id DESC LIMIT ?2", error);

	if (!stmt)
		return FALSE;
	db_bind_text(stmt, 1, name);
	db_bind_int(stmt, 2, limit);
	return db_collect(stmt, event_from_row, (GDestroyNotify)store_host_event_free, ret_events, error);
}
