/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "db/store-replicas.h"

void store_replicas_free(StoreReplicas *replicas)
{
	if (!replicas)
		return;
	g_ptr_array_unref(replicas->jobs);
	g_clear_pointer(&replicas->agreements, g_ptr_array_unref);
	g_free(replicas->summary);
	g_free(replicas);
}

static gboolean add_result(Db *db, gint64 job, GPtrArray *results, GError **error)
{
	g_autofree char *json = NULL;
	g_autoptr(JsonNode) node = NULL;
	StatsResult *result;

	if (!store_result(db, job, &json, error))
		return FALSE;
	if (!json)
		return TRUE;
	node = json_from_string(json, error);
	result = node ? stats_result_from_json(node, error) : NULL;
	if (result)
		g_ptr_array_add(results, result);
	return result != NULL;
}

static gboolean load(Db *db, gint64 first, int count, GPtrArray *jobs, GPtrArray *results, GError **error)
{
	for (gint64 id = first; id < first + count; id++) {
		StoreJob *job;

		if (!store_job_get(db, id, &job, error))
			return FALSE;
		if (!job)
			continue;
		g_ptr_array_add(jobs, job);
		if (!add_result(db, id, results, error))
			return FALSE;
	}
	return TRUE;
}

/* Of each host the last word. */
static void compare(StoreReplicas *replicas, const GPtrArray *results)
{
	g_autofree const StatsResult **latest = g_new0(const StatsResult *, results->len + 1);

	for (guint i = 0; i < results->len; i++)
		latest[i] = stats_result_latest(g_ptr_array_index(results, i));
	replicas->results = results->len;
	replicas->agreements = stats_agreement(latest, results->len > 1 ? results->len : 0);
	replicas->summary = stats_agreement_summary(replicas->agreements, results->len, replicas->jobs->len);
}

gboolean store_replicas(Db *db, const StoreJob *job, StoreReplicas **ret_replicas, GError **error)
{
	g_autoptr(GPtrArray) results = g_ptr_array_new_with_free_func((GDestroyNotify)stats_result_free);
	g_autoptr(StoreReplicas) replicas = NULL;

	*ret_replicas = NULL;
	if (!job->spec->replicate_of)
		return TRUE;
	replicas = g_new0(StoreReplicas, 1);
	replicas->jobs = g_ptr_array_new_with_free_func((GDestroyNotify)store_job_free);
	if (!load(db, job->spec->replicate_of, job->spec->replicate, replicas->jobs, results, error))
		return FALSE;
	compare(replicas, results);
	*ret_replicas = g_steal_pointer(&replicas);
	return TRUE;
}
