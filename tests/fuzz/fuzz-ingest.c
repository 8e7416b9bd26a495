/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A run directory as a hostile or broken stage may leave it: events.jsonl up
 * to the first NUL, samples.jsonl behind it. Taken in twice it is as if once;
 * what the database then has agrees with itself; the next stage's reading of
 * it gives an error or a schedule.
 */
#include <stdint.h>
#include <string.h>

#include "daemon/ingest.h"
#include "jobs/measure-history.h"
#include "jobs/measure-samples.h"
#include "tests/fuzz/scratch.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define ROUNDS 1000	/* of INGEST_MAX_EVENTS */

static Db *open_with_job(void)
{
	g_autoptr(JobSpec) spec = job_spec_new();
	StoreSubmission submission = { .spec = spec, .submitter = "" };
	Db *db = db_open(":memory:", NULL);
	gboolean again;
	gint64 id;

	g_assert_nonnull(db);
	g_assert_true(job_spec_set(spec, "benchmarks", "aging", NULL));
	g_assert_true(store_job_add(db, &submission, 1, &id, &again, NULL) && id == 1);
	g_assert_true(store_job_set_state(db, id, JOB_MEASURING, "local", 2, NULL));
	return db;
}

static gboolean take_all(Db *db)
{
	IngestOutcome outcome = { .events = 1 };
	g_autoptr(GError) error = NULL;

	for (int i = 0; i < ROUNDS && outcome.events; i++)
		if (!ingest_job(db, 1, scratch_folder(), 3, &outcome, &error)) {
			g_assert_true(error && *error->message);
			return FALSE;
		}
	return TRUE;
}

static gsize count_samples(Db *db)
{
	g_autoptr(StoreSamples) samples = NULL;
	g_autoptr(GError) error = NULL;
	gsize count = 0;

	g_assert_true(store_samples_open(db, 1, &samples, &error));
	while (store_samples_next(samples, &error))
		count++;
	g_assert_no_error(error);
	return count;
}

static void check_database(Db *db)
{
	g_autoptr(StoreJob) job = NULL;
	g_autoptr(GPtrArray) boots = NULL;
	g_autoptr(GError) error = NULL;
	int compared = 0;

	g_assert_true(store_job_get(db, 1, &job, &error) && job);
	g_assert_true(store_boots(db, 1, &boots, &error));
	for (guint i = 0; i < boots->len; i++)
		compared += !g_str_equal(((StoreBoot *)g_ptr_array_index(boots, i))->arm, "control");
	g_assert_cmpint(compared, ==, job->boots_valid[0] + job->boots_valid[1] + job->boots_failed[0] + job->boots_failed[1] +
						     job->boots_disturbed[0] + job->boots_disturbed[1]);
}

static void check_stage(void)
{
	g_autoptr(MeasureHistory) history = NULL;
	g_autoptr(GError) error = NULL;
	const char *reason;
	SampleArm arm;
	int pair;

	if (!measure_history_load(scratch_folder(), &history, &error)) {
		g_assert_true(error && *error->message);
		return;
	}
	measure_samples_cut(scratch_folder(), history->samples, NULL);
	if (!schedule_failed(history->boots, 2, &arm, &reason) && history->plan &&
	    schedule_next(history->plan->order, history->plan->max_boots, history->boots, &pair, &arm))
		g_assert_true(pair >= 0 && schedule_left(history->plan->order, history->plan->max_boots, history->boots) > 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data, *middle = size ? memchr(text, 0, size) : NULL;
	gsize events = middle ? (gsize)(middle - text) : size;
	g_autoptr(Db) db = open_with_job();
	gsize samples;
	gboolean good;

	scratch_write("events.jsonl", text, events);
	scratch_write("samples.jsonl", middle ? middle + 1 : "", middle ? size - events - 1 : 0);
	good = take_all(db);
	samples = count_samples(db);
	g_assert_true(take_all(db) == good);
	g_assert_cmpuint(count_samples(db), ==, samples);
	check_database(db);
	check_stage();
	return 0;
}
