/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "db/stmt.h"
#include "db/store-mail.h"

#define HOUR_NS (G_GINT64_CONSTANT(3600) * 1000000000)

void store_mail_out_free(StoreMailOut *mail)
{
	if (!mail)
		return;
	g_free(mail->about);
	g_free(mail->recipients);
	g_free(mail->subject);
	g_clear_pointer(&mail->message, g_bytes_unref);
	g_free(mail->state);
	g_free(mail->said);
	g_free(mail);
}

gboolean store_mail_out_add(Db *db, const StoreMailOut *mail, gboolean *ret_new, GError **error)
{
	g_autoptr(DbTransaction) transaction = db_begin(db, "mail-out", error);
	g_autoptr(DbStmt) stmt = NULL;

	if (!transaction)
		return FALSE;
	stmt = db_prepare(db, "INSERT INTO mail_out (about, queued_ns, recipients, subject, message, state, changed_ns, said)"
			      " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?2, ?7) ON CONFLICT (about) DO NOTHING", error);
	if (!stmt)
		return FALSE;
	db_bind_text(stmt, 1, mail->about);
	db_bind_int(stmt, 2, mail->queued_ns);
	db_bind_text(stmt, 3, mail->recipients);
	db_bind_text(stmt, 4, mail->subject);
	db_bind_bytes(stmt, 5, mail->message);
	db_bind_text(stmt, 6, mail->state);
	db_bind_text(stmt, 7, mail->said ? mail->said : "");
	if (!db_run(stmt, error))
		return FALSE;
	*ret_new = db_changes(db) > 0;
	return db_commit(g_steal_pointer(&transaction), error);
}

#define COLUMNS "id, about, queued_ns, recipients, subject, state, attempts, next_ns, changed_ns, said"

static StoreMailOut *from_row(DbStmt *stmt, gboolean with_message)
{
	StoreMailOut *mail = g_new0(StoreMailOut, 1);

	mail->id = db_int(stmt, 0);
	mail->about = g_strdup(db_text(stmt, 1));
	mail->queued_ns = db_int(stmt, 2);
	mail->recipients = g_strdup(db_text(stmt, 3));
	mail->subject = g_strdup(db_text(stmt, 4));
	mail->state = g_strdup(db_text(stmt, 5));
	mail->attempts = (int)db_int(stmt, 6);
	mail->next_ns = db_int(stmt, 7);
	mail->changed_ns = db_int(stmt, 8);
	mail->said = g_strdup(db_text(stmt, 9));
	if (with_message)
		mail->message = db_bytes(stmt, 10);
	return mail;
}

gboolean store_mail_out_get(Db *db, gint64 id, StoreMailOut **ret_mail, GError **error)
{
	g_autoptr(DbStmt) stmt = db_prepare(db, "SELECT " COLUMNS ", message FROM mail_out WHERE id = ?1", error);
	gboolean row;

	if (!stmt)
		return FALSE;
	db_bind_int(stmt, 1, id);
	if (!db_step(stmt, &row, error))
		return FALSE;
	*ret_mail = row ? from_row(stmt, TRUE) : NULL;
	return TRUE;
}

static gpointer without_message(DbStmt *stmt, GError **error G_GNUC_UNUSED)
{
	return from_row(stmt, FALSE);
}

gboolean store_mail_out_list(Db *db, const char *state, int limit, GPtrArray **ret_mails, GError **error)
{
	g_autoptr(DbStmt) stmt = db_prepare(
		db, "SELECT " COLUMNS " FROM mail_out WHERE ?1 = '' OR state = ?1 ORDER BY id DESC LIMIT ?2", error);

	if (!stmt)
		return FALSE;
	db_bind_text(stmt, 1, state);
	db_bind_int(stmt, 2, limit);
	return db_collect(stmt, without_message, (GDestroyNotify)store_mail_out_free, ret_mails, error);
}

static gboolean has_room(Db *db, int per_hour, gint64 now_ns, gboolean *ret_room, GError **error)
{
	g_autoptr(DbStmt) stmt = db_prepare(
		db, "SELECT count(*) FROM mail_out WHERE state IN ('sending', 'sent') AND changed_ns > ?1", error);
	gboolean row;

	if (!stmt)
		return FALSE;
	db_bind_int(stmt, 1, now_ns - HOUR_NS);
	if (!db_step(stmt, &row, error))
		return FALSE;
	*ret_room = !per_hour || db_int(stmt, 0) < per_hour;
	return TRUE;
}

static gboolean find_due(Db *db, gint64 now_ns, StoreMailOut **ret_mail, GError **error)
{
	g_autoptr(DbStmt) stmt = db_prepare(db, "SELECT " COLUMNS ", message FROM mail_out WHERE state = 'queued' AND next_ns <= ?1"
						" ORDER BY id LIMIT 1", error);
	gboolean row;

	if (!stmt)
		return FALSE;
	db_bind_int(stmt, 1, now_ns);
	if (!db_step(stmt, &row, error))
		return FALSE;
	*ret_mail = row ? from_row(stmt, TRUE) : NULL;
	return TRUE;
}

