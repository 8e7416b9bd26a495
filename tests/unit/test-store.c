/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <glib/gstdio.h>
#include <math.h>
#include <sqlite3.h>
#include <string.h>

#include "db/store.h"
#include "jobs/spec/file.h"

#define NOW G_GINT64_CONSTANT(1790000000123456789)
#define DAY_NS (G_GINT64_CONSTANT(86400) * 1000000000)

typedef struct {
	char *dir, *path;
	Db *db;
} Place;

static void set_up(Place *place, gconstpointer data G_GNUC_UNUSED)
{
	g_autoptr(GError) error = NULL;

	place->dir = g_dir_make_tmp("regrlab-store-XXXXXX", NULL);
	place->path = g_build_filename(place->dir, "regrlab.db", NULL);
	place->db = db_open(place->path, &error);
	g_assert_no_error(error);
}

static void tear_down(Place *place, gconstpointer data G_GNUC_UNUSED)
{
	static const char *const suffixes[] = { "", "-wal", "-shm" };

	db_close(place->db);
	for (gsize i = 0; i < G_N_ELEMENTS(suffixes); i++) {
		g_autofree char *path = g_strconcat(place->path, suffixes[i], NULL);

		g_unlink(path);
	}
	g_rmdir(place->dir);
	g_free(place->path);
	g_free(place->dir);
}

static gint64 add(Db *db, const char *tree, const char *benchmarks, int priority, const char *key, const char *digest,
		  gint64 now_ns)
{
	g_autoptr(JobSpec) spec = job_spec_new();
	g_autoptr(GBytes) series = g_bytes_new_static("From x\0y", 8);
	g_autoptr(GError) error = NULL;
	StoreSubmission submission = { spec, series, NULL, key, digest, "token 1", NULL };
	gboolean again;
	gint64 id = 0;

	g_assert_true(job_spec_set(spec, "tree", tree, NULL) && job_spec_set(spec, "benchmarks", benchmarks, NULL));
	spec->priority = priority;
	if (!store_job_add(db, &submission, now_ns, &id, &again, &error)) {
		g_assert_error(error, DB_ERROR, DB_ERROR_CONFLICT);
		return -1;
	}
	return again ? -id * 100 : id;
}

static JsonObject *parse(const char *text)
{
	JsonObject *object = NULL;

	g_assert_true(json_object_from_data(text, strlen(text), &object, NULL));
	return object;
}

static gint64 add_plain(Db *db)
{
	return add(db, "linux", "aging", 0, NULL, NULL, NOW);
}

static StoreJob *get(Db *db, gint64 id)
{
	g_autoptr(GError) error = NULL;
	StoreJob *job;

	g_assert_true(store_job_get(db, id, &job, &error));
	g_assert_no_error(error);
	return job;
}

static void test_add(Place *place, gconstpointer data G_GNUC_UNUSED)
{
	gint64 id = add_plain(place->db);
	g_autoptr(StoreJob) job = get(place->db, id);
	g_autoptr(GBytes) series = NULL, config = NULL;

	g_assert_cmpint(job->id, ==, 1);
	g_assert_cmpint(job->state, ==, JOB_QUEUED);
	g_assert_cmpint(job->spec->job, ==, id);
	g_assert_cmpuint(job->spec->seed, !=, 0);
	g_assert_cmpint(job->created_ns, ==, NOW);
	g_assert_cmpstr(job->message, ==, "");
	g_assert_null(job->progress);
	g_assert_true(store_job_file(place->db, id, "series.mbox", &series, NULL));
	g_assert_cmpuint(g_bytes_get_size(series), ==, 8);
	g_assert_true(store_job_file(place->db, id, "config", &config, NULL));
	g_assert_null(config);
	g_assert_null(get(place->db, 2));
}

static void test_keys(Place *place, gconstpointer data G_GNUC_UNUSED)
{
	gint64 later = NOW + (STORE_KEY_DAYS + 1) * DAY_NS;

	g_assert_cmpint(add(place->db, "linux", "aging", 0, "k", "d1", NOW), ==, 1);
	g_assert_cmpint(add(place->db, "linux", "aging", 0, "k", "d1", NOW + 1), ==, -100);
	g_assert_cmpint(add(place->db, "linux", "aging", 0, "k", "d2", NOW + 1), ==, -1);
	g_assert_cmpint(add(place->db, "linux", "aging", 0, "other", "d2", NOW + 1), ==, 2);
	/* forgotten after its time */
	g_assert_cmpint(add(place->db, "linux", "aging", 0, "k", "d2", later), ==, 3);
}

