/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <math.h>

#include "db/store-records.h"

#define PAGE_SAMPLES	1000

typedef struct {
	char *benchmark, *params, *metric, *unit;
	SampleBetter better;
} Measure;

typedef struct {
	gint64 measure;
	int boot, run, pass;
	double value;
} Row;

struct StoreSamples {
	Db *db;
	gint64 job;
	GPtrArray *boots;	/* of StoreBoot */
	GHashTable *by_number;	/* of a boot -> StoreBoot in boots */
	GHashTable *measures;	/* id -> Measure */
	GArray *page;		/* of Row */
	guint next;		/* in page */
	gint64 number;		/* of the sample after the page */
	Sample sample;		/* the one given out */
};

static void measure_free(gpointer data)
{
	Measure *measure = data;

	g_free(measure->benchmark);
	g_free(measure->params);
	g_free(measure->metric);
	g_free(measure->unit);
	g_free(measure);
}

gboolean store_samples_open(Db *db, gint64 job, StoreSamples **ret_samples, GError **error)
{
	g_autoptr(StoreSamples) samples = g_new0(StoreSamples, 1);

	samples->db = db;
	samples->job = job;
	samples->by_number = g_hash_table_new(NULL, NULL);
	samples->measures = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, measure_free);
	samples->page = g_array_new(FALSE, FALSE, sizeof(Row));
	if (!store_boots(db, job, &samples->boots, error))
		return FALSE;
	for (guint i = 0; i < samples->boots->len; i++) {
		StoreBoot *boot = g_ptr_array_index(samples->boots, i);

		g_hash_table_insert(samples->by_number, GINT_TO_POINTER(boot->boot), boot);
	}
	*ret_samples = g_steal_pointer(&samples);
	return TRUE;
}

void store_samples_free(StoreSamples *samples)
{
	if (!samples)
		return;
	g_clear_pointer(&samples->boots, g_ptr_array_unref);
	g_hash_table_destroy(samples->by_number);
	g_hash_table_destroy(samples->measures);
	g_array_free(samples->page, TRUE);
	g_free(samples);
}

static gboolean load_page(StoreSamples *samples, GError **error)
{
	g_autoptr(DbStmt) stmt = db_prepare(
		samples->db, "SELECT number, boot, measure, run, pass, value FROM sample"
			     " WHERE job = ?1 AND number >= ?2 ORDER BY number LIMIT ?3", error);
	gboolean row;

	if (!stmt)
		return FALSE;
	g_array_set_size(samples->page, 0);
	samples->next = 0;
	db_bind_int(stmt, 1, samples->job);
	db_bind_int(stmt, 2, samples->number);
	db_bind_int(stmt, 3, PAGE_SAMPLES);
	while (db_step(stmt, &row, error)) {
		Row sample;

		if (!row)
			return TRUE;
		samples->number = db_int(stmt, 0) + 1;
		sample.boot = (int)db_int(stmt, 1);
		sample.measure = db_int(stmt, 2);
		sample.run = (int)db_int(stmt, 3);
		sample.pass = (int)db_int(stmt, 4);
		sample.value = db_is_null(stmt, 5) ? NAN : db_double(stmt, 5);
		g_array_append_val(samples->page, sample);
	}
	return FALSE;
}

static const Measure *find_measure(StoreSamples *samples, gint64 id, GError **error)
{
	Measure *measure = g_hash_table_lookup(samples->measures, &id);
	g_autoptr(DbStmt) stmt = NULL;
	gboolean row;

	if (measure)
		return measure;
	stmt = db_prepare(samples->db, "SELECT benchmark, params, metric, unit, better FROM measure WHERE id = ?1", error);
	if (!stmt)
		return NULL;
	db_bind_int(stmt, 1, id);
	if (!db_step(stmt, &row, error))
		return NULL;
	measure = g_new0(Measure, 1);
	measure->benchmark = g_strdup(db_text(stmt, 0));
	measure->params = g_strdup(db_text(stmt, 1));
	measure->metric = g_strdup(db_text(stmt, 2));
	measure->unit = g_strdup(db_text(stmt, 3));
	g_hash_table_insert(samples->measures, g_memdup2(&id, sizeof(id)), measure);
	if (!row || !sample_better_from_string(db_text(stmt, 4), &measure->better)) {
		g_set_error(error, DB_ERROR, DB_ERROR_CORRUPT, "what sample %" G_GINT64_FORMAT
			    " of job %" G_GINT64_FORMAT " measures is not known", samples->number, samples->job);
		return NULL;
	}
	return measure;
}

/* Boots taken in after the reader was opened: their samples come later than what it was opened for. */
static gboolean is_later(StoreSamples *samples, const Row *row)
{
	return !g_hash_table_contains(samples->by_number, GINT_TO_POINTER(row->boot));
}

static gboolean fill_sample(StoreSamples *samples, const Row *row, GError **error)
{
	const StoreBoot *boot = g_hash_table_lookup(samples->by_number, GINT_TO_POINTER(row->boot));
	const Measure *measure = find_measure(samples, row->measure, error);
	SampleArm arm;

	if (!measure)
		return FALSE;
	if (!sample_arm_from_string(boot->arm, &arm)) {
		g_set_error(error, DB_ERROR, DB_ERROR_CORRUPT, "boot %d is of no arm that there is: %s", boot->boot, boot->arm);
		return FALSE;
	}
	samples->sample = (Sample){
		.job = samples->job,
		.arm = arm,
		.boot = boot->boot,
		.pair = boot->pair,
		.host = boot->host,
		.clock = boot->clock,
		.benchmark = measure->benchmark,
		.params = measure->params,
		.run = row->run,
		.pass = row->pass,
		.metric = measure->metric,
		.unit = measure->unit,
		.better = measure->better,
		.value = row->value,
		.boot_start_ns = boot->start_ns,
		.valid = boot->valid,
		.reason = boot->reason,
	};
	return TRUE;
}

const Sample *store_samples_next(StoreSamples *samples, GError **error)
{
	const Row *row;

	if (samples->next == samples->page->len && !load_page(samples, error))
		return NULL;
	if (samples->next == samples->page->len)
		return NULL;
	row = &g_array_index(samples->page, Row, samples->next);
	if (is_later(samples, row))
		return NULL;
	samples->next++;
	return fill_sample(samples, row, error) ? &samples->sample : NULL;
}