static gboolean mark(Db *db, gint64 id, gint64 now_ns, GError **error)
{
	g_autoptr(DbStmt) stmt = db_prepare(
		db, "UPDATE mail_out SET state = 'sending', attempts = attempts + 1, changed_ns = ?2 WHERE id = ?1", error);

	if (!stmt)
		return FALSE;
	db_bind_int(stmt, 1, id);
	db_bind_int(stmt, 2, now_ns);
	return db_run(stmt, error);
}

gboolean store_mail_claim(Db *db, int per_hour, gint64 now_ns, StoreMailOut **ret_mail, GError **error)
{
	g_autoptr(DbTransaction) transaction = db_begin(db, "mail-claim", error);
	g_autoptr(StoreMailOut) mail = NULL;
	gint64 stopped_ns;
	gboolean room;

	*ret_mail = NULL;
	if (!transaction || !store_mail_stopped(db, &stopped_ns, error) || !has_room(db, per_hour, now_ns, &room, error))
		return FALSE;
	if (stopped_ns || !room)
		return TRUE;
	if (!find_due(db, now_ns, &mail, error) || (mail && !mark(db, mail->id, now_ns, error)) ||
	    !db_commit(g_steal_pointer(&transaction), error))
		return FALSE;
	if (mail)
		mail->attempts++;
	*ret_mail = g_steal_pointer(&mail);
	return TRUE;
}

gboolean store_mail_out_set(Db *db, const StoreMailOut *mail, const char *from, gboolean *ret_was, GError **error)
{
	g_autoptr(DbTransaction) transaction = db_begin(db, "mail-out-set", error);
	g_autoptr(DbStmt) stmt = NULL;

	if (!transaction)
		return FALSE;
	stmt = db_prepare(db, "UPDATE mail_out SET state = ?3, next_ns = ?4, changed_ns = ?5, said = ?6 WHERE id = ?1 AND state = ?2",
			  error);
	if (!stmt)
		return FALSE;
	db_bind_int(stmt, 1, mail->id);
	db_bind_text(stmt, 2, from);
	db_bind_text(stmt, 3, mail->state);
	db_bind_int(stmt, 4, mail->next_ns);
	db_bind_int(stmt, 5, mail->changed_ns);
	db_bind_text(stmt, 6, mail->said);
	if (!db_run(stmt, error))
		return FALSE;
	*ret_was = db_changes(db) > 0;
	return db_commit(g_steal_pointer(&transaction), error);
}

/* ---- who wants none ---- */

gboolean store_mail_refusals(Db *db, char ***ret_addresses, GError **error)
{
	g_autoptr(GStrvBuilder) addresses = g_strv_builder_new();
	g_autoptr(DbStmt) stmt = db_prepare(db, "SELECT address FROM mail_refusal ORDER BY address", error);
	gboolean row;

	if (!stmt)
		return FALSE;
	while (db_step(stmt, &row, error)) {
		if (!row) {
			*ret_addresses = g_strv_builder_end(addresses);
			return TRUE;
		}
		g_strv_builder_add(addresses, db_text(stmt, 0));
	}
	return FALSE;
}

gboolean store_mail_refuse(Db *db, const char *address, gint64 now_ns, GError **error)
{
	g_autoptr(DbTransaction) transaction = db_begin(db, "mail-refuse", error);
	g_autoptr(DbStmt) stmt = NULL;

	if (!transaction)
		return FALSE;
	stmt = db_prepare(db, "INSERT INTO mail_refusal (address, time_ns) VALUES (?1, ?2) ON CONFLICT DO NOTHING", error);
	if (!stmt)
		return FALSE;
	db_bind_text(stmt, 1, address);
	db_bind_int(stmt, 2, now_ns);
	return db_run(stmt, error) && db_commit(g_steal_pointer(&transaction), error);
}

/* ---- the stop ---- */

gboolean store_mail_stopped(Db *db, gint64 *ret_since_ns, GError **error)
{
	g_autoptr(DbStmt) stmt = db_prepare(db, "SELECT since_ns FROM mail_stop LIMIT 1", error);
	gboolean row;

	if (!stmt || !db_step(stmt, &row, error))
		return FALSE;
	*ret_since_ns = row ? db_int(stmt, 0) : 0;
	return TRUE;
}

gboolean store_mail_stop(Db *db, gboolean stop, gint64 now_ns, GError **error)
{
	g_autoptr(DbTransaction) transaction = db_begin(db, "mail-stop", error);
	g_autoptr(DbStmt) clear = NULL, set = NULL;
	gint64 since_ns;

	if (!transaction || !store_mail_stopped(db, &since_ns, error))
		return FALSE;
	if (stop && since_ns)
		return TRUE;
	clear = db_prepare(db, "DELETE FROM mail_stop", error);
	if (!clear || !db_run(clear, error))
		return FALSE;
	set = stop ? db_prepare(db, "INSERT INTO mail_stop (since_ns) VALUES (?1)", error) : NULL;
	if (stop && !set)
		return FALSE;
	if (set) {
		db_bind_int(set, 1, now_ns);
		if (!db_run(set, error))
			return FALSE;
	}
	return db_commit(g_steal_pointer(&transaction), error);
}
