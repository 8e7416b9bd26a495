/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <math.h>

#include "db/store-records.h"
#include "jobs/spec/file.h"

static gboolean read_position(Db *db, gint64 job, StorePosition *ret_position, GError **error)
{
	g_autoptr(DbStmt) stmt = db_prepare(
		db, "SELECT last_seq, events_offset, samples_offset, samples FROM job WHERE id = ?1", error);
	gboolean row;

	if (!stmt)
		return FALSE;
	db_bind_int(stmt, 1, job);
	if (!db_step(stmt, &row, error))
		return FALSE;
	if (!row) {
		g_set_error(error, DB_ERROR, DB_ERROR_FAILED, "there is no job %" G_GINT64_FORMAT, job);
		return FALSE;
	}
	ret_position->seq = db_int(stmt, 0);
	ret_position->events_offset = db_int(stmt, 1);
	ret_position->samples_offset = db_int(stmt, 2);
	ret_position->samples = db_int(stmt, 3);
	return TRUE;
}

StoreIngest *store_ingest_begin(Db *db, gint64 job, StorePosition *ret_position, GError **error)
{
	g_autoptr(DbTransaction) transaction = db_begin(db, "ingest", error);
	StoreIngest *ingest;

	if (!transaction || !read_position(db, job, ret_position, error))
		return NULL;
	ingest = g_new0(StoreIngest, 1);
	ingest->db = db;
	ingest->transaction = g_steal_pointer(&transaction);
	ingest->job = job;
	return ingest;
}

void store_ingest_rollback(StoreIngest *ingest)
{
	if (!ingest)
		return;
	db_rollback(ingest->transaction);
	g_free(ingest);
}

static gboolean write_position(StoreIngest *ingest, const StorePosition *position, GError **error)
{
	g_autoptr(DbStmt) stmt = db_prepare(
		ingest->db, "UPDATE job SET last_seq = ?2, events_offset = ?3, samples_offset = ?4, samples = ?5"
			    " WHERE id = ?1", error);

	if (!stmt)
		return FALSE;
	db_bind_int(stmt, 1, ingest->job);
	db_bind_int(stmt, 2, position->seq);
	db_bind_int(stmt, 3, position->events_offset);
	db_bind_int(stmt, 4, position->samples_offset);
	db_bind_int(stmt, 5, position->samples);
	return db_run(stmt, error);
}

gboolean store_ingest_commit(StoreIngest *ingest, const StorePosition *position, GError **error)
{
	g_autoptr(StoreIngest) owned = ingest;

	return write_position(owned, position, error) && (!owned->changed || store_index(owned->db, owned->job, error)) &&
	       db_commit(g_steal_pointer(&owned->transaction), error);
}

static const char *text_member(JsonObject *object, const char *name)
{
	JsonNode *node = json_object_get_member(object, name);

	return node && JSON_NODE_HOLDS_VALUE(node) && json_node_get_string(node) ? json_node_get_string(node) : "";
}

/* What is seen of a host lasts longer than the job. */
static gboolean note_accelerator(StoreIngest *ingest, JsonObject *object, GError **error)
{
	g_autoptr(DbStmt) stmt = db_prepare(
		ingest->db, "INSERT INTO host (name, accelerator, qemu_version, libvirt_version)"
			    " SELECT host, ?2, ?3, ?4 FROM job WHERE id = ?1 AND host <> ''"
			    " ON CONFLICT (name) DO UPDATE SET accelerator = excluded.accelerator,"
			    " qemu_version = excluded.qemu_version, libvirt_version = excluded.libvirt_version", error);

	if (!stmt)
		return FALSE;
	db_bind_int(stmt, 1, ingest->job);
	db_bind_text(stmt, 2, text_member(object, "accelerator"));
	db_bind_text(stmt, 3, text_member(object, "qemu_version"));
	db_bind_text(stmt, 4, text_member(object, "libvirt_version"));
	return db_run(stmt, error);
}

