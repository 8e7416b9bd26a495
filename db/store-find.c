/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "db/store-records.h"

#include <string.h>

#define WORDS_MAX 16	/* of a question */

/* ---- the question to job_index ---- */

static void add_part(GString *match, const char *column)
{
	g_string_append_printf(match, "%s%s : ", match->len ? " AND " : "", column);
}

/* Each word, or the beginning of one, as FTS5 quotes it. */
static void add_words(GString *match, const char *column, const char *text)
{
	g_auto(GStrv) words = g_strsplit_set(text ? text : "", " \t\r\n", -1);
	guint count = 0;

	for (char **word = words; *word && count < WORDS_MAX; word++) {
		if (!**word)
			continue;
		count++;
		add_part(match, column);
		g_string_append_c(match, '"');
		for (const char *c = *word; *c; c++)
			g_string_append_printf(match, *c == '"' ? "\"%c" : "%c", *c);
		g_string_append(match, "\" *");
	}
}

static void add_tag(GString *match, const char *kind, const char *value)
{
	if (!value)
		return;
	add_part(match, "tags");
	g_string_append(match, kind);
	for (const unsigned char *c = (const unsigned char *)value; *c; c++)
		g_string_append_printf(match, "%02X", *c);
}

/* Empty: nothing is asked that the job table's own indexes do not answer. */
static GString *match_of(const StoreFilter *filter)
{
	GString *match = g_string_new(NULL);

	add_words(match, "subject", filter->subject);
	add_words(match, "author", filter->author);
	add_words(match, "commits", filter->commit);
	add_tag(match, "tree", filter->tree);
	add_tag(match, "benchmark", filter->benchmark);
	add_tag(match, "verdict", filter->verdict);
	add_tag(match, "series", filter->series);
	if (filter->ended)
		add_tag(match, "ended", "");
	if (match->len && filter->live)
		add_tag(match, "live", "");
	if (match->len && filter->by_state)
		add_tag(match, "state", job_state_name(filter->state));
	return match;
}

/* ---- which jobs ---- */

/* Parameters: 1 ids below, 2 how many, 3 the state or the question. */
static const char find_live[] = "SELECT id FROM job WHERE finished_ns = 0 AND id < ?1 AND (?3 IS NULL OR state = ?3)"
				" ORDER BY id DESC LIMIT ?2";
static const char find_by_end[] = "SELECT id FROM job WHERE finished_ns > 0 AND id < ?1 AND (?3 IS NULL OR state = ?3)"
				 " ORDER BY finished_ns DESC, id DESC LIMIT ?2";
static const char find_by_state[] = "SELECT id FROM job WHERE state = ?3 AND id < ?1 ORDER BY id DESC LIMIT ?2";
static const char find_all[] = "SELECT id FROM job WHERE id < ?1 AND ?3 IS NULL ORDER BY id DESC LIMIT ?2";
static const char find_matches[] = "SELECT rowid FROM job_index WHERE job_index MATCH ?3 AND rowid < ?1"
				   " ORDER BY rowid DESC LIMIT ?2";

static const char *find_sql(const StoreFilter *filter, const GString *match)
{
	if (match->len)
		return find_matches;
	if (filter->live)
		return find_live;
	if (filter->by_end)
		return find_by_end;
	return filter->by_state ? find_by_state : find_all;
}

/* *ret_ids: of gint64, as many as are wanted; *ret_cursor: the last of them if there are more, else 0. */
static gboolean find_ids(Db *db, const StoreFilter *filter, GArray **ret_ids, gint64 *ret_cursor, GError **error)
{
	g_autoptr(GString) match = match_of(filter);
	g_autoptr(DbStmt) stmt = db_prepare(db, find_sql(filter, match), error);
	g_autoptr(GArray) ids = g_array_new(FALSE, FALSE, sizeof(gint64));
	guint limit = (guint)CLAMP(filter->limit, 1, STORE_LIST_MAX);
	gboolean row;

	if (!stmt)
		return FALSE;
	db_bind_int(stmt, 1, filter->before_id > 0 ? filter->before_id : G_MAXINT64);
	db_bind_int(stmt, 2, limit + 1);
	db_bind_text(stmt, 3, match->len ? match->str : filter->by_state ? job_state_name(filter->state) : NULL);
	for (;;) {
		gint64 id;

		if (!db_step(stmt, &row, error))
			return FALSE;
		if (!row)
			break;
		id = db_int(stmt, 0);
		g_array_append_val(ids, id);
	}
	*ret_cursor = ids->len > limit ? g_array_index(ids, gint64, limit - 1) : 0;
	g_array_set_size(ids, MIN(ids->len, limit));
	*ret_ids = g_steal_pointer(&ids);
	return TRUE;
}

