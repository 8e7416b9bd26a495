/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Every schema that a release had becomes today's, with all that was in it.
 * tests/unit/data/schema-NNN.sql is a database after migration NNN; who adds a
 * migration adds its dump (tests/unit/data/dump-schema).
 */
#include <glib/gstdio.h>
#include <sqlite3.h>
#include <stdlib.h>

#include "db/store.h"

#define DATA "tests/unit/data"
#define JOBS 7		/* of each dump: one in each state that a job can be in for long */

typedef struct {
	char *dir, *path;
} Place;

static void set_up(Place *place, gconstpointer data G_GNUC_UNUSED)
{
	place->dir = g_dir_make_tmp("regrlab-migrate-XXXXXX", NULL);
	place->path = g_build_filename(place->dir, "regrlab.db", NULL);
}

static void remove_database(const Place *place)
{
	static const char *const names[] = { "regrlab.db", "regrlab.db-wal", "regrlab.db-shm" };

	for (gsize i = 0; i < G_N_ELEMENTS(names); i++) {
		g_autofree char *path = g_build_filename(place->dir, names[i], NULL);

		g_unlink(path);
	}
}

static void tear_down(Place *place, gconstpointer data G_GNUC_UNUSED)
{
	remove_database(place);
	g_rmdir(place->dir);
	g_free(place->dir);
	g_free(place->path);
}

/* The first column of all rows as lines; the caller's. */
static char *ask(const Place *place, const char *sql)
{
	GString *text = g_string_new(NULL);
	sqlite3_stmt *stmt;
	sqlite3 *raw;

	g_assert_cmpint(sqlite3_open(place->path, &raw), ==, SQLITE_OK);
	g_assert_cmpint(sqlite3_prepare_v2(raw, sql, -1, &stmt, NULL), ==, SQLITE_OK);
	while (sqlite3_step(stmt) == SQLITE_ROW)
		g_string_append_printf(text, "%s\n", (const char *)sqlite3_column_text(stmt, 0));
	sqlite3_finalize(stmt);
	sqlite3_close(raw);
	return g_string_free(text, FALSE);
}

/* What a database is made of, without the differences of how it is written. */
static char *schema(const Place *place)
{
	g_autofree char *text = ask(place, "SELECT type || ' ' || name || ' ' || tbl_name || ' ' || coalesce(sql, '') FROM sqlite_master"
					   " WHERE name NOT LIKE 'sqlite_%' ORDER BY type, name");
	g_autoptr(GRegex) spaces = g_regex_new("--[^\n]*|\\s+|\"", 0, 0, NULL);

	return g_regex_replace_literal(spaces, text, -1, 0, "", 0, NULL);
}

static void migrate(const Place *place)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(Db) db = db_open(place->path, &error);

	g_assert_no_error(error);
	g_assert_nonnull(db);
}

static int newest(Place *place, char **ret_schema)
{
	g_autofree char *version = NULL;

	migrate(place);
	version = ask(place, "PRAGMA user_version");
	*ret_schema = schema(place);
	remove_database(place);
	return atoi(version);
}

static void load_dump(const Place *place, int version)
{
	g_autofree char *path = g_strdup_printf(DATA "/schema-%03d.sql", version), *sql = NULL;
	char *words = NULL;
	sqlite3 *raw;

	if (!g_file_get_contents(path, &sql, NULL, NULL))
		g_error("there is no %s: run tests/unit/data/dump-schema", path);
	g_assert_cmpint(sqlite3_open(place->path, &raw), ==, SQLITE_OK);
	g_assert_cmpint(sqlite3_exec(raw, sql, NULL, NULL, &words), ==, SQLITE_OK);
	g_assert_null(words);
	sqlite3_close(raw);
}

static void check_samples(Db *db)
{
	g_autoptr(StoreSamples) samples = NULL;
	g_autoptr(GError) error = NULL;
	const Sample *sample;
	double sum = 0;

	g_assert_true(store_samples_open(db, 1, &samples, &error));
	while ((sample = store_samples_next(samples, &error)))
		sum += sample->value;
	g_assert_no_error(error);
	g_assert_cmpfloat(sum, ==, 132);
}

/* All that was in it is there, by the functions that the daemon uses, and a job can be added. */
static void check_content(const Place *place)
{
	static const JobState states[JOBS] = { JOB_DONE, JOB_APPLY_FAILED, JOB_CANCELLED, JOB_QUEUED, JOB_BUILDING,
					       JOB_WAITING_FOR_HOST, JOB_MEASURING };
	g_autoptr(Db) db = db_open(place->path, NULL);
	g_autoptr(JobSpec) spec = job_spec_new();
	StoreSubmission submission = { .spec = spec, .submitter = "" };
	gint64 counts[JOB_N_STATES], id;
	gboolean again;

	for (int i = 0; i < JOBS; i++) {
		g_autofree char *subject = g_strdup_printf("mm: change %d", i + 1);
		g_autoptr(StoreJob) job = NULL;
		g_autoptr(GBytes) series = NULL;

		g_assert_true(store_job_get(db, i + 1, &job, NULL) && job);
		g_assert_cmpint(job->state, ==, states[i]);
		g_assert_cmpstr(job->spec->subject, ==, subject);
		g_assert_true(store_job_file(db, i + 1, "series.mbox", &series, NULL) && series);
	}
	g_assert_true(store_job_counts(db, counts, NULL));
	g_assert_cmpint(counts[JOB_DONE], ==, 1);
	check_samples(db);
	g_assert_true(job_spec_set(spec, "benchmarks", "aging", NULL));
	g_assert_true(store_job_add(db, &submission, 1, &id, &again, NULL));
	g_assert_cmpint(id, ==, JOBS + 1);
}

static void test_every_schema(Place *place, gconstpointer data G_GNUC_UNUSED)
{
	g_autofree char *want = NULL;
	int last = newest(place, &want);

	g_assert_cmpint(last, >=, 1);
	for (int version = 1; version <= last; version++) {
		g_autofree char *got = NULL, *sound = NULL, *foreign = NULL;

		g_test_message("from schema %d to %d", version, last);
		load_dump(place, version);
		migrate(place);
		got = schema(place);
		g_assert_cmpstr(got, ==, want);
		sound = ask(place, "PRAGMA integrity_check");
		g_assert_cmpstr(sound, ==, "ok\n");
		foreign = ask(place, "PRAGMA foreign_key_check");
		g_assert_cmpstr(foreign, ==, "");
		check_content(place);
		remove_database(place);
	}
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add("/migrate/every-schema", Place, NULL, set_up, test_every_schema, tear_down);
	return g_test_run();
}
