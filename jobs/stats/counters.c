/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "jobs/stats/counters.h"

#include <math.h>

#include "jobs/stats/multiple.h"
#include "jobs/stats/permutation.h"
#include "jobs/stats/trend.h"
#include "jobs/stats/verdict.h"

typedef struct {
	const char *benchmark, *params, *counter;
	GArray *values; /* double, a boot each; boots after the last that had it are missing, and 0 */
	StatsTrend fit;
	double p, p_bh;
} Row;

struct StatsCounters {
	GStringChunk *text;
	GHashTable *rows; /* "benchmark params counter" -> Row */
	GPtrArray *order; /* of Row, as they came */
	GArray *arms;     /* SampleArm, a boot each */
	GArray *starts;   /* gint64 */
};

static void row_free(gpointer data)
{
	Row *row = data;

	g_array_unref(row->values);
	g_free(row);
}

StatsCounters *stats_counters_new(void)
{
	StatsCounters *counters = g_new0(StatsCounters, 1);

	counters->text = g_string_chunk_new(4096);
	counters->rows = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, row_free);
	counters->order = g_ptr_array_new();
	counters->arms = g_array_new(FALSE, FALSE, sizeof(SampleArm));
	counters->starts = g_array_new(FALSE, FALSE, sizeof(gint64));
	return counters;
}

void stats_counters_free(StatsCounters *counters)
{
	if (!counters)
		return;
	g_ptr_array_unref(counters->order);
	g_hash_table_unref(counters->rows);
	g_string_chunk_free(counters->text);
	g_array_unref(counters->arms);
	g_array_unref(counters->starts);
	g_free(counters);
}

void stats_counters_add_boot(StatsCounters *counters, SampleArm arm, gint64 start_ns)
{
	g_array_append_val(counters->arms, arm);
	g_array_append_val(counters->starts, start_ns);
}

guint stats_counters_boots(const StatsCounters *counters)
{
	return counters->arms->len;
}

void stats_counters_add(StatsCounters *counters, const char *benchmark, const char *params, const char *counter, gint64 growth)
{
	g_autofree char *key = g_strdup_printf("%s %s %s", benchmark, params, counter);
	Row *row = g_hash_table_lookup(counters->rows, key);

	g_assert(counters->arms->len > 0);
	if (!row) {
		row = g_new0(Row, 1);
		row->benchmark = g_string_chunk_insert_const(counters->text, benchmark);
		row->params = g_string_chunk_insert_const(counters->text, params);
		row->counter = g_string_chunk_insert_const(counters->text, counter);
		row->values = g_array_new(FALSE, TRUE, sizeof(double));
		g_hash_table_insert(counters->rows, g_steal_pointer(&key), row);
		g_ptr_array_add(counters->order, row);
	}
	if (row->values->len < counters->arms->len)
		g_array_set_size(row->values, counters->arms->len);
	g_array_index(row->values, double, counters->arms->len - 1) += (double)growth;
}

static guint count_boots(const StatsCounters *counters, SampleArm arm)
{
	guint count = 0;

	for (guint i = 0; i < counters->arms->len; i++)
		count += g_array_index(counters->arms, SampleArm, i) == arm;
	return count;
}

static double permutation_p(const StatsCounters *counters, const Row *row)
{
	g_autofree double *values = g_new(double, counters->arms->len);
	gsize base = 0, end = counters->arms->len;

	for (guint i = 0; i < counters->arms->len; i++) {
		double value = g_array_index(row->values, double, i);

		if (g_array_index(counters->arms, SampleArm, i) == SAMPLE_ARM_BASE)
			values[base++] = value;
		else
			values[--end] = value;
	}
	return stats_permutation_test(values, base, values + base, counters->arms->len - base, 1).p;
}

/* FALSE: the same in every boot, which is no test. */
static gboolean test_row(const StatsCounters *counters, Row *row)
{
	guint boots = counters->arms->len;

	g_array_set_size(row->values, boots);
	row->fit = stats_trend_fit((const double *)(gpointer)row->values->data, (const SampleArm *)(gpointer)counters->arms->data,
				   (const gint64 *)(gpointer)counters->starts->data, boots);
	if (row->fit.all_equal)
		return FALSE;
	row->p = row->fit.zero_residual || isnan(row->fit.p) ? permutation_p(counters, row) : row->fit.p;
	return TRUE;
}

static gboolean is_exact(const Row *row)
{
	return row->fit.zero_residual && row->fit.beta != 0;
}