gboolean store_ingest_document(StoreIngest *ingest, const char *kind, JsonObject *object, GError **error)
{
	g_autoptr(DbStmt) stmt = db_prepare(
		ingest->db, "INSERT INTO document VALUES (?1, ?2, ?3)"
			    " ON CONFLICT (job, kind) DO UPDATE SET json = excluded.json", error);
	g_autofree char *json = json_object_to_line(object);

	if (!stmt)
		return FALSE;
	db_bind_int(stmt, 1, ingest->job);
	db_bind_text(stmt, 2, kind);
	db_bind_text(stmt, 3, json);
	ingest->changed |= !g_str_equal(kind, "progress");
	return db_run(stmt, error) &&
	       (!g_str_equal(kind, "accelerator") || note_accelerator(ingest, object, error));
}

gboolean store_ingest_host_state(StoreIngest *ingest, const char *host, JsonObject *object, gint64 now_ns, GError **error)
{
	g_autoptr(DbStmt) stmt = db_prepare(
		ingest->db, "INSERT INTO host_state VALUES (?1, ?2, ?3)"
			    " ON CONFLICT (host) DO UPDATE SET json = excluded.json, seen_ns = excluded.seen_ns", error);
	g_autofree char *json = json_object_to_line(object);

	if (!stmt)
		return FALSE;
	db_bind_text(stmt, 1, host);
	db_bind_text(stmt, 2, json);
	db_bind_int(stmt, 3, now_ns);
	return db_run(stmt, error) && store_ingest_document(ingest, "host-state", object, error);
}

static gboolean note_boot(StoreIngest *ingest, const StoreBoot *boot, GError **error)
{
	g_autoptr(DbStmt) stmt = db_prepare(
		ingest->db, "INSERT INTO host (name, boots_valid, boots_failed, last_boot_ns) VALUES (?1, ?2, ?3, ?4)"
			    " ON CONFLICT (name) DO UPDATE SET boots_valid = boots_valid + excluded.boots_valid,"
			    " boots_failed = boots_failed + excluded.boots_failed,"
			    " last_boot_ns = max(last_boot_ns, excluded.last_boot_ns)", error);

	if (!stmt)
		return FALSE;
	db_bind_text(stmt, 1, boot->host);
	db_bind_int(stmt, 2, boot->valid ? 1 : 0);
	/* what a host's noise cost is counted apart: store_host_state() */
	db_bind_int(stmt, 3, boot->valid || g_str_equal(boot->reason, "disturbed") ? 0 : 1);
	db_bind_int(stmt, 4, boot->end_ns);
	return db_run(stmt, error);
}

gboolean store_ingest_boot(StoreIngest *ingest, const StoreBoot *boot, GError **error)
{
	g_autoptr(DbStmt) stmt = db_prepare(
		ingest->db, "INSERT INTO boot (job, boot, pair, arm, host, clock, valid, reason, detail, start_ns, end_ns,"
			    " first_sample_ns, hello, machine, control)"
			    " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)", error);
	g_autofree char *hello = boot->hello ? json_object_to_line(boot->hello) : NULL;
	g_autofree char *machine = boot->machine ? json_object_to_line(boot->machine) : NULL;
	gboolean is_control = g_str_equal(boot->arm, "control");

	if (!stmt)
		return FALSE;
	db_bind_int(stmt, 1, ingest->job);
	db_bind_int(stmt, 2, boot->boot);
	db_bind_int(stmt, 3, boot->pair);
	db_bind_text(stmt, 4, is_control ? "base" : boot->arm);
	db_bind_text(stmt, 5, boot->host);
	db_bind_text(stmt, 6, boot->clock);
	db_bind_int(stmt, 7, boot->valid ? 1 : 0);
	db_bind_text(stmt, 8, boot->reason);
	db_bind_text(stmt, 9, boot->detail);
	db_bind_int(stmt, 10, boot->start_ns);
	db_bind_int(stmt, 11, boot->end_ns);
	db_bind_int(stmt, 12, boot->first_sample_ns);
	db_bind_text(stmt, 13, hello);
	db_bind_text(stmt, 14, machine);
	db_bind_int(stmt, 15, is_control ? 1 : 0);
	return db_run(stmt, error) && note_boot(ingest, boot, error);
}

