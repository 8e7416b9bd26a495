/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <glib/gstdio.h>
#include <sqlite3.h>
#include <string.h>

#include "db/stmt.h"

typedef struct {
	char *dir, *path;
} Place;

static void set_up(Place *place, gconstpointer data G_GNUC_UNUSED)
{
	place->dir = g_dir_make_tmp("regrlab-db-XXXXXX", NULL);
	place->path = g_build_filename(place->dir, "regrlab.db", NULL);
}

static void tear_down(Place *place, gconstpointer data G_GNUC_UNUSED)
{
	static const char *const suffixes[] = { "", "-wal", "-shm", "-journal" };

	for (gsize i = 0; i < G_N_ELEMENTS(suffixes); i++) {
		g_autofree char *path = g_strconcat(place->path, suffixes[i], NULL);

		g_unlink(path);
	}
	g_rmdir(place->dir);
	g_free(place->path);
	g_free(place->dir);
}

/* Straight to SQLite, past db.c. */
static void outside(const char *path, const char *sql)
{
	sqlite3 *raw;

	g_assert_cmpint(sqlite3_open(path, &raw), ==, SQLITE_OK);
	g_assert_cmpint(sqlite3_exec(raw, sql, NULL, NULL, NULL), ==, SQLITE_OK);
	sqlite3_close(raw);
}

static gint64 one_int(Db *db, const char *sql)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(DbStmt) stmt = db_prepare(db, sql, &error);
	gboolean row;

	g_assert_no_error(error);
	g_assert_true(db_step(stmt, &row, &error));
	g_assert_true(row);
	return db_int(stmt, 0);
}

static void test_open(Place *place, gconstpointer data G_GNUC_UNUSED)
{
	g_autoptr(GError) error = NULL;
	Db *db = db_open(place->path, &error);

	g_assert_no_error(error);
	g_assert_cmpint(one_int(db, "PRAGMA user_version"), >=, 1);
	g_assert_cmpint(one_int(db, "PRAGMA synchronous"), ==, 2);
	g_assert_cmpint(one_int(db, "PRAGMA foreign_keys"), ==, 1);
	g_assert_true(db_writable(db, &error));
	g_assert_cmpint(one_int(db, "SELECT count(*) FROM job_count"), ==, 0);
	g_assert_cmpint(db_size_bytes(db), >, 4096);
	db_close(db);
	/* again: nothing to migrate */
	db = db_open(place->path, &error);
	g_assert_no_error(error);
	db_close(db);
}

static void test_every_table_is_strict(Place *place, gconstpointer data G_GNUC_UNUSED)
{
	g_autoptr(Db) db = db_open(place->path, NULL);

	g_assert_cmpint(one_int(db, "SELECT count(*) FROM pragma_table_list WHERE schema = 'main' AND type = 'table'"
				    " AND NOT strict AND name NOT LIKE 'sqlite%'"), ==, 0);
	g_assert_cmpint(one_int(db, "SELECT count(*) FROM pragma_table_list WHERE schema = 'main' AND strict"), >, 8);
}

static void test_newer(Place *place, gconstpointer data G_GNUC_UNUSED)
{
	g_autoptr(GError) error = NULL;

	db_close(db_open(place->path, NULL));
	outside(place->path, "PRAGMA user_version = 999");
	g_assert_null(db_open(place->path, &error));
	g_assert_error(error, DB_ERROR, DB_ERROR_NEWER);
	g_assert_nonnull(strstr(error->message, place->path));
}

static void test_not_a_database(Place *place, gconstpointer data G_GNUC_UNUSED)
{
	g_autoptr(GError) error = NULL;
	g_autofree char *nowhere = g_build_filename(place->dir, "no", "such", "folder", NULL);

	g_assert_true(g_file_set_contents(place->path, "this is no database, and it is long enough to show it", -1, NULL));
	g_assert_null(db_open(place->path, &error));
	g_assert_error(error, DB_ERROR, DB_ERROR_CORRUPT);
	g_clear_error(&error);
	g_assert_null(db_open(nowhere, &error));
	g_assert_error(error, DB_ERROR, DB_ERROR_FAILED);
}

