/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Statements, for db/ alone. A statement is prepared once
 * and kept; freeing it gives it back to its Db for the next use.
 *
 * Parameters count from 1, columns from 0. A failed bind is remembered and
 * reported by the next step.
 */
#pragma once

#include "db/db.h"

typedef struct DbStmt DbStmt;

/* sql is a literal and lives as long as the Db. */
DbStmt *db_prepare(Db *db, const char *sql, GError **error);
void db_stmt_free(DbStmt *stmt);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(DbStmt, db_stmt_free)

void db_bind_int(DbStmt *stmt, int parameter, gint64 value);
void db_bind_double(DbStmt *stmt, int parameter, double value);
void db_bind_text(DbStmt *stmt, int parameter, const char *value);	/* NULL: null */
void db_bind_bytes(DbStmt *stmt, int parameter, GBytes *value);	/* must live until the statement is freed */

/* TRUE with *ret_row TRUE: a row is there; FALSE: the statement is through. */
gboolean db_step(DbStmt *stmt, gboolean *ret_row, GError **error);
/* A record made of the row that is there; NULL: error says why. */
typedef gpointer (*DbRowFunc)(DbStmt *stmt, GError **error);
/* The records of all rows, in an array that owns them; the caller's. *ret_records is set on success alone. */
gboolean db_collect(DbStmt *stmt, DbRowFunc from_row, GDestroyNotify free_record, GPtrArray **ret_records, GError **error);

/* A statement that gives no rows; can be bound and run again afterwards. */
gboolean db_run(DbStmt *stmt, GError **error);

void db_reset(DbStmt *stmt);	/* to the start, for the next set of parameters */

gint64 db_int(DbStmt *stmt, int column);
double db_double(DbStmt *stmt, int column);
const char *db_text(DbStmt *stmt, int column);	/* "" for null; valid until the next step */
gboolean db_is_null(DbStmt *stmt, int column);
GBytes *db_bytes(DbStmt *stmt, int column);	/* a copy, the caller's */

gint64 db_last_id(Db *db);
int db_changes(Db *db);
