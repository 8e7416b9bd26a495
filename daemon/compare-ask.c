/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/compare-ask.h"

#include <string.h>

#include "daemon/answer.h"
#include "daemon/api.h"

#define VERSIONS_LOOKED_AT 100	/* jobs of a series */

typedef struct {
	Lab *lab;
	CompareAsk *ask;
	GArray *kernels;	/* of CompareKernel */
	GError *error;		/* of the database */
	gboolean malformed;
} Asking;

static void compare_ask_init(CompareAsk *ask)
{
	ask->jobs = g_ptr_array_new_with_free_func((GDestroyNotify)store_job_free);
	ask->results = g_ptr_array_new_with_free_func((GDestroyNotify)stats_result_free);
	ask->left_out = g_ptr_array_new_with_free_func(g_free);
}

void compare_ask_clear(CompareAsk *ask)
{
	comparison_free(ask->comparison);
	g_clear_pointer(&ask->jobs, g_ptr_array_unref);
	g_clear_pointer(&ask->results, g_ptr_array_unref);
	g_clear_pointer(&ask->left_out, g_ptr_array_unref);
	g_free(ask->query);
}

/* ---- one kernel ---- */

static void leave_out(Asking *asking, gint64 job, const char *why)
{
	g_ptr_array_add(asking->ask->left_out, g_strdup_printf("Job %" G_GINT64_FORMAT " %s.", job, why));
}

static gboolean load_result(Asking *asking, gint64 job, StatsResult **ret_result)
{
	g_autofree char *json = NULL;
	g_autoptr(JsonNode) node = NULL;

	*ret_result = NULL;
	if (!store_result(asking->lab->db, job, &json, &asking->error))
		return FALSE;
	if (!json)
		return TRUE;
	node = json_from_string(json, &asking->error);
	if (node)
		*ret_result = stats_result_from_json(node, &asking->error);
	return *ret_result != NULL;
}

/* FALSE: the database failed. A job that has nothing to compare is left out, with the reason. */
static gboolean add_kernel(Asking *asking, gint64 id, SampleArm arm)
{
	CompareKernel kernel = { .arm = arm };
	StatsResult *result;
	StoreJob *job;

	if (asking->kernels->len == COMPARE_MAX) {
		leave_out(asking, id, "is one kernel too many for one page");
		return TRUE;
	}
	if (!store_job_get(asking->lab->db, id, &job, &asking->error))
		return FALSE;
	if (!job) {
		leave_out(asking, id, "is not there");
		return TRUE;
	}
	g_ptr_array_add(asking->ask->jobs, job);
	if (!load_result(asking, id, &result))
		return FALSE;
	if (!result) {
		leave_out(asking, id, "has no result");
		return TRUE;
	}
	g_ptr_array_add(asking->ask->results, result);
	kernel.of = (CompareJob){ job, stats_result_latest(result) };
	g_array_append_val(asking->kernels, kernel);
	return TRUE;
}

/* "7", "7:patched", "7:base" */
static gboolean read_kernel(const char *text, gint64 *ret_job, SampleArm *ret_arm)
{
	const char *colon = strchr(text, ':');
	g_autofree char *number = colon ? g_strndup(text, (gsize)(colon - text)) : g_strdup(text);

	*ret_arm = SAMPLE_ARM_PATCHED;
	if (colon && g_str_equal(colon + 1, "base"))
		*ret_arm = SAMPLE_ARM_BASE;
	else if (colon && !g_str_equal(colon + 1, "patched"))
		return FALSE;
	return g_ascii_string_to_signed(number, 10, 1, G_MAXINT64, ret_job, NULL);
}

static gboolean take_pair(const char *name, const char *value, gpointer data)
{
	Asking *asking = data;
	SampleArm arm;
	gint64 job;

	if (!g_str_equal(name, "kernel") || !*value)
		return TRUE;
	if (!read_kernel(value, &job, &arm)) {
		asking->malformed = TRUE;
		return FALSE;
	}
	return add_kernel(asking, job, arm);
}

/* ---- the versions of a series ---- */

/* Newest first in, oldest version first out; of several jobs of one version the newest counts. */
static gint by_version(gconstpointer a, gconstpointer b)
{
	const StoreBrief *left = *(StoreBrief *const *)a, *right = *(StoreBrief *const *)b;

	return left->version != right->version ? (left->version > right->version) - (left->version < right->version) :
						 (left->id < right->id) - (left->id > right->id);
}

static gboolean add_versions(Asking *asking, gint64 id)
{
	StoreFilter filter = { .by_state = TRUE, .state = JOB_DONE, .limit = VERSIONS_LOOKED_AT };
	g_autoptr(StoreBrief) named = NULL;
	g_autoptr(GPtrArray) briefs = NULL;
	int last = 0;
	gint64 cursor;

	if (!store_brief_get(asking->lab->db, id, &named, &asking->error))
		return FALSE;
	if (!named) {
		leave_out(asking, id, "is not there");
		return TRUE;
	}
	filter.series = named->series;
	filter.tree = named->tree;
	if (!store_brief_list(asking->lab->db, &filter, &briefs, &cursor, &asking->error))
		return FALSE;
	g_ptr_array_sort(briefs, by_version);
	for (guint i = 0; i < briefs->len; i++) {
		const StoreBrief *brief = g_ptr_array_index(briefs, i);

		if (brief->version == last)
			continue;
		last = brief->version;
		if ((!asking->kernels->len && !add_kernel(asking, brief->id, SAMPLE_ARM_BASE)) ||
		    !add_kernel(asking, brief->id, SAMPLE_ARM_PATCHED))
			return FALSE;
	}
	if (!briefs->len)
		leave_out(asking, id, "is of a series of which no version has a result yet");
	return TRUE;
}

/* ---- all of it ---- */

static char *query_of(const GArray *kernels)
{
	GString *query = g_string_new(NULL);

	for (guint i = 0; i < kernels->len; i++) {
		const CompareKernel *kernel = &g_array_index(kernels, CompareKernel, i);

		g_string_append_printf(query, "%ckernel=%" G_GINT64_FORMAT "%s", i ? '&' : '?', kernel->of.job->id,
				       kernel->arm == SAMPLE_ARM_BASE ? ":base" : "");
	}
	return g_string_free(query, FALSE);
}

static gboolean read_query(HttpRequest *request, Asking *asking)
{
	gint64 series = 0;

	if (!http_request_each_query(request, take_pair, asking) || asking->malformed)
		answer_error(request, 400, "malformed", "kernel", "a kernel is named by its job's number: 7, or 7:base");
	else if (!asking->error && api_int_query(request, "series", 1, G_MAXINT64, &series) && series)
		add_versions(asking, series);
	if (asking->error)
		answer_trouble(request, 0, g_steal_pointer(&asking->error));
	return !http_answered(request);
}

gboolean compare_ask(HttpRequest *request, Lab *lab, CompareAsk *ret_ask)
{
	g_autoptr(GArray) kernels = g_array_new(FALSE, FALSE, sizeof(CompareKernel));
	Asking asking = { .lab = lab, .ask = ret_ask, .kernels = kernels };

	compare_ask_init(ret_ask);
	if (!read_query(request, &asking))
		return FALSE;
	ret_ask->query = query_of(kernels);
	if (kernels->len)
		ret_ask->comparison = comparison_new(g_steal_pointer(&kernels));
	g_ptr_array_add(ret_ask->left_out, NULL);
	return TRUE;
}
