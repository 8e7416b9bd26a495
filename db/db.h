/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The database: open, migrate, transactions. WAL, synchronous=FULL, foreign
 * keys on. A schema newer than this program is an error, an older one is
 * migrated in one transaction a step (db/NNN-*.sql, PRAGMA user_version).
 *
 * One connection, one thread. A transaction has a name, which errors give. Each
 * write of the store is one; begun in another, it is a part of that one: it
 * lasts if the outer one does, and rolled back, it alone is undone.
 */
#pragma once

#include <glib.h>

typedef struct Db Db;

#define DB_ERROR (db_error_quark())
GQuark db_error_quark(void);

typedef enum {
	DB_ERROR_FAILED,	/* what SQLite says is in the message */
	DB_ERROR_FULL,		/* disk full */
	DB_ERROR_READONLY,
	DB_ERROR_CORRUPT,
	DB_ERROR_NEWER,		/* a schema of a later release */
	DB_ERROR_CONFLICT,	/* a constraint says no */
} DbError;

Db *db_open(const char *path, GError **error);
/* Every statement must have been freed; one that was not is an assert that shows its SQL. */
void db_close(Db *db);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Db, db_close)

/* TRUE if a write would go through: begins a transaction that writes, and takes it back. */
gboolean db_writable(Db *db, GError **error);

/* ---- transactions: freed without commit, one is rolled back ---- */

typedef struct DbTransaction DbTransaction;
DbTransaction *db_begin(Db *db, const char *name, GError **error);
gboolean db_commit(DbTransaction *transaction, GError **error);	/* takes it, whatever comes of it */
void db_rollback(DbTransaction *transaction);			/* NULL is fine */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DbTransaction, db_rollback)

gint64 db_size_bytes(Db *db);

/* Calls func with the SQL of each statement used so far; for tests of query plans. */
typedef void (*DbSqlFunc)(const char *sql, gpointer data);
void db_foreach_sql(Db *db, DbSqlFunc func, gpointer data);
