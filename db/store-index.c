/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "db/store-records.h"

/*
 * Not by triggers: SQLite lets no trigger use JSON where the schema is not trusted, as db_open() says. Parameter 1 is the
 * job; the tags are explained where the table is made (008-search.sql).
 */
static const char index_job[] =
	"INSERT INTO job_index (rowid, subject, author, commits, tags, summary, verdicts)"
	" SELECT id, "
	"coalesce(json_extract(spec, '$.subject'), ''), "
	"coalesce(json_extract(spec, '$.author'), ''), "
	"coalesce(json_extract(spec, '$.base'), '') || ' ' || coalesce(json_extract(spec, '$.head'), '') || ' ' || coalesce( "
	"(SELECT group_concat(coalesce(json_extract(json, '$.base_commit'), json_extract(json, '$.commit')), ' ') FROM document "
	"WHERE document.job = job.id AND kind IN ('source', 'arm-base', 'arm-patched')), ''), "
	"'tree' || hex(tree) || ' state' || hex(state) || iif(finished_ns, ' ended', ' live') "
	"|| ' series' || hex(coalesce(nullif(json_extract(spec, '$.change_id'), ''), lower(json_extract(spec, '$.subject')), '')) "
	"|| coalesce((SELECT group_concat(' benchmark' || hex(value), '') FROM json_each(spec, '$.benchmarks')), '') "
	"|| coalesce((SELECT group_concat(DISTINCT ' verdict' || hex(json_extract(value, '$.verdict'))) "
	"FROM json_each(result, '$.comparisons') WHERE json_extract(value, '$.primary')), ''), "
	"coalesce(json_extract(result, '$.summary'), ''), "
	"coalesce((SELECT group_concat(DISTINCT json_extract(value, '$.verdict')) "
	"FROM json_each(result, '$.comparisons') WHERE json_extract(value, '$.primary')), '') "
	"FROM (SELECT *, (SELECT json FROM document WHERE document.job = j.id AND kind IN ('more-result', 'result')"
	" ORDER BY kind LIMIT 1) AS result FROM job j WHERE j.id = ?1) job";

static gboolean run_for(Db *db, const char *sql, gint64 job, GError **error)
{
	g_autoptr(DbStmt) stmt = db_prepare(db, sql, error);

	if (!stmt)
		return FALSE;
	db_bind_int(stmt, 1, job);
	return db_run(stmt, error);
}

gboolean store_index(Db *db, gint64 job, GError **error)
{
	return run_for(db, "DELETE FROM job_index WHERE rowid = ?1", job, error) && run_for(db, index_job, job, error);
}