/* ---- what is told of them ---- */

void store_brief_free(StoreBrief *brief)
{
	if (!brief)
		return;
	g_free(brief->tree);
	g_free(brief->reason);
	g_free(brief->failed_arm);
	g_free(brief->subject);
	g_free(brief->author);
	g_free(brief->benchmarks);
	g_free(brief->summary);
	g_free(brief->verdicts);
	g_free(brief->series);
	g_free(brief);
}

static StoreBrief *brief_from_row(DbStmt *stmt, gint64 id, GError **error)
{
	g_autoptr(StoreBrief) brief = g_new0(StoreBrief, 1);

	brief->id = id;
	if (!job_state_from_name(db_text(stmt, 0), &brief->state)) {
		g_set_error(error, DB_ERROR, DB_ERROR_CORRUPT, "job %" G_GINT64_FORMAT " is in no state that there is: %s", id,
			    db_text(stmt, 0));
		return NULL;
	}
	brief->cancel_asked = db_int(stmt, 1) != 0;
	brief->tree = g_strdup(db_text(stmt, 2));
	brief->reason = g_strdup(db_text(stmt, 3));
	brief->failed_arm = g_strdup(db_text(stmt, 4));
	brief->created_ns = db_int(stmt, 5);
	brief->finished_ns = db_int(stmt, 6);
	brief->subject = g_strdup(db_text(stmt, 7));
	brief->author = g_strdup(db_text(stmt, 8));
	brief->summary = g_strdup(db_text(stmt, 9));
	brief->verdicts = g_strdup(db_text(stmt, 10));
	brief->benchmarks = g_strdup(db_text(stmt, 11));
	brief->series = g_strdup(db_text(stmt, 12));
	brief->version = (int)CLAMP(db_int(stmt, 13), 1, G_MAXINT);
	return g_steal_pointer(&brief);
}

gboolean store_brief_get(Db *db, gint64 id, StoreBrief **ret_brief, GError **error)
{
	g_autoptr(DbStmt) stmt = db_prepare(
		db, "SELECT state, cancel_asked, tree, reason, failed_arm, created_ns, finished_ns, i.subject, i.author, i.summary,"
		    " i.verdicts, (SELECT group_concat(value, ', ') FROM json_each(spec, '$.benchmarks')),"
		    " coalesce(nullif(spec ->> 'change_id', ''), lower(spec ->> 'subject')), spec ->> 'version'"
		    " FROM job CROSS JOIN job_index i ON i.rowid = job.id WHERE job.id = ?1", error);
	gboolean row;

	if (!stmt)
		return FALSE;
	db_bind_int(stmt, 1, id);
	if (!db_step(stmt, &row, error))
		return FALSE;
	*ret_brief = row ? brief_from_row(stmt, id, error) : NULL;
	return !row || *ret_brief;
}

typedef gboolean (*LoadFunc)(Db *db, gint64 id, gpointer ret_record, GError **error);

static gboolean load_brief(Db *db, gint64 id, gpointer ret_record, GError **error)
{
	return store_brief_get(db, id, ret_record, error);
}

static gboolean load_job(Db *db, gint64 id, gpointer ret_record, GError **error)
{
	return store_job_get(db, id, ret_record, error);
}

static gboolean load_each(Db *db, const GArray *ids, LoadFunc load, GPtrArray *records, GError **error)
{
	for (guint i = 0; i < ids->len; i++) {
		gpointer record = NULL;

		if (!load(db, g_array_index(ids, gint64, i), &record, error))
			return FALSE;
		if (record)
			g_ptr_array_add(records, record);
	}
	return TRUE;
}

static gboolean list(Db *db, const StoreFilter *filter, LoadFunc load, GDestroyNotify destroy, GPtrArray **ret_records,
		     gint64 *ret_cursor, GError **error)
{
	g_autoptr(GPtrArray) records = g_ptr_array_new_with_free_func(destroy);
	g_autoptr(GArray) ids = NULL;

	if (!find_ids(db, filter, &ids, ret_cursor, error) || !load_each(db, ids, load, records, error))
		return FALSE;
	*ret_records = g_steal_pointer(&records);
	return TRUE;
}

gboolean store_brief_list(Db *db, const StoreFilter *filter, GPtrArray **ret_briefs, gint64 *ret_cursor, GError **error)
{
	return list(db, filter, load_brief, (GDestroyNotify)store_brief_free, ret_briefs, ret_cursor, error);
}

gboolean store_job_list(Db *db, const StoreFilter *filter, GPtrArray **ret_jobs, gint64 *ret_cursor, GError **error)
{
	return list(db, filter, load_job, (GDestroyNotify)store_job_free, ret_jobs, ret_cursor, error);
}
