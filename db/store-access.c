/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "db/store-access.h"

#include "db/stmt.h"

#define HOUR_NS (G_GINT64_CONSTANT(3600) * 1000000000)
#define KEEP_HOURS (7 * 24)

static const char *const role_names[ROLE_N] = {
	[ROLE_NOBODY] = "nobody",
	[ROLE_READ] = "read",
	[ROLE_SUBMIT] = "submit",
	[ROLE_ADMIN] = "admin",
};

const char *role_name(Role role)
{
	return role_names[role];
}

gboolean role_from_name(const char *name, Role *ret_role)
{
	for (int i = ROLE_READ; i < ROLE_N; i++) {
		if (g_strcmp0(role_names[i], name) == 0) {
			*ret_role = i;
			return TRUE;
		}
	}
	return FALSE;
}

/* ---- tokens ---- */

void store_token_free(StoreToken *token)
{
	if (!token)
		return;
	g_free(token->name);
	g_free(token->hash);
	g_free(token);
}

gboolean store_token_works(const StoreToken *token, gint64 now_ns)
{
	return !token->revoked_ns && (!token->expires_ns || now_ns < token->expires_ns);
}

/* The same of a row; ?1 is the time. A literal, so that statements that use it stay ones. */
#define WORKS "revoked_ns = 0 AND (expires_ns = 0 OR ?1 < expires_ns)"

static gboolean has_room(Db *db, gint64 now_ns, GError **error)
{
	g_autoptr(DbStmt) stmt = db_prepare(db, "SELECT count(*) FROM token WHERE " WORKS, error);
	gboolean row;

	if (!stmt)
		return FALSE;
	db_bind_int(stmt, 1, now_ns);
	if (!db_step(stmt, &row, error))
		return FALSE;
	if (db_int(stmt, 0) < STORE_TOKENS_MAX)
		return TRUE;
	g_set_error(error, DB_ERROR, DB_ERROR_CONFLICT, "there are %d tokens already; revoke some", STORE_TOKENS_MAX);
	return FALSE;
}

static gboolean insert_token(Db *db, const StoreToken *token, GError **error)
{
	g_autoptr(DbStmt) stmt = db_prepare(
		db, "INSERT INTO token (name, role, hash, queue_max, requests_per_min, hours_per_day, created_ns,"
		    " expires_ns) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)", error);

	if (!stmt)
		return FALSE;
	db_bind_text(stmt, 1, token->name);
	db_bind_text(stmt, 2, role_name(token->role));
	db_bind_text(stmt, 3, token->hash);
	db_bind_int(stmt, 4, token->queue_max);
	db_bind_int(stmt, 5, token->requests_per_min);
	db_bind_int(stmt, 6, token->hours_per_day);
	db_bind_int(stmt, 7, token->created_ns);
	db_bind_int(stmt, 8, token->expires_ns);
	return db_run(stmt, error);
}

gboolean store_token_add(Db *db, StoreToken *token, GError **error)
{
	g_autoptr(DbTransaction) transaction = db_begin(db, "token", error);
	gint64 id;

	if (!transaction || !has_room(db, token->created_ns, error) || !insert_token(db, token, error))
		return FALSE;
	id = db_last_id(db);
	if (!db_commit(g_steal_pointer(&transaction), error))
		return FALSE;
	token->id = id;
	return TRUE;
}

#define TOKEN_COLUMNS "id, name, role, hash, queue_max, requests_per_min, hours_per_day, created_ns, revoked_ns, expires_ns"

static gpointer token_from_row(DbStmt *stmt, GError **error G_GNUC_UNUSED)
{
	StoreToken *token = g_new0(StoreToken, 1);

	token->id = db_int(stmt, 0);
	token->name = g_strdup(db_text(stmt, 1));
	role_from_name(db_text(stmt, 2), &token->role);
	token->hash = g_strdup(db_text(stmt, 3));
	token->queue_max = (int)db_int(stmt, 4);
	token->requests_per_min = (int)db_int(stmt, 5);
	token->hours_per_day = (int)db_int(stmt, 6);
	token->created_ns = db_int(stmt, 7);
	token->revoked_ns = db_int(stmt, 8);
	token->expires_ns = db_int(stmt, 9);
	return token;
}

