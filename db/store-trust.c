/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "db/store-trust.h"

#include <math.h>
#include <string.h>

#include "db/store-records.h"
#include "jobs/spec/file.h"
#include "jobs/spec/peek.h"

/* ---- the ledger ---- */

gboolean store_ingest_same_source(StoreIngest *ingest, gboolean *ret_same, GError **error)
{
	g_autoptr(DbStmt) stmt = db_prepare(
		ingest->db, "SELECT json FROM document WHERE job = ?1 AND kind = 'source'", error);
	g_autoptr(JsonObject) source = NULL;
	gboolean row;

	if (!stmt)
		return FALSE;
	db_bind_int(stmt, 1, ingest->job);
	if (!db_step(stmt, &row, error) ||
	    (row && !json_object_from_data(db_text(stmt, 0), strlen(db_text(stmt, 0)), &source, error)))
		return FALSE;
	*ret_same = *peek_string(source, "base_tree") &&
		    g_str_equal(peek_string(source, "base_tree"), peek_string(source, "patched_tree"));
	return TRUE;
}

gboolean store_ingest_alarm(StoreIngest *ingest, const StoreAlarm *alarm, const char *clock, gint64 now_ns, GError **error)
{
	g_autoptr(DbStmt) stmt = db_prepare(
		ingest->db, "INSERT INTO ledger SELECT id, ?2, host, ?3, ?4, ?5, ?6, ?7, ?8 FROM job"
			    " WHERE id = ?1 AND host <> '' ON CONFLICT (job, benchmark) DO NOTHING", error);

	if (!stmt)
		return FALSE;
	db_bind_int(stmt, 1, ingest->job);
	db_bind_text(stmt, 2, alarm->benchmark);
	db_bind_text(stmt, 3, clock);
	db_bind_text(stmt, 4, alarm->control ? "control" : "job");
	db_bind_int(stmt, 5, alarm->sets);
	if (!isnan(alarm->p))
		db_bind_double(stmt, 6, alarm->p);
	db_bind_int(stmt, 7, alarm->alarm ? 1 : 0);
	db_bind_int(stmt, 8, now_ns);
	return db_run(stmt, error);
}

static void ledger_free(gpointer data)
{
	StoreLedger *ledger = data;

	g_free(ledger->benchmark);
	g_free(ledger->clock);
	g_free(ledger);
}

/* Counts the last comparisons of one line. */
static gboolean count_ledger(Db *db, const char *host, StoreLedger *ledger, GError **error)
{
	g_autoptr(DbStmt) stmt = db_prepare(
		db, "SELECT alarm, source = 'control', job FROM ledger WHERE host = ?1 AND benchmark = ?2 AND clock = ?3"
		    " ORDER BY job DESC LIMIT ?4", error);
	gboolean row;

	if (!stmt)
		return FALSE;
	db_bind_text(stmt, 1, host);
	db_bind_text(stmt, 2, ledger->benchmark);
	db_bind_text(stmt, 3, ledger->clock);
	db_bind_int(stmt, 4, STATS_LEDGER_MAX);
	while (db_step(stmt, &row, error)) {
		if (!row) {
			ledger->limit = stats_alarm_limit(ledger->comparisons);
			ledger->fitness = stats_fitness(ledger->comparisons, ledger->alarms);
			return TRUE;
		}
		ledger->comparisons++;
		ledger->alarms += (guint)db_int(stmt, 0);
		ledger->of_controls += (guint)db_int(stmt, 1);
		ledger->last_job = MAX(ledger->last_job, db_int(stmt, 2));
	}
	return FALSE;
}

