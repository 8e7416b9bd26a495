/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "db/store-sweep.h"

#include "db/stmt.h"

/* The first column of all rows, those that are empty left out. */
static gboolean read_column(Db *db, const char *sql, char ***ret_texts, GError **error)
{
	g_autoptr(DbStmt) stmt = db_prepare(db, sql, error);
	g_autoptr(GStrvBuilder) texts = g_strv_builder_new();
	gboolean row = TRUE;

	if (!stmt)
		return FALSE;
	for (;;) {
		if (!db_step(stmt, &row, error))
			return FALSE;
		if (!row)
			break;
		if (*db_text(stmt, 0))
			g_strv_builder_add(texts, db_text(stmt, 0));
	}
	*ret_texts = g_strv_builder_end(texts);
	return TRUE;
}

gboolean store_owned(Db *db, gint64 *ret_last, char ***ret_live, char ***ret_kernels, GError **error)
{
	g_auto(GStrv) last = NULL, live = NULL, kernels = NULL;

	if (!read_column(db, "SELECT seq FROM sqlite_sequence WHERE name = 'job'", &last, error) ||
	    !read_column(db, "SELECT id FROM job WHERE finished_ns = 0", &live, error) ||
	    !read_column(db, "SELECT json_extract(document.json, '$.kernel') FROM job JOIN document ON document.job = job.id"
			     " WHERE job.finished_ns = 0 AND document.kind IN ('arm-base', 'arm-patched')", &kernels, error))
		return FALSE;
	*ret_last = last[0] ? g_ascii_strtoll(last[0], NULL, 10) : 0;
	*ret_live = g_steal_pointer(&live);
	*ret_kernels = g_steal_pointer(&kernels);
	return TRUE;
}