/* They were at boots that no longer count. */
static gboolean forget_looks(StoreIngest *ingest, GError **error)
{
	g_autoptr(DbStmt) stmt = db_prepare(
		ingest->db, "DELETE FROM document WHERE job = ?1 AND (kind = 'look' OR kind GLOB 'look-*')", error);

	if (!stmt)
		return FALSE;
	db_bind_int(stmt, 1, ingest->job);
	return db_run(stmt, error);
}

gboolean store_ingest_moved(StoreIngest *ingest, const char *host, GError **error)
{
	g_autoptr(DbStmt) stmt = db_prepare(
		ingest->db, "UPDATE boot SET valid = 0, reason = 'moved' WHERE job = ?1 AND host <> ?2 AND valid = 1", error);

	if (!stmt)
		return FALSE;
	db_bind_int(stmt, 1, ingest->job);
	db_bind_text(stmt, 2, host);
	return db_run(stmt, error) && forget_looks(ingest, error);
}

static void bind_measure(DbStmt *stmt, const Sample *sample)
{
	db_bind_text(stmt, 1, sample->benchmark);
	db_bind_text(stmt, 2, sample->params);
	db_bind_text(stmt, 3, sample->metric);
	db_bind_text(stmt, 4, sample->unit);
	db_bind_text(stmt, 5, sample_better_to_string(sample->better));
}

static gboolean measure_id(Db *db, const Sample *sample, gint64 *ret_id, GError **error)
{
	g_autoptr(DbStmt) find = db_prepare(
		db, "SELECT id FROM measure WHERE benchmark = ?1 AND params = ?2 AND metric = ?3 AND unit = ?4"
		    " AND better = ?5", error);
	g_autoptr(DbStmt) add = NULL;
	gboolean row;

	if (!find)
		return FALSE;
	bind_measure(find, sample);
	if (!db_step(find, &row, error))
		return FALSE;
	if (row) {
		*ret_id = db_int(find, 0);
		return TRUE;
	}
	add = db_prepare(db, "INSERT INTO measure (benchmark, params, metric, unit, better)"
			     " VALUES (?1, ?2, ?3, ?4, ?5)", error);
	if (!add)
		return FALSE;
	bind_measure(add, sample);
	if (!db_run(add, error))
		return FALSE;
	*ret_id = db_last_id(db);
	return TRUE;
}

gboolean store_ingest_sample(StoreIngest *ingest, gint64 number, const Sample *sample, GError **error)
{
	g_autoptr(DbStmt) stmt = db_prepare(
		ingest->db, "INSERT INTO sample VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)", error);
	gint64 measure;

	if (!stmt || !measure_id(ingest->db, sample, &measure, error))
		return FALSE;
	db_bind_int(stmt, 1, ingest->job);
	db_bind_int(stmt, 2, number);
	db_bind_int(stmt, 3, sample->boot);
	db_bind_int(stmt, 4, measure);
	db_bind_int(stmt, 5, sample->run);
	db_bind_int(stmt, 6, sample->pass);
	if (!isnan(sample->value))
		db_bind_double(stmt, 7, sample->value);
	return db_run(stmt, error);
}

gboolean store_ingest_state(StoreIngest *ingest, JobState state, const char *reason, const char *message,
			    const char *arm, gint64 now_ns, GError **error)
{
	g_autoptr(DbStmt) stmt = db_prepare(
		ingest->db, "UPDATE job SET state = " STORE_END_STATE ", reason = ?3, message = ?4, failed_arm = ?5,"
			    " finished_ns = ?6 WHERE id = ?1 AND finished_ns = 0", error);

	if (!stmt)
		return FALSE;
	db_bind_int(stmt, 1, ingest->job);
	db_bind_text(stmt, 2, job_state_name(state));
	db_bind_text(stmt, 3, reason);
	db_bind_text(stmt, 4, message);
	db_bind_text(stmt, 5, arm);
	db_bind_int(stmt, 6, job_state_is_final(state) ? now_ns : 0);
	ingest->changed = TRUE;
	return db_run(stmt, error);
}
