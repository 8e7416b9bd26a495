/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A job with everything in it, for tests of what is made of one. Every text that a stranger writes is evil. */
#pragma once

#include <string.h>

#include "web/job-view.h"

#define EVIL "</title><script>alert('x')</script>\"'& \x1b[31m\xff"
#define FIXTURE_TIME_NS (G_GINT64_CONSTANT(1796078598) * 1000000000)

static inline JsonObject *fixture_object(const char *json)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(JsonNode) node = json_from_string(json, &error);

	g_assert_no_error(error);
	return json_node_dup_object(node);
}

static inline void fixture_spoil(JsonObject *object, const char *member)
{
	/* JSON is UTF-8: the evil that is left of it */
	json_object_set_string_member(object, member, "</td><script>alert('x')</script>\"'&");
}

static inline StoreJob *fixture_job(JobState state)
{
	StoreJob *job = g_new0(StoreJob, 1);
	const char *const benchmarks[] = { "aging", "pwrite", NULL };
	const char *const params[] = { "aging.nproc=1,8", NULL };

	job->id = 7;
	job->state = state;
	job->spec = job_spec_new();
	g_strfreev(job->spec->benchmarks);
	job->spec->benchmarks = g_strdupv((char **)benchmarks);
	g_strfreev(job->spec->params);
	job->spec->params = g_strdupv((char **)params);
	g_free(job->spec->subject);
	job->spec->subject = g_strdup("mm: " EVIL);
	g_free(job->spec->author);
	job->spec->author = g_strdup("Eve " EVIL " <eve@example.org>");
	job->reason = g_strdup("");
	job->message = g_strdup("");
	job->failed_arm = g_strdup("");
	job->host = g_strdup("local");
	job->created_ns = job->started_ns = FIXTURE_TIME_NS;
	job->finished_ns = job_state_is_final(state) ? FIXTURE_TIME_NS + G_GINT64_CONSTANT(90000000000) : 0;
	job->source = fixture_object("{\"base_commit\": \"1111111111111111111111111111111111111111\", \"base_subject\": \"base\","
				     " \"base_chosen_by\": \"tree default\", \"patches\": [{\"subject\": \"one\", \"author\":"
				     " \"Eve <eve@example.org>\", \"file_count\": 2}, 7]}");
	fixture_spoil(job->source, "base_subject");
	job->accelerator = fixture_object("{\"accelerator\": \"tcg\", \"clock\": \"icount\", \"probe\": \"a guest said hello\","
					  " \"qemu_version\": \"7.2.0\", \"libvirt_version\": \"9.0.0\", \"host_kernel\": 5}");
	job->plan = fixture_object("{\"boots_per_arm\": 4, \"order\": \"ABBAABBA\"}");
	for (int i = 0; i < 2; i++)
		job->arms[i] = fixture_object("{\"commit\": \"2222222222222222222222222222222222222222\", \"compiler\": \"gcc 12\","
					      " \"kernel_release\": \"6.12.0\", \"build_s\": 183.4, \"cached\": false,"
					      " \"incremental\": true}");
	fixture_spoil(job->arms[1], "compiler");
	job->boots_valid[0] = job->boots_valid[1] = 1;
	return job;
}

static inline GPtrArray *fixture_boots(void)
{
	GPtrArray *boots = g_ptr_array_new_with_free_func((GDestroyNotify)store_boot_free);

	for (int i = 0; i < 3; i++) {
		StoreBoot *boot = g_new0(StoreBoot, 1);

		boot->boot = i;
		boot->pair = i / 2;
		boot->arm = g_strdup(i % 2 ? "patched" : "base");
		boot->host = g_strdup("local");
		boot->clock = g_strdup("icount");
		boot->valid = i < 2;
		boot->reason = g_strdup(i < 2 ? "" : "panic");
		boot->detail = g_strdup(i < 2 ? "" : "Kernel panic: " EVIL);
		boot->start_ns = FIXTURE_TIME_NS + i * G_GINT64_CONSTANT(10000000000);
		boot->first_sample_ns = boot->start_ns + G_GINT64_CONSTANT(2100000000);
		boot->end_ns = boot->start_ns + G_GINT64_CONSTANT(9000000000);
		if (i < 2) {
			boot->hello = fixture_object("{\"cpus\": 2, \"memory_kib\": 1048576, \"thp\": \"never\"}");
			fixture_spoil(boot->hello, "cmdline");
		}
		g_ptr_array_add(boots, boot);
	}
	return boots;
}

static inline void fixture_compare(StatsResult *result, const char *benchmark, const char *params, StatsVerdict verdict,
				   double change_pct, gboolean primary)
{
	StatsComparison *comparison = stats_comparison_new();

	comparison->benchmark = g_strdup(benchmark);
	comparison->params = g_strdup(params);
	comparison->metric = g_strdup(primary ? "time" : "outliers");
	comparison->unit = g_strdup("ms");
	comparison->clock = g_strdup("icount");
	comparison->primary = primary;
	comparison->verdict = verdict;
	comparison->reason = g_strdup("the interval excludes 0");
	comparison->boots[0] = comparison->boots[1] = 4;
	comparison->mean[0] = 20;
	comparison->mean[1] = 20 * (1 + change_pct / 100);
	comparison->change_pct = change_pct;
	comparison->ci_low_pct = change_pct - 1;
	comparison->ci_high_pct = change_pct + 1;
	comparison->p = comparison->p_holm = comparison->p_permutation = .0286;
	g_ptr_array_add(result->comparisons, comparison);
}

static inline StatsResult *fixture_result(void)
{
	StatsResult *result = stats_result_new();

	result->method = g_strdup(STATS_METHOD);
	result->clock = g_strdup("icount");
	result->alpha = .05;
	result->min_effect_pct = 1;
	result->summary = g_strdup("aging is 18 % slower & pwrite is unchanged");
	fixture_compare(result, "aging", "nproc=1;lru=mglru", STATS_VERDICT_EQUIVALENT, .1, TRUE);
	fixture_compare(result, "aging", "nproc=8;lru=mglru", STATS_VERDICT_REGRESSION, 18, TRUE);
	fixture_compare(result, "pwrite", "lru=classic", STATS_VERDICT_IMPROVEMENT, -4, TRUE);
	fixture_compare(result, "pwrite", "lru=classic", STATS_VERDICT_INCONCLUSIVE, -4, FALSE);
	return result;
}
