/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <glib/gstdio.h>
#include <string.h>

#include "daemon/ingest.h"

typedef struct {
	char *dir, *database;
	Db *db;
} Place;

static char *in_dir(const Place *place, const char *name)
{
	return g_build_filename(place->dir, name, NULL);
}

static void set_up(Place *place, gconstpointer data G_GNUC_UNUSED)
{
	g_autoptr(JobSpec) spec = job_spec_new();
	StoreSubmission submission = { .spec = spec, .submitter = "token 1" };
	gboolean again;
	gint64 id;

	place->dir = g_dir_make_tmp("regrlab-ingest-XXXXXX", NULL);
	place->database = in_dir(place, "regrlab.db");
	place->db = db_open(place->database, NULL);
	g_assert_true(job_spec_set(spec, "benchmarks", "aging", NULL));
	g_assert_true(store_job_add(place->db, &submission, 1, &id, &again, NULL));
	g_assert_true(store_job_set_state(place->db, id, JOB_MEASURING, "local", 2, NULL));
}

static void tear_down(Place *place, gconstpointer data G_GNUC_UNUSED)
{
	static const char *const names[] = { "events.jsonl", "samples.jsonl", "regrlab.db", "regrlab.db-wal", "regrlab.db-shm" };

	db_close(place->db);
	for (gsize i = 0; i < G_N_ELEMENTS(names); i++) {
		g_autofree char *path = in_dir(place, names[i]);

		g_unlink(path);
	}
	g_rmdir(place->dir);
	g_free(place->database);
	g_free(place->dir);
}

static void append(const Place *place, const char *name, const char *text)
{
	g_autofree char *path = in_dir(place, name);
	g_autofree char *before = NULL, *all = NULL;

	g_file_get_contents(path, &before, NULL, NULL);
	all = g_strconcat(before ? before : "", text, NULL);
	g_assert_true(g_file_set_contents(path, all, -1, NULL));
}

#define EVENT(seq, type, members) "{\"seq\":" #seq ",\"time_ns\":1,\"type\":\"" type "\"" members "}\n"
#define BOOT(seq, boot, samples) EVENT(seq, "boot", ",\"boot\":" #boot ",\"pair\":0,\"arm\":\"base\",\"host\":\"local\"," \
	"\"clock\":\"icount\",\"valid\":true,\"reason\":\"\",\"detail\":\"\",\"start_ns\":5,\"end_ns\":9," \
	"\"first_sample_ns\":6,\"samples\":" #samples ",\"hello\":{\"kernel\":\"6.12\"}")
#define RESULT "{\"method\":\"m\",\"alpha\":0.5,\"min_effect_pct\":1.0,\"seed\":1,\"summary\":\"s\",\"comparisons\":[]," \
	"\"failures\":{\"verdict\":\"INSUFFICIENT\",\"reason\":\"r\"}}"
#define SAMPLE(boot, pass, arm) "{\"job\":1,\"arm\":\"" arm "\",\"boot\":" #boot ",\"pair\":0,\"host\":\"local\"," \
	"\"clock\":\"icount\",\"benchmark\":\"aging\",\"params\":\"nproc=1;lru=mglru\",\"run\":0,\"pass\":" #pass "," \
	"\"metric\":\"time\",\"unit\":\"ms\",\"better\":\"lower\",\"value\":1.5,\"boot_start_ns\":5,\"valid\":true,\"reason\":\"\"}\n"

static IngestOutcome take(const Place *place)
{
	g_autoptr(GError) error = NULL;
	IngestOutcome outcome;

	g_assert_true(ingest_job(place->db, 1, place->dir, 77, &outcome, &error));
	g_assert_no_error(error);
	return outcome;
}

static void refuse(const Place *place, const char *words)
{
	g_autoptr(GError) error = NULL;
	IngestOutcome outcome;

	g_assert_false(ingest_job(place->db, 1, place->dir, 77, &outcome, &error));
	if (!strstr(error->message, words))
		g_error("'%s' does not say '%s'", error->message, words);
}

static StoreJob *job(const Place *place)
{
	StoreJob *found = NULL;

	g_assert_true(store_job_get(place->db, 1, &found, NULL));
	return found;
}

static void test_nothing(Place *place, gconstpointer data G_GNUC_UNUSED)
{
	g_assert_cmpint(take(place).events, ==, 0);
}

static void test_twice(Place *place, gconstpointer data G_GNUC_UNUSED)
{
	g_autoptr(StoreJob) once = NULL, twice = NULL;
	IngestOutcome outcome;

	append(place, "samples.jsonl", SAMPLE(0, 0, "base") SAMPLE(0, 1, "base"));
	append(place, "events.jsonl", EVENT(1, "progress", ",\"step\":\"x\"") EVENT(2, "of-tomorrow", "") BOOT(3, 0, 2));
	outcome = take(place);
	g_assert_cmpint(outcome.events, ==, 3);
	g_assert_true(outcome.moved && !outcome.ended);
	once = job(place);
	g_assert_cmpint(once->boots_valid[0], ==, 1);
	g_assert_cmpint(once->last_seq, ==, 3);
	g_assert_cmpint(take(place).events, ==, 0);
	twice = job(place);
	g_assert_cmpint(twice->boots_valid[0], ==, 1);

	/* a line that is being written is left alone */
	append(place, "events.jsonl", "{\"seq\":4,\"time_ns\":1,");
	g_assert_cmpint(take(place).events, ==, 0);
	append(place, "events.jsonl", "\"type\":\"progress\"}\n");
	g_assert_cmpint(take(place).events, ==, 1);
}

