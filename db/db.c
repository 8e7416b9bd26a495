/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "db/db.h"

#include <sqlite3.h>

#include "db/stmt.h"

#define BUSY_TIMEOUT_MS	250	/* a person with sqlite3 open; nobody else writes here */

static const char *const migrations[] = {
#include "db/migrations.h"
};

struct DbStmt {
	Db *db;
	const char *sql;
	sqlite3_stmt *raw;
	int bind_code;		/* of the first bind that failed */
	gboolean kept;		/* in db->statements */
	gboolean used;		/* handed out */
};

struct DbTransaction {
	Db *db;
	const char *name;
};

#define DEPTH_MAX 2	/* transactions: one, and one in it */

struct Db {
	sqlite3 *raw;
	GHashTable *statements;	/* SQL -> DbStmt */
	int statements_used;
	DbTransaction open[DEPTH_MAX];	/* the outer one first */
	int depth;			/* how many of them are */
};

G_DEFINE_QUARK(regrlab-db-error, db_error)

static DbError error_code(int sqlite_code)
{
	switch (sqlite_code & 0xff) {
	case SQLITE_FULL:
		return DB_ERROR_FULL;
	case SQLITE_READONLY:
		return DB_ERROR_READONLY;
	case SQLITE_CORRUPT:
	case SQLITE_NOTADB:
		return DB_ERROR_CORRUPT;
	case SQLITE_CONSTRAINT:
		return DB_ERROR_CONFLICT;
	default:
		return DB_ERROR_FAILED;
	}
}

static gboolean fail(Db *db, int code, GError **error)
{
	const char *name = db->depth ? db->open[db->depth - 1].name : NULL;

	g_set_error(error, DB_ERROR, error_code(code), "database%s%s: %s",
		    name ? ", transaction " : "", name ? name : "",
		    db->raw && sqlite3_errcode(db->raw) != SQLITE_OK ? sqlite3_errmsg(db->raw) : sqlite3_errstr(code));
	return FALSE;
}

static gboolean execute(Db *db, const char *sql, GError **error)
{
	int code = sqlite3_exec(db->raw, sql, NULL, NULL, NULL);

	return code == SQLITE_OK || fail(db, code, error);
}

static gboolean schema_version(Db *db, gint64 *ret_version, GError **error)
{
	g_autoptr(DbStmt) stmt = db_prepare(db, "PRAGMA user_version", error);
	gboolean row = FALSE;

	if (!stmt || !db_step(stmt, &row, error))
		return FALSE;
	*ret_version = row ? db_int(stmt, 0) : 0;
	return TRUE;
}

static gboolean migrate(Db *db, GError **error)
{
	gint64 version;

	if (!schema_version(db, &version, error))
		return FALSE;
	if (version > (gint64)G_N_ELEMENTS(migrations)) {
		g_set_error(error, DB_ERROR, DB_ERROR_NEWER,
			    "the database has schema %" G_GINT64_FORMAT ", this program knows up to %zu: "
			    "a later release wrote it", version, G_N_ELEMENTS(migrations));
		return FALSE;
	}
	for (; version < (gint64)G_N_ELEMENTS(migrations); version++) {
		g_autoptr(DbTransaction) transaction = db_begin(db, "migrate", error);

		if (!transaction || !execute(db, migrations[version], error) ||
		    !db_commit(g_steal_pointer(&transaction), error))
			return FALSE;
	}
	return TRUE;
}

static void stmt_destroy(gpointer data)
{
	DbStmt *stmt = data;

	sqlite3_finalize(stmt->raw);
	g_free(stmt);
}

