/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "db/stmt.h"
#include "db/store-mail.h"

#define DAY_NS (G_GINT64_CONSTANT(86400) * 1000000000)
#define WAIT_DAYS 7
#define KEEP_DAYS 90	/* the text of patches: lists have many */

void store_mail_in_free(StoreMailIn *mail)
{
	if (!mail)
		return;
	g_free(mail->message_id);
	g_free(mail->root);
	g_free(mail->sender);
	g_free(mail->subject);
	g_free(mail->list);
	g_free(mail->state);
	g_free(mail->reason);
	g_clear_pointer(&mail->raw, g_bytes_unref);
	g_free(mail);
}

static gboolean find(Db *db, const char *message_id, gint64 *ret_id, GError **error)
{
	g_autoptr(DbStmt) stmt = db_prepare(db, "SELECT id FROM mail_in WHERE message_id = ?1", error);
	gboolean row;

	if (!stmt)
		return FALSE;
	db_bind_text(stmt, 1, message_id);
	if (!db_step(stmt, &row, error))
		return FALSE;
	*ret_id = row ? db_int(stmt, 0) : 0;
	return TRUE;
}

static gboolean insert(Db *db, const StoreMailIn *mail, GError **error)
{
	g_autoptr(DbStmt) stmt = db_prepare(db, "INSERT INTO mail_in (message_id, root, received_ns, sender, subject, list, is_part,"
						" state, reason, raw) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)", error);

	if (!stmt)
		return FALSE;
	db_bind_text(stmt, 1, mail->message_id);
	db_bind_text(stmt, 2, mail->root);
	db_bind_int(stmt, 3, mail->received_ns);
	db_bind_text(stmt, 4, mail->sender);
	db_bind_text(stmt, 5, mail->subject);
	db_bind_text(stmt, 6, mail->list);
	db_bind_int(stmt, 7, mail->is_part);
	db_bind_text(stmt, 8, mail->state);
	db_bind_text(stmt, 9, mail->reason);
	db_bind_bytes(stmt, 10, mail->raw);
	return db_run(stmt, error);
}

static gboolean forget(Db *db, gint64 before_ns, GError **error)
{
	g_autoptr(DbStmt) stmt = db_prepare(db, "UPDATE mail_in SET raw = x'' WHERE is_part AND raw != x'' AND received_ns < ?1", error);

	if (!stmt)
		return FALSE;
	db_bind_int(stmt, 1, before_ns);
	return db_run(stmt, error);
}

gboolean store_mail_in_add(Db *db, StoreMailIn *mail, gboolean *ret_new, GError **error)
{
	g_autoptr(DbTransaction) transaction = db_begin(db, "mail-in", error);
	gint64 id;

	if (!transaction || !find(db, mail->message_id, &id, error) || !forget(db, mail->received_ns - KEEP_DAYS * DAY_NS, error))
		return FALSE;
	*ret_new = id == 0;
	if (!id && !insert(db, mail, error))
		return FALSE;
	if (!id)
		id = db_last_id(db);
	if (!db_commit(g_steal_pointer(&transaction), error))
		return FALSE;
	mail->id = id;
	return TRUE;
}

#define COLUMNS "mail_in.id, message_id, root, received_ns, sender, mail_in.subject, list, is_part, mail_in.state, mail_in.reason, job"

static StoreMailIn *from_row(DbStmt *stmt, gboolean raw)
{
	StoreMailIn *mail = g_new0(StoreMailIn, 1);

	mail->id = db_int(stmt, 0);
	mail->message_id = g_strdup(db_text(stmt, 1));
	mail->root = g_strdup(db_text(stmt, 2));
	mail->received_ns = db_int(stmt, 3);
	mail->sender = g_strdup(db_text(stmt, 4));
	mail->subject = g_strdup(db_text(stmt, 5));
	mail->list = g_strdup(db_text(stmt, 6));
	mail->is_part = db_int(stmt, 7) != 0;
	mail->state = g_strdup(db_text(stmt, 8));
	mail->reason = g_strdup(db_text(stmt, 9));
	mail->job = db_int(stmt, 10);
	if (raw)
		mail->raw = db_bytes(stmt, 11);
	return mail;
}

