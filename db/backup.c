/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "db/backup.h"

#include <sqlite3.h>
#include <string.h>

#define BUSY_TIMEOUT_MS 10000

typedef sqlite3 Raw;

static void raw_close(Raw *raw)
{
	sqlite3_close_v2(raw);
}

G_DEFINE_AUTOPTR_CLEANUP_FUNC(Raw, raw_close)

static gboolean fail(GError **error, const char *path, const char *words)
{
	g_set_error(error, DB_ERROR, DB_ERROR_FAILED, "%s: %s", path, words);
	return FALSE;
}

static Raw *raw_open(const char *path, int flags, GError **error)
{
	g_autoptr(Raw) raw = NULL;
	int code = sqlite3_open_v2(path, &raw, flags | SQLITE_OPEN_NOMUTEX, NULL);

	if (code != SQLITE_OK) {
		fail(error, path, sqlite3_errstr(code));
		return NULL;
	}
	sqlite3_busy_timeout(raw, BUSY_TIMEOUT_MS);
	return g_steal_pointer(&raw);
}

/* All pages in one step: a backup in pieces begins anew whenever somebody writes in between. */
static gboolean copy(Raw *from, Raw *to, const char *path, GError **error)
{
	sqlite3_backup *backup = sqlite3_backup_init(to, "main", from, "main");
	int code;

	if (!backup)
		return fail(error, path, sqlite3_errmsg(to));
	code = sqlite3_backup_step(backup, -1);
	sqlite3_backup_finish(backup);
	return code == SQLITE_DONE || fail(error, path, sqlite3_errstr(code));
}

static gboolean check(Raw *raw, const char *path, GError **error)
{
	sqlite3_stmt *stmt = NULL;
	g_autofree char *words = NULL;

	if (sqlite3_prepare_v2(raw, "PRAGMA quick_check(1)", -1, &stmt, NULL) == SQLITE_OK && sqlite3_step(stmt) == SQLITE_ROW)
		words = g_strdup((const char *)sqlite3_column_text(stmt, 0));
	sqlite3_finalize(stmt);
	return g_strcmp0(words, "ok") == 0 || fail(error, path, words ? words : sqlite3_errmsg(raw));
}

gboolean db_backup(const char *from, const char *to, GError **error)
{
	g_autoptr(Raw) source = NULL, target = NULL;

	if (g_file_test(to, G_FILE_TEST_EXISTS))
		return fail(error, to, "is there already");
	source = raw_open(from, SQLITE_OPEN_READWRITE, error);	/* a reader of a WAL writes its index */
	target = source ? raw_open(to, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, error) : NULL;
	if (!target || !copy(source, target, to, error))
		return FALSE;
	/* not WAL: one file, which can be copied as it is */
	if (sqlite3_exec(target, "PRAGMA journal_mode = DELETE", NULL, NULL, NULL) != SQLITE_OK)
		return fail(error, to, sqlite3_errmsg(target));
	return check(target, to, error);
}