Db *db_open(const char *path, GError **error)
{
	g_autoptr(Db) db = g_new0(Db, 1);
	int code;

	db->statements = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, stmt_destroy);
	code = sqlite3_open_v2(path, &db->raw, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, NULL);
	if (code != SQLITE_OK) {
		fail(db, code, error);
		g_prefix_error(error, "%s: ", path);
		return NULL;
	}
	sqlite3_extended_result_codes(db->raw, 1);
	sqlite3_busy_timeout(db->raw, BUSY_TIMEOUT_MS);
	if (!execute(db, "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON;"
		     " PRAGMA trusted_schema = OFF; PRAGMA journal_size_limit = 67108864;", error) ||
	    !migrate(db, error)) {
		g_prefix_error(error, "%s: ", path);
		return NULL;
	}
	return g_steal_pointer(&db);
}

void db_close(Db *db)
{
	if (!db)
		return;
	if (db->statements_used) {
		GHashTableIter iter;
		gpointer value;

		g_hash_table_iter_init(&iter, db->statements);
		while (g_hash_table_iter_next(&iter, NULL, &value))
			if (((DbStmt *)value)->used)
				g_error("a statement was never freed: %s", ((DbStmt *)value)->sql);
	}
	g_assert(!db->depth);
	g_hash_table_destroy(db->statements);
	g_assert(sqlite3_close(db->raw) == SQLITE_OK);
	g_free(db);
}

gboolean db_writable(Db *db, GError **error)
{
	g_autoptr(DbTransaction) transaction = db_begin(db, "health", error);

	return transaction && execute(db, "INSERT INTO job_count VALUES ('health', 0)", error);
}

gint64 db_size_bytes(Db *db)
{
	g_autoptr(DbStmt) stmt = db_prepare(
		db, "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size", NULL);
	gboolean row = FALSE;

	return stmt && db_step(stmt, &row, NULL) && row ? db_int(stmt, 0) : 0;
}

void db_foreach_sql(Db *db, DbSqlFunc func, gpointer data)
{
	GHashTableIter iter;
	gpointer sql;

	g_hash_table_iter_init(&iter, db->statements);
	while (g_hash_table_iter_next(&iter, &sql, NULL))
		func(sql, data);
}

/* ---- statements ---- */

DbStmt *db_prepare(Db *db, const char *sql, GError **error)
{
	DbStmt *stmt = g_hash_table_lookup(db->statements, sql);
	int code;

	if (!stmt || stmt->used) {
		gboolean keep = !stmt;

		stmt = g_new0(DbStmt, 1);
		stmt->db = db;
		stmt->sql = sql;
		stmt->kept = keep;
		code = sqlite3_prepare_v3(db->raw, sql, -1, keep ? SQLITE_PREPARE_PERSISTENT : 0, &stmt->raw, NULL);
		if (code != SQLITE_OK) {
			fail(db, code, error);
			g_free(stmt);
			return NULL;
		}
		if (keep)
			g_hash_table_insert(db->statements, (gpointer)sql, stmt);
	}
	stmt->used = TRUE;
	stmt->bind_code = SQLITE_OK;
	db->statements_used++;
	return stmt;
}

void db_stmt_free(DbStmt *stmt)
{
	if (!stmt)
		return;
	stmt->used = FALSE;
	stmt->db->statements_used--;
	if (!stmt->kept) {
		stmt_destroy(stmt);
		return;
	}
	sqlite3_reset(stmt->raw);
	sqlite3_clear_bindings(stmt->raw);
}

static void note_bind(DbStmt *stmt, int code)
{
	if (code != SQLITE_OK && stmt->bind_code == SQLITE_OK)
		stmt->bind_code = code;
}

void db_bind_int(DbStmt *stmt, int parameter, gint64 value)
{
	note_bind(stmt, sqlite3_bind_int64(stmt->raw, parameter, value));
}

void db_bind_double(DbStmt *stmt, int parameter, double value)
{
	note_bind(stmt, sqlite3_bind_double(stmt->raw, parameter, value));
}

void db_bind_text(DbStmt *stmt, int parameter, const char *value)
{
	note_bind(stmt, sqlite3_bind_text(stmt->raw, parameter, value, -1, SQLITE_TRANSIENT));
}

void db_bind_bytes(DbStmt *stmt, int parameter, GBytes *value)
{
	gsize size;
	const void *data = g_bytes_get_data(value, &size);

	note_bind(stmt, sqlite3_bind_blob64(stmt->raw, parameter, size ? data : "", size, SQLITE_STATIC));
}

