/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "db/store-records.h"
#include "jobs/spec/file.h"

#define TURN_COLUMNS \
	"job.id, job.state, job.cancel_asked, job.created_ns, job.host, job.spec," \
	" (SELECT json FROM document WHERE document.job = job.id AND document.kind = 'accelerator'), job.submitter," \
	" EXISTS (SELECT 1 FROM boot WHERE boot.job = job.id AND boot.host = job.host AND boot.valid)"

static JobClock clock_of(const char *json)
{
	g_autoptr(JsonObject) object = NULL;
	JobClock clock = CLOCK_AUTO;

	if (*json && json_object_from_data(json, strlen(json), &object, NULL))
		job_clock_from_name(json_object_get_string_member_with_default(object, "clock", ""), &clock);
	return clock;
}

static gboolean read_turn(DbStmt *stmt, const char *known_spec, StoreTurn *turn, GError **error)
{
	const char *json = db_text(stmt, 5);
	g_autoptr(JsonObject) object = NULL;

	turn->id = db_int(stmt, 0);
	if (!job_state_from_name(db_text(stmt, 1), &turn->state)) {
		g_set_error(error, DB_ERROR, DB_ERROR_CORRUPT, "job %" G_GINT64_FORMAT " is in no state that there is: %s",
			    turn->id, db_text(stmt, 1));
		return FALSE;
	}
	turn->cancel_asked = db_int(stmt, 2) != 0;
	turn->created_ns = db_int(stmt, 3);
	turn->has_boots = db_int(stmt, 8) != 0;
	turn->clock = clock_of(db_text(stmt, 6));
	if (g_strcmp0(json, known_spec) != 0 &&
	    (!json_object_from_data(json, strlen(json), &object, error) || !job_spec_from_json(object, &turn->spec, error))) {
		g_prefix_error(error, "job %" G_GINT64_FORMAT ": ", turn->id);
		return FALSE;
	}
	turn->spec_text = g_strdup(json);
	turn->host = g_strdup(db_text(stmt, 4));
	turn->submitter = g_strdup(db_text(stmt, 7));
	return TRUE;
}

static gboolean each_turn(DbStmt *stmt, const char *known_spec, StoreTurnFunc func, gpointer data, GError **error)
{
	gboolean row;

	while (db_step(stmt, &row, error)) {
		StoreTurn turn = { 0 };

		if (!row)
			return TRUE;
		if (!read_turn(stmt, known_spec, &turn, error))
			return FALSE;
		func(&turn, data);
		job_spec_free(turn.spec);
		g_free(turn.spec_text);
		g_free(turn.host);
		g_free(turn.submitter);
	}
	return FALSE;
}

gboolean store_turns(Db *db, gint64 after, StoreTurnFunc func, gpointer data, GError **error)
{
	g_autoptr(DbStmt) stmt = db_prepare(
		db, "SELECT " TURN_COLUMNS " FROM job WHERE id > ?1 AND finished_ns = 0 ORDER BY id", error);

	if (!stmt)
		return FALSE;
	db_bind_int(stmt, 1, after);
	return each_turn(stmt, NULL, func, data, error);
}

gboolean store_turn(Db *db, gint64 job, const char *known_spec, StoreTurnFunc func, gpointer data, GError **error)
{
	g_autoptr(DbStmt) stmt = db_prepare(
		db, "SELECT " TURN_COLUMNS " FROM job WHERE id = ?1 AND finished_ns = 0", error);

	if (!stmt)
		return FALSE;
	db_bind_int(stmt, 1, job);
	return each_turn(stmt, known_spec, func, data, error);
}