static int by_certainty(gconstpointer a, gconstpointer b)
{
	const Row *left = *(Row *const *)a, *right = *(Row *const *)b;
	double other = fabs(right->fit.beta), one = fabs(left->fit.beta);

	if (left->p_bh != right->p_bh)
		return left->p_bh < right->p_bh ? -1 : 1;
	return (one < other) - (one > other);
}

static double mean(const StatsCounters *counters, const Row *row, SampleArm arm)
{
	double sum = 0;

	for (guint i = 0; i < counters->arms->len; i++)
		if (g_array_index(counters->arms, SampleArm, i) == arm)
			sum += g_array_index(row->values, double, i);
	return sum / count_boots(counters, arm);
}

static void set_number(JsonObject *object, const char *name, double value)
{
	if (isfinite(value))
		json_object_set_double_member(object, name, value);
	else
		json_object_set_null_member(object, name);
}

static JsonObject *row_json(const StatsCounters *counters, const Row *row, double interval_alpha)
{
	JsonObject *object = json_object_new();
	double half = is_exact(row) ? NAN : stats_trend_half_width(&row->fit, interval_alpha);

	json_object_set_string_member(object, "benchmark", row->benchmark);
	json_object_set_string_member(object, "params", row->params);
	json_object_set_string_member(object, "counter", row->counter);
	set_number(object, "base", mean(counters, row, SAMPLE_ARM_BASE));
	set_number(object, "patched", mean(counters, row, SAMPLE_ARM_PATCHED));
	set_number(object, "difference", row->fit.beta);
	set_number(object, "low", row->fit.beta - half);
	set_number(object, "high", row->fit.beta + half);
	set_number(object, "p", row->p);
	set_number(object, "p_bh", row->p_bh);
	json_object_set_boolean_member(object, "exact", is_exact(row));
	return object;
}

static GPtrArray *test_rows(const StatsCounters *counters)
{
	GPtrArray *tested = g_ptr_array_new();

	if (count_boots(counters, SAMPLE_ARM_BASE) < STATS_MIN_BOOTS || count_boots(counters, SAMPLE_ARM_PATCHED) < STATS_MIN_BOOTS)
		return tested;
	for (guint i = 0; i < counters->order->len; i++)
		if (test_row(counters, g_ptr_array_index(counters->order, i)))
			g_ptr_array_add(tested, g_ptr_array_index(counters->order, i));
	return tested;
}

/* Adjusts p for the number of rows; the error rate of their intervals. */
static double adjust(const GPtrArray *tested, double alpha)
{
	g_autofree double *p = g_new(double, MAX(tested->len, 1)), *adjusted = g_new(double, MAX(tested->len, 1));
	double interval_alpha;

	for (guint i = 0; i < tested->len; i++)
		p[i] = ((Row *)g_ptr_array_index(tested, i))->p;
	interval_alpha = stats_benjamini_hochberg(p, tested->len, alpha, adjusted);
	for (guint i = 0; i < tested->len; i++)
		((Row *)g_ptr_array_index(tested, i))->p_bh = adjusted[i];
	return interval_alpha;
}

JsonObject *stats_counters_analyse(const StatsCounters *counters, double alpha)
{
	g_autoptr(GPtrArray) tested = test_rows(counters);
	double interval_alpha = adjust(tested, alpha);
	JsonObject *object = json_object_new(), *boots = json_object_new();
	JsonArray *rows = json_array_new();
	guint selected = 0;

	g_ptr_array_sort(tested, by_certainty);
	for (guint i = 0; i < tested->len; i++) {
		const Row *row = g_ptr_array_index(tested, i);

		selected += row->p_bh <= alpha;
		if ((row->p_bh <= alpha || is_exact(row)) && json_array_get_length(rows) < STATS_COUNTERS_TOLD_MAX)
			json_array_add_object_element(rows, row_json(counters, row, interval_alpha));
	}
	json_object_set_int_member(boots, "base", count_boots(counters, SAMPLE_ARM_BASE));
	json_object_set_int_member(boots, "patched", count_boots(counters, SAMPLE_ARM_PATCHED));
	json_object_set_object_member(object, "boots", boots);
	json_object_set_double_member(object, "alpha", alpha);
	json_object_set_int_member(object, "tested", tested->len);
	json_object_set_int_member(object, "selected", selected);
	json_object_set_array_member(object, "rows", rows);
	return object;
}