static char *list(Db *db, StoreFilter filter)
{
	g_autoptr(GPtrArray) jobs = NULL;
	g_autoptr(GError) error = NULL;
	GString *text = g_string_new(NULL);
	gint64 cursor;

	g_assert_true(store_job_list(db, &filter, &jobs, &cursor, &error));
	g_assert_no_error(error);
	for (guint i = 0; i < jobs->len; i++)
		g_string_append_printf(text, "%" G_GINT64_FORMAT " ", ((StoreJob *)g_ptr_array_index(jobs, i))->id);
	g_string_append_printf(text, "> %" G_GINT64_FORMAT, cursor);
	return g_string_free(text, FALSE);
}

static void check_list(Db *db, StoreFilter filter, const char *expected)
{
	g_autofree char *text = list(db, filter);

	g_assert_cmpstr(text, ==, expected);
}

static void add_some(Db *db)
{
	for (int i = 0; i < 6; i++)
		add(db, i % 2 ? "other" : "linux", i % 3 ? "pwrite,aging" : "aging", i == 4 ? 5 : 0, NULL, NULL, NOW);
	g_assert_true(store_job_finish(db, 2, JOB_BUILD_FAILED, "r", "m", NOW + 1, NULL));
	g_assert_true(store_job_finish(db, 3, JOB_DONE, "", "", NOW, NULL));
	g_assert_true(store_job_set_state(db, 1, JOB_MEASURING, "local", NOW, NULL));
}

static void test_lists(Place *place, gconstpointer data G_GNUC_UNUSED)
{
	add_some(place->db);
	check_list(place->db, (StoreFilter){ .limit = 10 }, "6 5 4 3 2 1 > 0");
	check_list(place->db, (StoreFilter){ .limit = 6 }, "6 5 4 3 2 1 > 0");
	check_list(place->db, (StoreFilter){ .limit = 4 }, "6 5 4 3 > 3");
	check_list(place->db, (StoreFilter){ .limit = 4, .before_id = 3 }, "2 1 > 0");
	check_list(place->db, (StoreFilter){ .limit = 9, .live = TRUE }, "6 5 4 1 > 0");
	check_list(place->db, (StoreFilter){ .limit = 9, .by_state = TRUE, .state = JOB_QUEUED }, "6 5 4 > 0");
	check_list(place->db, (StoreFilter){ .limit = 9, .tree = "other" }, "6 4 2 > 0");
	check_list(place->db, (StoreFilter){ .limit = 9, .benchmark = "pwrite" }, "6 5 3 2 > 0");
	check_list(place->db, (StoreFilter){ .limit = 1, .benchmark = "pwrite", .tree = "linux", .by_state = TRUE,
					     .state = JOB_DONE }, "3 > 0");
	check_list(place->db, (StoreFilter){ .limit = 9, .live = TRUE, .tree = "linux", .benchmark = "pwrite" }, "5 > 0");
	check_list(place->db, (StoreFilter){ .limit = 9, .ended = TRUE }, "3 2 > 0");
	check_list(place->db, (StoreFilter){ .limit = 9, .by_end = TRUE }, "2 3 > 0");
	check_list(place->db, (StoreFilter){ .limit = 9, .by_end = TRUE, .by_state = TRUE, .state = JOB_DONE }, "3 > 0");
	check_list(place->db, (StoreFilter){ .limit = 9, .tree = "' OR 1=1 --" }, "> 0");
}

static void ingest_search(Db *db)
{
	g_autoptr(JsonObject) source = parse("{\"base_commit\": \"abcdef0123456789abcdef0123456789abcdef01\"}");
	g_autoptr(JsonObject) arm = parse("{\"commit\": \"0123456789\"}");
	g_autoptr(JsonObject) result = parse("{\"summary\": \"slower <b>\", \"comparisons\": ["
					     "{\"primary\": true, \"verdict\": \"REGRESSION\"}, {\"primary\": true, \"verdict\": \"EQUIVALENT\"},"
					     "{\"primary\": true, \"verdict\": \"REGRESSION\"}, {\"primary\": false, \"verdict\": \"INVALID\"}]}");
	g_autoptr(JsonObject) more = parse("{\"summary\": \"faster\", \"comparisons\": [{\"primary\": true, \"verdict\": \"IMPROVEMENT\"}]}");
	StorePosition position;
	StoreIngest *ingest = store_ingest_begin(db, 1, &position, NULL);

	g_assert_true(store_ingest_document(ingest, "source", source, NULL) &&
		      store_ingest_document(ingest, "arm-patched", arm, NULL) &&
		      store_ingest_document(ingest, "result", result, NULL) && store_ingest_commit(ingest, &position, NULL));
	ingest = store_ingest_begin(db, 2, &position, NULL);
	g_assert_true(store_ingest_document(ingest, "result", result, NULL) && store_ingest_document(ingest, "more-result", more, NULL) &&
		      store_ingest_document(ingest, "more-result", more, NULL) && store_ingest_commit(ingest, &position, NULL));
}

