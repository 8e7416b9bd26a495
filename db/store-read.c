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

/*
 * One statement for each index that can lead; the other conditions are checked on
 * the rows it gives. Parameters: 1 ids below, 2 how many, 3 state, 4 tree, 5
 * benchmark, where NULL is any.
 */
#define AND_REST " AND (?4 IS NULL OR job.tree = ?4) AND (?5 IS NULL OR EXISTS (" \
	"SELECT 1 FROM job_benchmark WHERE job_benchmark.benchmark = ?5 AND job_benchmark.job = job.id))" \
	" ORDER BY job.id DESC LIMIT ?2"
static const char list_live[] =
	"SELECT " JOB_COLUMNS " FROM job WHERE finished_ns = 0 AND id < ?1 AND (?3 IS NULL OR state = ?3)" AND_REST;
static const char list_ended[] =
	"SELECT " JOB_COLUMNS " FROM job WHERE finished_ns <> 0 AND id < ?1 AND (?3 IS NULL OR state = ?3)" AND_REST;
static const char list_by_state[] = "SELECT " JOB_COLUMNS " FROM job WHERE state = ?3 AND id < ?1" AND_REST;
static const char list_by_benchmark[] =
	"SELECT " JOB_COLUMNS " FROM job_benchmark b CROSS JOIN job ON job.id = b.job"
	" WHERE b.benchmark = ?5 AND b.job < ?1 AND (?3 IS NULL OR job.state = ?3) AND (?4 IS NULL OR job.tree = ?4)"
	" ORDER BY b.job DESC LIMIT ?2";
static const char list_by_tree[] =
	"SELECT " JOB_COLUMNS " FROM job WHERE tree = ?4 AND id < ?1 AND (?3 IS NULL OR state = ?3)" AND_REST;
static const char list_all[] =
	"SELECT " JOB_COLUMNS " FROM job WHERE id < ?1 AND (?3 IS NULL OR state = ?3)" AND_REST;

static const char *list_sql(const StoreFilter *filter)
{
	if (filter->live)
		return list_live;
	if (filter->ended)
		return list_ended;
	if (filter->by_state)
		return list_by_state;
	if (filter->benchmark)
		return list_by_benchmark;
	return filter->tree ? list_by_tree : list_all;
}

gboolean store_job_list(Db *db, const StoreFilter *filter, GPtrArray **ret_jobs,
			gint64 *ret_cursor, GError **error)
{
	g_autoptr(DbStmt) stmt = db_prepare(db, list_sql(filter), error);
	g_autoptr(GPtrArray) jobs = NULL;
	int limit = CLAMP(filter->limit, 1, STORE_LIST_MAX);
	gint64 cursor = 0;

	if (!stmt)
		return FALSE;
	db_bind_int(stmt, 1, filter->before_id > 0 ? filter->before_id : G_MAXINT64);
	db_bind_int(stmt, 2, limit + 1);
	db_bind_text(stmt, 3, filter->by_state ? job_state_name(filter->state) : NULL);
	db_bind_text(stmt, 4, filter->tree);
	db_bind_text(stmt, 5, filter->benchmark);
	if (!store_jobs_from_rows(db, stmt, &jobs, error))
		return FALSE;
	if (jobs->len > (guint)limit) {
		g_ptr_array_set_size(jobs, limit);
		cursor = ((const StoreJob *)g_ptr_array_index(jobs, limit - 1))->id;
	}
	*ret_jobs = g_steal_pointer(&jobs);
	*ret_cursor = cursor;
	return TRUE;
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

static StoreBoot *boot_from_row(DbStmt *stmt, GError **error)
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
	g_autoptr(GPtrArray) boots = g_ptr_array_new_with_free_func((GDestroyNotify)store_boot_free);
	g_autoptr(DbStmt) stmt = db_prepare(
		db, "SELECT boot, pair, iif(control, 'control', arm), host, clock, valid, reason, detail, start_ns, end_ns,"
		    " first_sample_ns, hello, machine FROM boot WHERE job = ?1 ORDER BY boot", error);
	gboolean row;

	if (!stmt)
		return FALSE;
	db_bind_int(stmt, 1, job);
	while (db_step(stmt, &row, error)) {
		StoreBoot *boot;

		if (!row) {
			*ret_boots = g_steal_pointer(&boots);
			return TRUE;
		}
		boot = boot_from_row(stmt, error);
		if (!boot)
			return FALSE;
		g_ptr_array_add(boots, boot);
	}
	return FALSE;
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

gboolean store_looks(Db *db, gint64 job, GPtrArray **ret_looks, GError **error)
{
	g_autoptr(DbStmt) stmt = db_prepare(
		db, "SELECT json FROM document WHERE job = ?1 AND kind GLOB 'look-*' ORDER BY kind", error);
	g_autoptr(GPtrArray) looks = g_ptr_array_new_with_free_func((GDestroyNotify)json_object_unref);
	gboolean row;

	if (!stmt)
		return FALSE;
	db_bind_int(stmt, 1, job);
	while (db_step(stmt, &row, error)) {
		JsonObject *look;
		const char *json;

		if (!row) {
			*ret_looks = g_steal_pointer(&looks);
			return TRUE;
		}
		json = db_text(stmt, 0);
		if (!json_object_from_data(json, strlen(json), &look, error))
			return FALSE;
		g_ptr_array_add(looks, look);
	}
	return FALSE;
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