static void test_transactions(Place *place, gconstpointer data G_GNUC_UNUSED)
{
	g_autoptr(Db) db = db_open(place->path, NULL);
	g_autoptr(GError) error = NULL;
	DbTransaction *transaction;
	DbStmt *insert;

	transaction = db_begin(db, "first", &error);
	insert = db_prepare(db, "INSERT INTO job_count VALUES (?1, ?2)", &error);
	db_bind_text(insert, 1, "a");
	db_bind_int(insert, 2, 1);
	g_assert_true(db_run(insert, &error));
	db_rollback(transaction);
	g_assert_cmpint(one_int(db, "SELECT count(*) FROM job_count"), ==, 0);

	transaction = db_begin(db, "second", &error);
	g_assert_true(db_run(insert, &error));
	/* the same key: the constraint's name and the transaction's are in the message */
	g_assert_false(db_run(insert, &error));
	g_assert_error(error, DB_ERROR, DB_ERROR_CONFLICT);
	g_assert_nonnull(strstr(error->message, "second"));
	g_clear_error(&error);
	g_assert_true(db_commit(transaction, &error));
	g_assert_cmpint(one_int(db, "SELECT count(*) FROM job_count"), ==, 1);

	/* a bind that cannot be is told by the next step */
	db_bind_int(insert, 7, 1);
	g_assert_false(db_run(insert, &error));
	g_assert_error(error, DB_ERROR, DB_ERROR_FAILED);
	db_stmt_free(insert);
}

/* A statement that is in use is not disturbed by a second use of the same SQL. */
static void test_same_statement_twice(Place *place, gconstpointer data G_GNUC_UNUSED)
{
	static const char sql[] = "SELECT 1 UNION ALL SELECT 2";
	g_autoptr(Db) db = db_open(place->path, NULL);
	g_autoptr(DbStmt) outer = db_prepare(db, sql, NULL);
	gboolean row;

	g_assert_true(db_step(outer, &row, NULL) && row);
	g_assert_cmpint(one_int(db, sql), ==, 1);
	g_assert_true(db_step(outer, &row, NULL) && row);
	g_assert_cmpint(db_int(outer, 0), ==, 2);
}

static void test_unfinished_is_found(Place *place, gconstpointer data G_GNUC_UNUSED)
{
	if (g_test_subprocess()) {
		Db *db = db_open(place->path, NULL);

		db_prepare(db, "SELECT 4711", NULL);
		db_close(db);
		return;
	}
	g_test_trap_subprocess(NULL, 0, 0);
	g_test_trap_assert_failed();
	g_test_trap_assert_stderr("*SELECT 4711*");
}

/* A disk that is full, by a limit on the size of files. */
static void test_full(Place *place, gconstpointer data G_GNUC_UNUSED)
{
	g_autoptr(Db) db = db_open(place->path, NULL);
	g_autoptr(GError) error = NULL;
	g_autoptr(DbStmt) limit = db_prepare(db, "PRAGMA max_page_count = 60", NULL);
	DbTransaction *transaction;
	DbStmt *insert;
	gboolean row, good = TRUE;

	g_assert_true(db_step(limit, &row, NULL));
	transaction = db_begin(db, "fill", &error);
	insert = db_prepare(db, "INSERT INTO job_count VALUES (hex(randomblob(3000)), 1)", &error);
	for (int i = 0; i < 1000 && good; i++)
		good = db_run(insert, &error);
	g_assert_false(good);
	g_assert_error(error, DB_ERROR, DB_ERROR_FULL);
	db_stmt_free(insert);
	db_rollback(transaction);
	g_assert_cmpint(one_int(db, "SELECT count(*) FROM job_count"), ==, 0);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
#define ADD(name) g_test_add("/db/" #name, Place, NULL, set_up, test_##name, tear_down)
	ADD(open);
	ADD(every_table_is_strict);
	ADD(newer);
	ADD(not_a_database);
	ADD(transactions);
	ADD(same_statement_twice);
	ADD(unfinished_is_found);
	ADD(full);
	return g_test_run();
}