gboolean db_step(DbStmt *stmt, gboolean *ret_row, GError **error)
{
	int code = stmt->bind_code;

	if (code == SQLITE_OK)
		code = sqlite3_step(stmt->raw);
	if (code != SQLITE_ROW && code != SQLITE_DONE)
		return fail(stmt->db, code, error);
	*ret_row = code == SQLITE_ROW;
	return TRUE;
}

gboolean db_run(DbStmt *stmt, GError **error)
{
	gboolean row = FALSE;
	gboolean good = db_step(stmt, &row, error);

	g_assert(!good || !row);
	sqlite3_reset(stmt->raw);
	return good;
}

gboolean db_collect(DbStmt *stmt, DbRowFunc from_row, GDestroyNotify free_record, GPtrArray **ret_records, GError **error)
{
	g_autoptr(GPtrArray) records = g_ptr_array_new_with_free_func(free_record);
	gboolean row;

	while (db_step(stmt, &row, error)) {
		gpointer record;

		if (!row) {
			*ret_records = g_steal_pointer(&records);
			return TRUE;
		}
		record = from_row(stmt, error);
		if (!record)
			return FALSE;
		g_ptr_array_add(records, record);
	}
	return FALSE;
}

void db_reset(DbStmt *stmt)
{
	sqlite3_reset(stmt->raw);
}

gint64 db_int(DbStmt *stmt, int column)
{
	return sqlite3_column_int64(stmt->raw, column);
}

double db_double(DbStmt *stmt, int column)
{
	return sqlite3_column_double(stmt->raw, column);
}

const char *db_text(DbStmt *stmt, int column)
{
	const unsigned char *text = sqlite3_column_text(stmt->raw, column);

	return text ? (const char *)text : "";
}

gboolean db_is_null(DbStmt *stmt, int column)
{
	return sqlite3_column_type(stmt->raw, column) == SQLITE_NULL;
}

GBytes *db_bytes(DbStmt *stmt, int column)
{
	const void *data = sqlite3_column_blob(stmt->raw, column);

	return g_bytes_new(data, sqlite3_column_bytes(stmt->raw, column));
}

gint64 db_last_id(Db *db)
{
	return sqlite3_last_insert_rowid(db->raw);
}

int db_changes(Db *db)
{
	return sqlite3_changes(db->raw);
}

/* ---- transactions ---- */

/* What begins and ends a transaction, the outer and the inner one. */
static const struct {
	const char *begin, *commit, *rollback;
} words[DEPTH_MAX] = {
	{ "BEGIN IMMEDIATE", "COMMIT", "ROLLBACK" },
	{ "SAVEPOINT inner", "RELEASE inner", "ROLLBACK TO inner; RELEASE inner" },
};

DbTransaction *db_begin(Db *db, const char *name, GError **error)
{
	DbTransaction *transaction = &db->open[db->depth];

	g_assert(db->depth < DEPTH_MAX);
	*transaction = (DbTransaction){ db, name };
	db->depth++;
	if (execute(db, words[db->depth - 1].begin, error))
		return transaction;
	db->depth--;
	return NULL;
}

gboolean db_commit(DbTransaction *transaction, GError **error)
{
	Db *db = transaction->db;
	gboolean good;

	g_assert(transaction == &db->open[db->depth - 1]);
	good = execute(db, words[db->depth - 1].commit, error);
	if (good)
		db->depth--;
	else
		db_rollback(transaction);
	return good;
}

void db_rollback(DbTransaction *transaction)
{
	Db *db;

	if (!transaction)
		return;
	db = transaction->db;
	g_assert(transaction == &db->open[db->depth - 1]);
	/* SQLite has already rolled all of it back by itself after some errors (a full disk) */
	if (!sqlite3_get_autocommit(db->raw))
		execute(db, words[db->depth - 1].rollback, NULL);
	db->depth--;
}