/* Whatever is asked for beside; the words of a stranger are words, and no language. */
static void test_search(Place *place, gconstpointer data G_GNUC_UNUSED)
{
	static const char *const subjects[] = { "mm/mglru: skip \"the\" flags", "mm: Ãl & co", "mm: other" };
	static const char *const odd[] = { "\"", "* OR subject:", "NEAR(", "tags : ended", "a\"b*", "-", "'; DROP TABLE job; --", "ÿ" };
	g_autoptr(StoreBrief) brief = NULL, none = NULL;

	for (gsize i = 0; i < G_N_ELEMENTS(subjects); i++) {
		g_autoptr(JobSpec) spec = job_spec_new();
		StoreSubmission submission = { .spec = spec, .submitter = "" };
		gboolean again;
		gint64 id;

		g_free(spec->subject);
		spec->subject = g_strdup(subjects[i]);
		g_free(spec->author);
		spec->author = g_strdup(i ? "Bob <bob@example.org>" : "Ann Author <ann@example.org>");
		g_assert_true(job_spec_set(spec, "base", i ? "v6.12" : "my-topic", NULL) &&
			      job_spec_set(spec, "benchmarks", "aging,pwrite", NULL) && job_spec_set(spec, "tree", "linux", NULL));
		g_assert_true(store_job_add(place->db, &submission, NOW, &id, &again, NULL));
	}
	ingest_search(place->db);
	check_list(place->db, (StoreFilter){ .limit = 9, .subject = "mm" }, "3 2 1 > 0");
	check_list(place->db, (StoreFilter){ .limit = 2, .subject = "mm" }, "3 2 > 2");
	check_list(place->db, (StoreFilter){ .limit = 2, .subject = "mm", .before_id = 2 }, "1 > 0");
	check_list(place->db, (StoreFilter){ .limit = 9, .subject = " mgl FLAG " }, "1 > 0");
	check_list(place->db, (StoreFilter){ .limit = 9, .subject = "Ã¶l" }, "2 > 0");
	check_list(place->db, (StoreFilter){ .limit = 9, .author = "ann@example.org" }, "1 > 0");
	check_list(place->db, (StoreFilter){ .limit = 9, .author = "bob", .subject = "other", .live = TRUE }, "3 > 0");
	check_list(place->db, (StoreFilter){ .limit = 9, .author = "bob", .subject = "other", .ended = TRUE }, "> 0");
	check_list(place->db, (StoreFilter){ .limit = 9, .commit = "abcdef0" }, "1 > 0");
	check_list(place->db, (StoreFilter){ .limit = 9, .commit = "01234567" }, "1 > 0");
	check_list(place->db, (StoreFilter){ .limit = 9, .commit = "v6.12" }, "3 2 > 0");
	check_list(place->db, (StoreFilter){ .limit = 9, .commit = "my-topic", .benchmark = "pwrite" }, "1 > 0");
	check_list(place->db, (StoreFilter){ .limit = 9, .verdict = "REGRESSION" }, "1 > 0");
	check_list(place->db, (StoreFilter){ .limit = 9, .verdict = "IMPROVEMENT", .tree = "linux" }, "2 > 0");
	check_list(place->db, (StoreFilter){ .limit = 9, .verdict = "INVALID" }, "> 0");
	check_list(place->db, (StoreFilter){ .limit = 9, .series = "mm: other" }, "3 > 0");
	for (gsize i = 0; i < G_N_ELEMENTS(odd); i++)
		g_free(list(place->db, (StoreFilter){ .limit = 9, .subject = odd[i], .author = odd[i], .commit = odd[i],
						      .tree = odd[i], .benchmark = odd[i], .verdict = odd[i] }));
	g_assert_true(store_brief_get(place->db, 1, &brief, NULL) && store_brief_get(place->db, 99, &none, NULL));
	g_assert_null(none);
	g_assert_cmpstr(brief->summary, ==, "slower <b>");
	g_assert_cmpstr(brief->verdicts, ==, "REGRESSION,EQUIVALENT");
	g_assert_cmpstr(brief->benchmarks, ==, "aging, pwrite");
	g_assert_cmpint(brief->version, ==, 1);
}