gboolean store_mail_in_get(Db *db, gint64 id, StoreMailIn **ret_mail, GError **error)
{
	g_autoptr(DbStmt) stmt = db_prepare(db, "SELECT " COLUMNS ", raw FROM mail_in WHERE id = ?1", error);
	gboolean row;

	if (!stmt)
		return FALSE;
	db_bind_int(stmt, 1, id);
	if (!db_step(stmt, &row, error))
		return FALSE;
	*ret_mail = row ? from_row(stmt, TRUE) : NULL;
	return TRUE;
}

static gpointer with_raw(DbStmt *stmt, GError **error G_GNUC_UNUSED)
{
	return from_row(stmt, TRUE);
}

static gpointer without_raw(DbStmt *stmt, GError **error G_GNUC_UNUSED)
{
	return from_row(stmt, FALSE);
}

gboolean store_mail_in_list(Db *db, const char *state, gint64 now_ns, int limit, GPtrArray **ret_mails, GError **error)
{
	g_autoptr(DbStmt) stmt = NULL;

	if (g_str_equal(state, "due"))
		stmt = db_prepare(db, "SELECT " COLUMNS " FROM mail_in JOIN job ON job.id = mail_in.job WHERE mail_in.state = 'testing'"
				      " AND finished_ns > 0 ORDER BY mail_in.id LIMIT ?1", error);
	else
		stmt = db_prepare(db, "SELECT " COLUMNS " FROM mail_in WHERE state = ?2 AND (state != 'waiting' OR received_ns > ?3)"
				      " ORDER BY id LIMIT ?1", error);
	if (!stmt)
		return FALSE;
	db_bind_int(stmt, 1, limit);
	if (!g_str_equal(state, "due")) {
		db_bind_text(stmt, 2, state);
		db_bind_int(stmt, 3, now_ns - WAIT_DAYS * DAY_NS);
	}
	return db_collect(stmt, without_raw, (GDestroyNotify)store_mail_in_free, ret_mails, error);
}

gboolean store_mail_thread(Db *db, const char *message_id, int limit, GPtrArray **ret_mails, GError **error)
{
	g_autoptr(DbStmt) stmt = db_prepare(
		db, "SELECT " COLUMNS ", raw FROM mail_in WHERE (is_part OR job) AND root IN (?1, (SELECT root FROM mail_in WHERE message_id = ?1))"
		    " ORDER BY id LIMIT ?2", error);

	if (!stmt)
		return FALSE;
	db_bind_text(stmt, 1, message_id);
	db_bind_int(stmt, 2, limit);
	return db_collect(stmt, with_raw, (GDestroyNotify)store_mail_in_free, ret_mails, error);
}

gboolean store_mail_in_set(Db *db, gint64 id, const char *state, const char *reason, gint64 job, GError **error)
{
	g_autoptr(DbTransaction) transaction = db_begin(db, "mail-in-set", error);
	g_autoptr(DbStmt) stmt = NULL;

	if (!transaction)
		return FALSE;
	stmt = db_prepare(db, "UPDATE mail_in SET state = ?2, reason = ?3, job = ?4 WHERE id = ?1", error);
	if (!stmt)
		return FALSE;
	db_bind_int(stmt, 1, id);
	db_bind_text(stmt, 2, state);
	db_bind_text(stmt, 3, reason);
	db_bind_int(stmt, 4, job);
	return db_run(stmt, error) && db_commit(g_steal_pointer(&transaction), error);
}

gboolean store_mail_count(Db *db, const char *sender, gint64 now_ns, int *ret_count, GError **error)
{
	g_autoptr(DbStmt) stmt = db_prepare(
		db, "SELECT count(*) FROM mail_in WHERE sender = ?1 AND received_ns > ?2 AND state != 'refused' AND NOT is_part", error);
	gboolean row;

	if (!stmt)
		return FALSE;
	db_bind_text(stmt, 1, sender);
	db_bind_int(stmt, 2, now_ns - DAY_NS);
	if (!db_step(stmt, &row, error))
		return FALSE;
	*ret_count = (int)db_int(stmt, 0);
	return TRUE;
}