gboolean store_token_get(Db *db, gint64 id, StoreToken **ret_token, GError **error)
{
	g_autoptr(DbStmt) stmt = db_prepare(db, "SELECT " TOKEN_COLUMNS " FROM token WHERE id = ?1", error);
	gboolean row;

	if (!stmt)
		return FALSE;
	db_bind_int(stmt, 1, id);
	if (!db_step(stmt, &row, error))
		return FALSE;
	*ret_token = row ? token_from_row(stmt, error) : NULL;
	return TRUE;
}

gboolean store_tokens(Db *db, GPtrArray **ret_tokens, GError **error)
{
	g_autoptr(DbStmt) stmt = db_prepare(db, "SELECT " TOKEN_COLUMNS " FROM token ORDER BY id", error);

	return stmt && db_collect(stmt, token_from_row, (GDestroyNotify)store_token_free, ret_tokens, error);
}

gboolean store_token_revoke(Db *db, gint64 id, gint64 now_ns, GError **error)
{
	g_autoptr(DbTransaction) transaction = db_begin(db, "revoke", error);
	g_autoptr(DbStmt) stmt = NULL;

	if (!transaction)
		return FALSE;
	stmt = db_prepare(db, "UPDATE token SET revoked_ns = ?2 WHERE id = ?1 AND revoked_ns = 0", error);
	if (!stmt)
		return FALSE;
	db_bind_int(stmt, 1, id);
	db_bind_int(stmt, 2, now_ns);
	return db_run(stmt, error) && db_commit(g_steal_pointer(&transaction), error);
}

gboolean store_tokens_exist(Db *db, gint64 now_ns, gboolean *ret_any, gboolean *ret_admin, GError **error)
{
	g_autoptr(DbStmt) stmt = db_prepare(
		db, "SELECT EXISTS (SELECT 1 FROM token), EXISTS (SELECT 1 FROM token WHERE role = 'admin' AND " WORKS ")", error);
	gboolean row;

	if (!stmt)
		return FALSE;
	db_bind_int(stmt, 1, now_ns);
	if (!db_step(stmt, &row, error))
		return FALSE;
	*ret_any = db_int(stmt, 0) != 0;
	*ret_admin = db_int(stmt, 1) != 0;
	return TRUE;
}

/* ---- the audit log ---- */

gboolean store_audit_add(Db *db, const StoreAudit *entry, GError **error)
{
	g_autoptr(DbTransaction) transaction = db_begin(db, "audit", error);
	g_autoptr(DbStmt) stmt = NULL;

	if (!transaction)
		return FALSE;
	stmt = db_prepare(db, "INSERT INTO audit (time_ns, who, name, address, action, target)"
			      " VALUES (?1, ?2, ?3, ?4, ?5, ?6)", error);
	if (!stmt)
		return FALSE;
	db_bind_int(stmt, 1, entry->time_ns);
	db_bind_text(stmt, 2, entry->who);
	db_bind_text(stmt, 3, entry->name);
	db_bind_text(stmt, 4, entry->address);
	db_bind_text(stmt, 5, entry->action);
	db_bind_text(stmt, 6, entry->target);
	return db_run(stmt, error) && db_commit(g_steal_pointer(&transaction), error);
}

gboolean store_audit_list(Db *db, gint64 before_id, int limit, StoreAuditFunc func, gpointer data, GError **error)
{
	g_autoptr(DbStmt) stmt = db_prepare(
		db, "SELECT id, time_ns, who, name, address, action, target FROM audit WHERE id < ?1"
		    " ORDER BY id DESC LIMIT ?2", error);
	gboolean row;

	if (!stmt)
		return FALSE;
	db_bind_int(stmt, 1, before_id > 0 ? before_id : G_MAXINT64);
	db_bind_int(stmt, 2, limit);
	while (db_step(stmt, &row, error)) {
		if (!row)
			return TRUE;

		StoreAudit entry = {
			.id = db_int(stmt, 0),
			.time_ns = db_int(stmt, 1),
			.who = db_text(stmt, 2),
			.name = db_text(stmt, 3),
			.address = db_text(stmt, 4),
			.action = db_text(stmt, 5),
			.target = db_text(stmt, 6),
		};
		func(&entry, data);
	}
	return FALSE;
}