static void test_counts(Place *place, gconstpointer data G_GNUC_UNUSED)
{
	gint64 counts[JOB_N_STATES];

	add_some(place->db);
	g_assert_true(store_job_counts(place->db, counts, NULL));
	g_assert_cmpint(counts[JOB_QUEUED], ==, 3);
	g_assert_cmpint(counts[JOB_MEASURING], ==, 1);
	g_assert_cmpint(counts[JOB_DONE], ==, 1);
	g_assert_cmpint(counts[JOB_CANCELLED], ==, 0);
}

static void test_states(Place *place, gconstpointer data G_GNUC_UNUSED)
{
	JobState state;
	g_autoptr(StoreJob) job = NULL;
	g_autoptr(GError) error = NULL;

	for (int i = 0; i < JOB_N_STATES; i++) {
		g_assert_true(job_state_from_name(job_state_name(i), &state));
		g_assert_cmpint(state, ==, i);
	}
	g_assert_false(job_state_from_name("built", &state) || job_state_from_name("", &state));
	add_plain(place->db);
	g_assert_true(store_job_set_state(place->db, 1, JOB_BUILDING, NULL, NOW + 5, NULL));
	g_assert_true(store_job_cancel(place->db, 1, TRUE, NOW, &state, NULL));
	g_assert_cmpint(state, ==, JOB_BUILDING);
	g_assert_true(store_job_finish(place->db, 1, JOB_CANCELLED, "cancelled", "m", NOW + 9, NULL));
	/* what is final stays */
	g_assert_true(store_job_finish(place->db, 1, JOB_DONE, "", "", NOW + 10, NULL));
	g_assert_true(store_job_set_state(place->db, 1, JOB_BUILDING, "x", NOW + 11, NULL));
	job = get(place->db, 1);
	g_assert_cmpint(job->state, ==, JOB_CANCELLED);
	g_assert_true(job->cancel_asked);
	g_assert_cmpint(job->started_ns, ==, NOW + 5);
	g_assert_cmpint(job->finished_ns, ==, NOW + 9);
	add_plain(place->db);
	g_assert_true(store_job_cancel(place->db, 2, FALSE, NOW, &state, NULL));
	g_assert_cmpint(state, ==, JOB_CANCELLED);
	g_assert_false(store_job_cancel(place->db, 3, FALSE, NOW, &state, &error));
	g_assert_error(error, DB_ERROR, DB_ERROR_FAILED);
}

static void ingest_boot(Db *db, gint64 id, int number, int samples)
{
	StorePosition position;
	g_autoptr(GError) error = NULL;
	StoreIngest *ingest = store_ingest_begin(db, id, &position, &error);
	StoreBoot boot = { number, number / 2, (char *)(number % 2 ? "patched" : "base"), (char *)"local", (char *)"icount",
			   TRUE, (char *)"", (char *)"", NOW + number, NOW + number + 50, NOW + number + 1, NULL, NULL };

	g_assert_no_error(error);
	g_assert_true(store_ingest_boot(ingest, &boot, &error));
	for (int i = 0; i < samples; i++) {
		Sample sample = { .job = id, .boot = number, .benchmark = "aging", .params = "nproc=8;lru=mglru",
				  .metric = "time", .unit = "ms", .better = SAMPLE_BETTER_LOWER, .run = i / 3, .pass = i % 3,
				  .value = i == 4 ? NAN : 0.1 + i, .reason = "" };

		g_assert_true(store_ingest_sample(ingest, position.samples++, &sample, &error));
	}
	position.seq++;
	g_assert_true(store_ingest_commit(ingest, &position, &error));
}

