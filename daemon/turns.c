/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/turns.h"

#include <string.h>

static int compare_numbers(gint64 a, gint64 b)
{
	return (a > b) - (a < b);
}

static gint64 age_key(const LineJob *job)
{
	return job->created_ns - job->spec->priority * TURN_LEVEL_NS;
}

/* Those of one submitter together, each's in the order in which he wants them. */
static int compare_own(gconstpointer a, gconstpointer b)
{
	const LineJob *one = *(const LineJob *const *)a, *other = *(const LineJob *const *)b;
	int order = strcmp(one->submitter, other->submitter);

	if (!order)
		order = compare_numbers(age_key(one), age_key(other));
	return order ? order : compare_numbers(one->id, other->id);
}

static int compare_due(gconstpointer a, gconstpointer b)
{
	const LineJob *one = *(const LineJob *const *)a, *other = *(const LineJob *const *)b;
	int order = one->over - other->over;

	if (!order)
		order = compare_numbers(one->due_ns, other->due_ns);
	return order ? order : compare_numbers(one->id, other->id);
}

static int compare_times(gconstpointer a, gconstpointer b)
{
	return compare_numbers(*(const gint64 *)a, *(const gint64 *)b);
}

/*
 * The n jobs from first on are one submitter's. The one that goes first has
 * the age of the oldest, and so on: his order is kept, and his turn comes as
 * early as his jobs' ages give him.
 */
static void set_due(GPtrArray *jobs, guint first, guint n, const TurnShare *share)
{
	g_autofree gint64 *created_ns = g_new(gint64, n);

	for (guint k = 0; k < n; k++)
		created_ns[k] = ((const LineJob *)g_ptr_array_index(jobs, first + k))->created_ns;
	qsort(created_ns, n, sizeof(*created_ns), compare_times);
	for (guint k = 0; k < n; k++) {
		LineJob *job = g_ptr_array_index(jobs, first + k);

		job->due_ns = created_ns[k] / TURN_AGEING + share->used_ns + (share->running + (gint64)k) * TURN_JOB_NS +
			      MAX(0, -job->spec->priority) * TURN_LEVEL_NS / TURN_AGEING;
		job->over = share->limit_ns && share->used_ns >= share->limit_ns;
	}
}

void turns_sort(GPtrArray *jobs, GHashTable *shares)
{
	static const TurnShare nothing = { 0 };
	guint n;

	g_ptr_array_sort(jobs, compare_own);
	for (guint first = 0; first < jobs->len; first += n) {
		const char *submitter = ((const LineJob *)g_ptr_array_index(jobs, first))->submitter;
		const TurnShare *share = g_hash_table_lookup(shares, submitter);

		for (n = 1; first + n < jobs->len; n++)
			if (!g_str_equal(((const LineJob *)g_ptr_array_index(jobs, first + n))->submitter, submitter))
				break;
		set_due(jobs, first, n, share ? share : &nothing);
	}
	g_ptr_array_sort(jobs, compare_due);
}