/* ---- what a submitter has used ---- */

static gboolean one_number(DbStmt *stmt, gint64 *ret_number, GError **error)
{
	gboolean row;

	if (!db_step(stmt, &row, error))
		return FALSE;
	*ret_number = row ? db_int(stmt, 0) : 0;
	return TRUE;
}

gboolean store_jobs_live_of(Db *db, const char *submitter, int *ret_jobs, GError **error)
{
	g_autoptr(DbStmt) stmt = db_prepare(
		db, "SELECT count(*) FROM job WHERE submitter = ?1 AND finished_ns = 0", error);
	gint64 jobs;

	if (!stmt)
		return FALSE;
	db_bind_text(stmt, 1, submitter);
	if (!one_number(stmt, &jobs, error))
		return FALSE;
	*ret_jobs = (int)MIN(jobs, G_MAXINT);
	return TRUE;
}

static gboolean forget_hours(Db *db, gint64 before, GError **error)
{
	g_autoptr(DbStmt) stmt = db_prepare(db, "DELETE FROM machine_time WHERE hour < ?1", error);

	if (!stmt)
		return FALSE;
	db_bind_int(stmt, 1, before);
	return db_run(stmt, error);
}

gboolean store_machine_time_add(Db *db, gint64 job, gint64 ns, gint64 now_ns, GError **error)
{
	g_autoptr(DbTransaction) transaction = db_begin(db, "machine-time", error);
	g_autoptr(DbStmt) stmt = NULL;

	if (!transaction || !forget_hours(db, now_ns / HOUR_NS - KEEP_HOURS, error))
		return FALSE;
	stmt = db_prepare(db, "INSERT INTO machine_time SELECT submitter, ?2, ?3 FROM job WHERE id = ?1"
			      " ON CONFLICT (submitter, hour) DO UPDATE SET ns = ns + excluded.ns", error);
	if (!stmt)
		return FALSE;
	db_bind_int(stmt, 1, job);
	db_bind_int(stmt, 2, now_ns / HOUR_NS);
	db_bind_int(stmt, 3, ns);
	return db_run(stmt, error) && db_commit(g_steal_pointer(&transaction), error);
}

gboolean store_machine_time(Db *db, const char *submitter, gint64 now_ns, gint64 *ret_ns, GError **error)
{
	g_autoptr(DbStmt) stmt = db_prepare(
		db, "SELECT coalesce(sum(ns), 0) FROM machine_time WHERE submitter = ?1 AND hour > ?2", error);

	if (!stmt)
		return FALSE;
	db_bind_text(stmt, 1, submitter);
	db_bind_int(stmt, 2, now_ns / HOUR_NS - 24);
	return one_number(stmt, ret_ns, error);
}

gboolean store_machine_times(Db *db, gint64 now_ns, StoreShareFunc func, gpointer data, GError **error)
{
	g_autoptr(DbStmt) stmt = db_prepare(
		db, "SELECT submitter, sum(ns), coalesce((SELECT hours_per_day FROM token"
		    " WHERE submitter LIKE 'token %' AND token.id = CAST(substr(submitter, 7) AS INTEGER)), 0)"
		    " FROM machine_time WHERE hour > ?1 GROUP BY submitter", error);
	gboolean row;

	if (!stmt)
		return FALSE;
	db_bind_int(stmt, 1, now_ns / HOUR_NS - 24);
	while (db_step(stmt, &row, error)) {
		if (!row)
			return TRUE;
		func(db_text(stmt, 0), db_int(stmt, 1), (int)db_int(stmt, 2), data);
	}
	return FALSE;
}