gboolean store_ledger(Db *db, const char *host, GPtrArray **ret_ledger, GError **error)
{
	g_autoptr(GPtrArray) list = g_ptr_array_new_with_free_func(ledger_free);
	g_autoptr(DbStmt) stmt = db_prepare(
		db, "SELECT DISTINCT benchmark, clock FROM ledger WHERE host = ?1 ORDER BY benchmark, clock", error);
	gboolean row;

	if (!stmt)
		return FALSE;
	db_bind_text(stmt, 1, host);
	while (db_step(stmt, &row, error)) {
		StoreLedger *ledger;

		if (!row) {
			*ret_ledger = g_steal_pointer(&list);
			return TRUE;
		}
		ledger = g_new0(StoreLedger, 1);
		g_ptr_array_add(list, ledger);
		ledger->benchmark = g_strdup(db_text(stmt, 0));
		ledger->clock = g_strdup(db_text(stmt, 1));
		if (!count_ledger(db, host, ledger, error))
			return FALSE;
	}
	return FALSE;
}

gboolean store_ingest_ledger(StoreIngest *ingest, GPtrArray **ret_ledger, GError **error)
{
	g_autoptr(DbStmt) stmt = db_prepare(ingest->db, "SELECT host FROM job WHERE id = ?1", error);
	gboolean row;

	if (!stmt)
		return FALSE;
	db_bind_int(stmt, 1, ingest->job);
	return db_step(stmt, &row, error) && store_ledger(ingest->db, row ? db_text(stmt, 0) : "", ret_ledger, error);
}

/* ---- calibrations ---- */

gboolean store_ingest_calibration(StoreIngest *ingest, const char *config_sha256, JsonObject *calibration, gint64 now_ns,
				  GError **error)
{
	g_autoptr(DbStmt) stmt = db_prepare(
		ingest->db, "INSERT INTO calibration SELECT host, ?2, ?3, ?4, ?5, id, ?6, ?7 FROM job"
			    " WHERE id = ?1 AND host <> '' ON CONFLICT DO UPDATE SET json = excluded.json", error);
	g_autofree char *json = json_object_to_line(calibration);

	if (!stmt)
		return FALSE;
	db_bind_int(stmt, 1, ingest->job);
	db_bind_text(stmt, 2, config_sha256);
	db_bind_text(stmt, 3, peek_string(calibration, "clock"));
	db_bind_text(stmt, 4, peek_string(calibration, "benchmark"));
	db_bind_text(stmt, 5, peek_string(calibration, "params"));
	db_bind_int(stmt, 6, now_ns);
	db_bind_text(stmt, 7, json);
	return db_run(stmt, error);
}

static void calibration_free(gpointer data)
{
	StoreCalibration *calibration = data;

	g_free(calibration->config_sha256);
	g_free(calibration->clock);
	g_free(calibration->benchmark);
	g_free(calibration->params);
	g_clear_pointer(&calibration->row, json_object_unref);
	g_free(calibration);
}

static gpointer calibration_from_row(DbStmt *stmt, GError **error)
{
	StoreCalibration *calibration = g_new0(StoreCalibration, 1);
	const char *json = db_text(stmt, 6);

	calibration->config_sha256 = g_strdup(db_text(stmt, 0));
	calibration->clock = g_strdup(db_text(stmt, 1));
	calibration->benchmark = g_strdup(db_text(stmt, 2));
	calibration->params = g_strdup(db_text(stmt, 3));
	calibration->job = db_int(stmt, 4);
	calibration->time_ns = db_int(stmt, 5);
	if (json_object_from_data(json, strlen(json), &calibration->row, error))
		return calibration;
	calibration_free(calibration);
	return NULL;
}

gboolean store_calibrations(Db *db, const char *host, GPtrArray **ret_calibrations, GError **error)
{
	/* with max(), the other columns are those of its row */
	g_autoptr(DbStmt) stmt = db_prepare(
		db, "SELECT config_sha256, clock, benchmark, params, max(job), time_ns, json FROM calibration WHERE host = ?1"
		    " GROUP BY config_sha256, clock, benchmark, params", error);

	if (!stmt)
		return FALSE;
	db_bind_text(stmt, 1, host);
	return db_collect(stmt, calibration_from_row, calibration_free, ret_calibrations, error);
}
