/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "db/store-records.h"
#include "jobs/spec/file.h"

gboolean store_job_get(Db *db, gint64 id, StoreJob **ret_job, GError **error)
{
	g_autoptr(DbStmt) stmt = db_prepare(db, "SELECT " JOB_COLUMNS " FROM job WHERE id = ?1", error);
	gboolean row;

	if (!stmt)
		return FALSE;
	db_bind_int(stmt, 1, id);
	if (!db_step(stmt, &row, error))
		return FALSE;
	*ret_job = row ? store_job_from_row(db, stmt, error) : NULL;
	return !row || *ret_job;
}

gboolean store_job_counts(Db *db, gint64 *ret_counts, GError **error)
{
	g_autoptr(DbStmt) stmt = db_prepare(db, "SELECT jobs FROM job_count WHERE state = ?1", error);
	gint64 counts[JOB_N_STATES] = { 0 };

	if (!stmt)
		return FALSE;
	for (int i = 0; i < JOB_N_STATES; i++) {
		gboolean row;

		db_bind_text(stmt, 1, job_state_name(i));
		if (!db_step(stmt, &row, error))
			return FALSE;
		counts[i] = row ? db_int(stmt, 0) : 0;
		db_reset(stmt);
	}
	memcpy(ret_counts, counts, sizeof(counts));
	return TRUE;
}

static gpointer boot_from_row(DbStmt *stmt, GError **error)
{
	g_autoptr(StoreBoot) boot = g_new0(StoreBoot, 1);
	const char *hello = db_text(stmt, 11), *machine = db_text(stmt, 12);

	boot->boot = (int)db_int(stmt, 0);
	boot->pair = (int)db_int(stmt, 1);
	boot->arm = g_strdup(db_text(stmt, 2));
	boot->host = g_strdup(db_text(stmt, 3));
	boot->clock = g_strdup(db_text(stmt, 4));
	boot->valid = db_int(stmt, 5) != 0;
	boot->reason = g_strdup(db_text(stmt, 6));
	boot->detail = g_strdup(db_text(stmt, 7));
	boot->start_ns = db_int(stmt, 8);
	boot->end_ns = db_int(stmt, 9);
	boot->first_sample_ns = db_int(stmt, 10);
	if (*hello && !json_object_from_data(hello, strlen(hello), &boot->hello, error))
		return NULL;
	if (*machine && !json_object_from_data(machine, strlen(machine), &boot->machine, error))
		return NULL;
	return g_steal_pointer(&boot);
}

gboolean store_boots(Db *db, gint64 job, GPtrArray **ret_boots, GError **error)
{
	g_autoptr(DbStmt) stmt = db_prepare(
		db, "SELECT boot, pair, iif(control, 'control', arm), host, clock, valid, reason, detail, start_ns, end_ns,"
		    " first_sample_ns, hello, machine FROM boot WHERE job = ?1 ORDER BY boot", error);

	if (!stmt)
		return FALSE;
	db_bind_int(stmt, 1, job);
	return db_collect(stmt, boot_from_row, (GDestroyNotify)store_boot_free, ret_boots, error);
}

static gboolean read_document(Db *db, gint64 job, const char *kind, char **ret_json, GError **error)
{
	g_autoptr(DbStmt) stmt = db_prepare(db, "SELECT json FROM document WHERE job = ?1 AND kind = ?2", error);
	gboolean row;

	if (!stmt)
		return FALSE;
	db_bind_int(stmt, 1, job);
	db_bind_text(stmt, 2, kind);
	if (!db_step(stmt, &row, error))
		return FALSE;
	*ret_json = row ? g_strdup(db_text(stmt, 0)) : NULL;
	return TRUE;
}

gboolean store_result(Db *db, gint64 job, char **ret_json, GError **error)
{
	g_autofree char *result = NULL, *more = NULL;

	if (!read_document(db, job, "result", &result, error) || !read_document(db, job, "more-result", &more, error))
		return FALSE;
	/* as text, so that every number stays as it was written */
	if (result && more)
		*ret_json = g_strdup_printf("%.*s,\"continuation\":%s}", (int)strlen(result) - 1, result, more);
	else
		*ret_json = g_steal_pointer(&result);
	return TRUE;
}

static gpointer look_from_row(DbStmt *stmt, GError **error)
{
	const char *json = db_text(stmt, 0);
	JsonObject *look;

	return json_object_from_data(json, strlen(json), &look, error) ? look : NULL;
}

gboolean store_looks(Db *db, gint64 job, GPtrArray **ret_looks, GError **error)
{
	g_autoptr(DbStmt) stmt = db_prepare(
		db, "SELECT json FROM document WHERE job = ?1 AND kind GLOB 'look-*' ORDER BY kind", error);

	if (!stmt)
		return FALSE;
	db_bind_int(stmt, 1, job);
	return db_collect(stmt, look_from_row, (GDestroyNotify)json_object_unref, ret_looks, error);
}

gboolean store_counters(Db *db, gint64 job, JsonObject **ret_counters, GError **error)
{
	g_autofree char *json = NULL;

	*ret_counters = NULL;
	if (!read_document(db, job, "counters", &json, error))
		return FALSE;
	return !json || json_object_from_data(json, strlen(json), ret_counters, error);
}

gboolean store_job_file(Db *db, gint64 job, const char *name, GBytes **ret_content, GError **error)
{
	g_autoptr(DbStmt) stmt = db_prepare(
		db, "SELECT content FROM job_file WHERE job = ?1 AND name = ?2", error);
	gboolean row;

	if (!stmt)
		return FALSE;
	db_bind_int(stmt, 1, job);
	db_bind_text(stmt, 2, name);
	if (!db_step(stmt, &row, error))
		return FALSE;
	*ret_content = row ? db_bytes(stmt, 0) : NULL;
	return TRUE;
}