static void test_samples(Place *place, gconstpointer data G_GNUC_UNUSED)
{
	g_autoptr(StoreSamples) samples = NULL;
	g_autoptr(StoreJob) job = NULL;
	g_autoptr(GError) error = NULL;
	g_auto(StoreHost) host = { 0 };
	const Sample *sample;
	int count = 0;

	add_plain(place->db);
	for (int boot = 0; boot < 3; boot++)
		ingest_boot(place->db, 1, boot, 700);
	g_assert_true(store_samples_open(place->db, 1, &samples, &error));
	while ((sample = store_samples_next(samples, &error))) {
		int i = count % 700;

		if (count == 900)
			ingest_boot(place->db, 1, 3, 700);	/* later than the reader, and not for it */
		g_assert_cmpint(sample->boot, ==, count / 700);
		g_assert_cmpint(sample->run, ==, i / 3);
		g_assert_cmpint(sample->pass, ==, i % 3);
		g_assert_true(i == 4 ? isnan(sample->value) : sample->value == 0.1 + i);
		g_assert_cmpint(sample->arm, ==, count / 700 % 2 ? SAMPLE_ARM_PATCHED : SAMPLE_ARM_BASE);
		g_assert_cmpint(sample->boot_start_ns, ==, NOW + count / 700);
		g_assert_true(sample_check(sample, &error));
		count++;
	}
	g_assert_no_error(error);
	g_assert_cmpint(count, ==, 2100);
	job = get(place->db, 1);
	g_assert_cmpint(job->boots_valid[0], ==, 2);
	g_assert_cmpint(job->boots_valid[1], ==, 2);
	g_assert_true(store_host(place->db, "local", &host, NULL));
	g_assert_cmpint(host.boots_valid, ==, 4);
	g_assert_cmpint(host.last_boot_ns, ==, NOW + 53);
}

/* How a host is set, and what its noise costs, which is no failure. */
static void test_host_state(Place *place, gconstpointer data G_GNUC_UNUSED)
{
	StorePosition position;
	g_autoptr(StoreJob) job = NULL;
	g_autoptr(GPtrArray) boots = NULL;
	g_auto(StoreHostState) none = { 0 }, state = { 0 };
	g_auto(StoreHost) host = { 0 };
	g_autoptr(JsonObject) object = parse("{\"id\": \"abc\"}"), machine = parse("{\"state\": \"abc\"}");
	StoreBoot boot = { .arm = (char *)"base", .host = (char *)"local", .clock = (char *)"kvm", .reason = (char *)"disturbed",
			   .detail = (char *)"steal", .machine = machine };

	add_plain(place->db);
	g_assert_true(store_host_state(place->db, "local", &none, NULL));
	g_assert_null(none.object);
	StoreIngest *ingest = store_ingest_begin(place->db, 1, &position, NULL);
	g_assert_true(store_ingest_host_state(ingest, "local", object, NOW - 1, NULL));
	g_assert_true(store_ingest_host_state(ingest, "local", object, NOW, NULL));
	g_assert_true(store_ingest_boot(ingest, &boot, NULL));
	g_assert_true(store_ingest_commit(ingest, &position, NULL));
	g_assert_true(store_host_state(place->db, "local", &state, NULL));
	g_assert_cmpstr(json_object_get_string_member(state.object, "id"), ==, "abc");
	g_assert_cmpint(state.seen_ns, ==, NOW);
	g_assert_cmpint(state.boots_disturbed, ==, 1);
	g_assert_true(store_host(place->db, "local", &host, NULL));
	g_assert_cmpint(host.boots_failed, ==, 0);
	job = get(place->db, 1);
	g_assert_cmpint(job->boots_failed[0], ==, 0);
	g_assert_cmpint(job->boots_disturbed[0], ==, 1);
	g_assert_cmpstr(json_object_get_string_member(job->host_state, "id"), ==, "abc");
	g_assert_true(store_boots(place->db, 1, &boots, NULL));
	const StoreBoot *read = g_ptr_array_index(boots, 0);
	g_assert_cmpstr(json_object_get_string_member(read->machine, "state"), ==, "abc");
}

static void test_ingest_all_or_nothing(Place *place, gconstpointer data G_GNUC_UNUSED)
{
	StorePosition position;
	g_autoptr(GPtrArray) boots = NULL;
	g_autoptr(GError) error = NULL;
	StoreIngest *ingest;
	StoreBoot boot = { 0, 0, (char *)"base", (char *)"h", (char *)"tcg", FALSE, (char *)"panic", (char *)"", 1, 2, 0, NULL, NULL };
	Sample orphan = { .boot = 9, .benchmark = "b", .params = "", .metric = "m", .unit = "", .reason = "" };

	add_plain(place->db);
	ingest = store_ingest_begin(place->db, 1, &position, NULL);
	g_assert_true(store_ingest_boot(ingest, &boot, NULL));
	g_assert_false(store_ingest_boot(ingest, &boot, &error));
	g_assert_error(error, DB_ERROR, DB_ERROR_CONFLICT);
	g_clear_error(&error);
	/* a sample of a boot that is not there */
	g_assert_false(store_ingest_sample(ingest, 0, &orphan, &error));
	g_assert_error(error, DB_ERROR, DB_ERROR_CONFLICT);
	store_ingest_rollback(ingest);
	g_assert_true(store_boots(place->db, 1, &boots, NULL));
	g_assert_cmpuint(boots->len, ==, 0);
}

