/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "db/store-records.h"
#include "jobs/spec/file.h"

void store_host_state_clear(StoreHostState *state)
{
	g_clear_pointer(&state->object, json_object_unref);
}

static gboolean read_state(Db *db, const char *name, StoreHostState *ret_state, GError **error)
{
	g_autoptr(DbStmt) stmt = db_prepare(db, "SELECT json, seen_ns FROM host_state WHERE host = ?1", error);
	gboolean row;

	if (!stmt)
		return FALSE;
	db_bind_text(stmt, 1, name);
	if (!db_step(stmt, &row, error))
		return FALSE;
	if (!row)
		return TRUE;
	const char *json = db_text(stmt, 0);
	ret_state->seen_ns = db_int(stmt, 1);
	return json_object_from_data(json, strlen(json), &ret_state->object, error);
}

gboolean store_host_state(Db *db, const char *name, StoreHostState *ret_state, GError **error)
{
	StoreHostState state = { 0 };
	g_autoptr(DbStmt) stmt = db_prepare(db, "SELECT count(*) FROM boot WHERE host = ?1 AND reason = 'disturbed'", error);
	gboolean row;

	if (!stmt)
		return FALSE;
	db_bind_text(stmt, 1, name);
	if (!db_step(stmt, &row, error) || !read_state(db, name, &state, error))
		return FALSE;
	state.boots_disturbed = row ? db_int(stmt, 0) : 0;
	*ret_state = state;
	return TRUE;
}