static void test_end(Place *place, gconstpointer data G_GNUC_UNUSED)
{
	g_autoptr(StoreJob) built = NULL, done = NULL;
	g_autofree char *result = NULL;

	append(place, "events.jsonl", EVENT(1, "arm", ",\"arm\":\"patched\",\"commit\":\"c\"")
	       EVENT(2, "end", ",\"state\":\"built\",\"reason\":\"\",\"message\":\"built\",\"arm\":\"\",\"detail\":{}"));
	g_assert_true(take(place).ended);
	built = job(place);
	g_assert_cmpint(built->state, ==, JOB_WAITING_FOR_HOST);
	g_assert_cmpstr(built->message, ==, "");
	g_assert_nonnull(built->arms[1]);
	append(place, "events.jsonl", EVENT(3, "result", ",\"result\":" RESULT)
	       EVENT(4, "end", ",\"state\":\"boot-failed\",\"reason\":\"panic\",\"message\":\"m\",\"arm\":\"base\",\"detail\":{\"kind\":\"panic\"}"));
	g_assert_true(take(place).ended);
	done = job(place);
	/* a job that has a result stays done: what failed was added to it */
	g_assert_cmpint(done->state, ==, JOB_DONE);
	g_assert_cmpstr(done->reason, ==, "panic");
	g_assert_cmpstr(done->failed_arm, ==, "base");
	g_assert_cmpint(done->finished_ns, ==, 77);
	g_assert_cmpstr(json_object_get_string_member(done->detail, "kind"), ==, "panic");
	g_assert_true(store_result(place->db, 1, &result, NULL));
	g_assert_cmpstr(result, ==, RESULT);
}

static void test_lies(Place *place, gconstpointer data G_GNUC_UNUSED)
{
	static const struct {
		const char *events, *samples, *words;
	} rows[] = {
		{ "nonsense\n", "", "events.jsonl at byte 0" },
		{ EVENT(2, "progress", ""), "", "where 1 was due" },
		{ EVENT(1, "end", ",\"state\":\"queued\""), "", "no state that a stage ends in" },
		{ EVENT(1, "end", ""), "", "no state that a stage ends in" },
		{ EVENT(1, "arm", ",\"arm\":7"), "", "neither base nor patched" },
		{ EVENT(1, "result", ""), "", "result" },
		{ EVENT(1, "boot", ",\"boot\":\"0\""), "", "event 1: boot" },
		{ EVENT(1, "boot", ",\"boot\":-1"), "", "out of range" },
		{ BOOT(1, 0, 99999999), "", "out of range" },
		{ BOOT(1, 0, 1), "", "samples.jsonl" },
		{ BOOT(1, 0, 2), SAMPLE(0, 0, "base"), "ends before" },
		{ BOOT(1, 0, 1), "{}\n", "" },
		{ BOOT(1, 0, 1), SAMPLE(1, 0, "base"), "contradicts" },
		{ BOOT(1, 0, 1), SAMPLE(0, 0, "patched"), "contradicts" },
		{ BOOT(1, 0, 2), SAMPLE(0, 0, "base") SAMPLE(0, 0, "base"), "" },
		{ BOOT(1, 0, 0) BOOT(2, 0, 0), "", "UNIQUE" },
	};

	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_autofree char *events = in_dir(place, "events.jsonl"), *samples = in_dir(place, "samples.jsonl");
		g_autoptr(StoreJob) after = NULL;

		g_unlink(samples);
		g_assert_true(g_file_set_contents(events, rows[i].events, -1, NULL));
		if (*rows[i].samples)
			g_assert_true(g_file_set_contents(samples, rows[i].samples, -1, NULL));
		refuse(place, rows[i].words);
		after = job(place);
		g_assert_cmpint(after->last_seq, ==, 0);
		g_assert_cmpint(after->boots_valid[0], ==, 0);
	}
}

static void test_long_line(Place *place, gconstpointer data G_GNUC_UNUSED)
{
	g_autofree char *fill = g_strnfill(300000, 'x');

	append(place, "events.jsonl", BOOT(1, 0, 1));
	append(place, "samples.jsonl", fill);
	refuse(place, "longer than");
}

static void test_many(Place *place, gconstpointer data G_GNUC_UNUSED)
{
	GString *events = g_string_new(NULL);
	int taken = 0, calls = 0;

	for (int i = 1; i <= 600; i++)
		g_string_append_printf(events, "{\"seq\":%d,\"time_ns\":1,\"type\":\"progress\"}\n", i);
	append(place, "events.jsonl", events->str);
	g_string_free(events, TRUE);
	for (int n; (n = take(place).events); calls++) {
		g_assert_cmpint(n, <=, INGEST_MAX_EVENTS);
		taken += n;
	}
	g_assert_cmpint(taken, ==, 600);
	g_assert_cmpint(calls, ==, 3);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
#define ADD(name) g_test_add("/ingest/" #name, Place, NULL, set_up, test_##name, tear_down)
	ADD(nothing);
	ADD(twice);
	ADD(end);
	ADD(lies);
	ADD(long_line);
	ADD(many);
	return g_test_run();
}