/* SQLite calls every look into a virtual table a scan: of words (M), of a rowid (=), of the elements of one JSON text. */
static gboolean is_search(const char *step)
{
	const char *index = strstr(step, " VIRTUAL TABLE INDEX ");

	return index && (strstr(index, ":M") || strstr(index, ":=") || g_str_has_prefix(step, "SCAN json_each "));
}

static void check_plan(const char *sql, gpointer data)
{
	sqlite3 *raw = data;
	g_autofree char *explain = g_strconcat("EXPLAIN QUERY PLAN ", sql, NULL);
	sqlite3_stmt *stmt;

	if (g_str_has_prefix(sql, "PRAGMA") || strstr(sql, "pragma_"))
		return;
	g_assert_cmpint(sqlite3_prepare_v2(raw, explain, -1, &stmt, NULL), ==, SQLITE_OK);
	while (sqlite3_step(stmt) == SQLITE_ROW) {
		const char *step = (const char *)sqlite3_column_text(stmt, 3);

		if (g_str_has_prefix(step, "SCAN") && !g_str_has_prefix(step, "SCAN CONSTANT") && !is_search(step))
			g_error("scans a whole table: %s\n%s", step, sql);
		/* the verdicts of one result */
		if (strstr(step, "TEMP B-TREE") && !strstr(step, "FOR group_concat(DISTINCT)"))
			g_error("sorts: %s\n%s", step, sql);
	}
	sqlite3_finalize(stmt);
}

static void ignore_turn(StoreTurn *turn, gpointer data G_GNUC_UNUSED)
{
	g_assert_cmpint(turn->id, >, 0);
}

static void use_queue(Db *db)
{
	JobState state;

	g_assert_true(store_turns(db, 0, ignore_turn, NULL, NULL) && store_turn(db, 1, NULL, ignore_turn, NULL, NULL));
	g_assert_true(store_job_set_state(db, 1, JOB_BUILDING, NULL, NOW, NULL));
	g_assert_true(store_job_cancel(db, 1, FALSE, NOW, &state, NULL));
}

/* Every statement that the functions above use finds its rows by an index. */
static void test_no_statement_scans(Place *place, gconstpointer data)
{
	static const StoreFilter filters[] = {
		{ .limit = 5 }, { .limit = 5, .live = TRUE }, { .limit = 5, .by_state = TRUE, .state = JOB_DONE },
		{ .limit = 5, .tree = "linux" }, { .limit = 5, .benchmark = "aging" }, { .limit = 5, .by_end = TRUE },
		{ .limit = 5, .subject = "mm", .author = "ann", .commit = "abc", .verdict = "REGRESSION", .series = "x", .ended = TRUE },
	};
	g_autofree char *result = NULL;
	g_autoptr(GBytes) file = NULL;
	gint64 counts[JOB_N_STATES];
	g_auto(StoreHostState) state = { 0 };
	sqlite3 *raw;

	test_samples(place, data);
	g_assert_true(store_host_state(place->db, "local", &state, NULL));
	use_queue(place->db);
	g_assert_cmpint(add(place->db, "linux", "aging", 0, "k", "d", NOW), >, 0);
	for (gsize i = 0; i < G_N_ELEMENTS(filters); i++) {
		g_autoptr(GPtrArray) briefs = NULL;
		gint64 cursor;

		g_free(list(place->db, filters[i]));
		g_assert_true(store_brief_list(place->db, &filters[i], &briefs, &cursor, NULL));
	}
	g_assert_true(store_job_counts(place->db, counts, NULL) && store_result(place->db, 1, &result, NULL) &&
		      store_job_file(place->db, 1, "config", &file, NULL));
	g_assert_cmpint(sqlite3_open(place->path, &raw), ==, SQLITE_OK);
	db_foreach_sql(place->db, check_plan, raw);
	sqlite3_close(raw);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
#define ADD(name) g_test_add("/store/" #name, Place, NULL, set_up, test_##name, tear_down)
	ADD(add);
	ADD(keys);
	ADD(lists);
	ADD(search);
	ADD(counts);
	ADD(states);
	ADD(samples);
	ADD(host_state);
	ADD(ingest_all_or_nothing);
	ADD(no_statement_scans);
	return g_test_run();
}
