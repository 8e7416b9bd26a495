/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "jobs/measure-boots.h"

#include <string.h>

#include "jobs/measure-counters.h"
#include "jobs/measure-samples.h"
#include "jobs/spec/file.h"

#define PROGRESS_EVERY_US	(5 * G_USEC_PER_SEC)
#define SECOND_NS		G_GINT64_CONSTANT(1000000000)

static void show_progress(gpointer user)
{
	MeasureBoots *boots = user;
	const MeasureHistory *history = boots->history;
	int done = (int)history->boots->len, left = boots->left_at_most;
	gint64 now_us = g_get_monotonic_time(), eta_s = -1;

	if (now_us - boots->progress_us < PROGRESS_EVERY_US)
		return;
	boots->progress_us = now_us;
	if (done > 0) {
		gint64 each_s = history->boots_ns / done / SECOND_NS;
		gint64 spent_s = (now_us - boots->boot_start_us) / G_USEC_PER_SEC;
		eta_s = each_s * left - MIN(spent_s, each_s);
	}
	stage_progress(boots->setup.stage, boots->step, done, done + left, eta_s);
}

static void keep_artifacts(MeasureBoots *boots, int boot, const BootResult *result)
{
	StageContext *stage = boots->setup.stage;
	g_autofree char *console = g_strdup_printf("%s/boot-%d-console.txt", stage->artifacts, boot);
	g_autofree char *domain = g_build_filename(stage->artifacts, "domain.xml", NULL);
	g_autoptr(GError) error = NULL;

	if (!file_write(console, result->console, strlen(result->console), &error) ||
	    (result->counters && result->counters->len && !measure_counters_keep(stage, boot, result->counters->str, &error)) ||
	    (result->domain_xml && !file_write(domain, result->domain_xml, strlen(result->domain_xml), &error)))
		stage_log(stage, "boot %d: %s", boot, error->message);
}

static double seconds(gint64 from_ns, gint64 to_ns)
{
	return to_ns ? (double)(to_ns - from_ns) / 1e9 : -1;
}

static void log_boot(MeasureBoots *boots, int boot, SampleArm arm, const BootResult *result)
{
	StageContext *stage = boots->setup.stage;

	if (result->threads) {
		g_autofree char *threads = g_strdelimit(g_strchomp(g_strdup(result->threads)), "\n", ';');
		stage_log(stage, "boot %d: QEMU's threads and their CPUs: %s", boot, threads);
	}
	stage_log(stage, "boot %d (%s): %s%s%s; %u samples, hello after %.1f s, first sample after %.1f s, end after %.1f s", boot,
		  sample_arm_to_string(arm), *result->reason ? result->reason : "valid", *result->detail ? ": " : "",
		  result->detail, result->samples->len, seconds(result->start_ns, result->hello_ns),
		  seconds(result->start_ns, result->first_sample_ns), seconds(result->start_ns, result->end_ns));
	if (*result->reason)
		stage_log(stage, "boot %d: the end of its console:\n%s", boot, result->console_tail);
}

static JsonObject *boot_members(MeasureBoots *boots, int boot, int pair, SampleArm arm, const BootResult *result, JsonObject *machine)
{
	JsonObject *members = json_object_new();

	json_object_set_int_member(members, "boot", boot);
	json_object_set_int_member(members, "pair", pair);
	json_object_set_string_member(members, "arm", sample_arm_to_string(arm));
	json_object_set_string_member(members, "host", boots->setup.stage->place->host);
	json_object_set_string_member(members, "clock", job_clock_name(boots->history->clock));
	json_object_set_boolean_member(members, "valid", *result->reason == '\0');
	json_object_set_string_member(members, "reason", result->reason);
	json_object_set_string_member(members, "detail", result->detail);
	json_object_set_int_member(members, "start_ns", result->start_ns);
	json_object_set_int_member(members, "end_ns", result->end_ns);
	json_object_set_int_member(members, "first_sample_ns", result->first_sample_ns);
	json_object_set_int_member(members, "samples", result->samples->len);
	json_object_set_object_member(members, "hello", result->hello ? json_object_ref(result->hello) : json_object_new());
	json_object_set_object_member(members, "machine", json_object_ref(machine));
	return members;
}

/* Samples first, then the event that counts them. */
static gboolean keep_boot(MeasureBoots *boots, int boot, int pair, SampleArm arm, const BootResult *result)
{
	StageContext *stage = boots->setup.stage;
	g_autoptr(JsonObject) machine = measure_host_machine(boots->around);
	GError *error = NULL;

	keep_artifacts(boots, boot, result);
	log_boot(boots, boot, arm, result);
	if (!measure_samples_append(stage->dir, stage->spec, stage->place->host, boots->history->clock, boot, pair, arm,
				    result, &error))
		return stage_fail_error(stage, "run-directory", error);
	if (!stage_event(stage, "boot", boot_members(boots, boot, pair, arm, result, machine), TRUE))
		return FALSE;
	host_warnings_add(boots->history->warnings, machine);
	measure_history_add_boot(boots->history, pair, arm, result->reason, result->samples->len,
				 result->end_ns - result->start_ns);
	return TRUE;
}

/* Takes the error. */
static gboolean fail_boot(MeasureBoots *boots, GError *error)
{
	gboolean stopped = g_error_matches(error, CHILD_ERROR, CHILD_ERROR_STOPPED);

	if (stopped || vm_host_alive(boots->setup.host))
		return stage_fail_error(boots->setup.stage, "libvirt", error);
	stage_host_down(boots->setup.stage, "%s", error->message);
	g_error_free(error);
	return FALSE;
}

static const char *kernel_of(const MeasureBoots *boots, SampleArm arm)
{
	return boots->kernels[arm == SAMPLE_ARM_CONTROL ? SAMPLE_ARM_BASE : arm];
}

gboolean measure_boots_next(gpointer user, const MeasureNext *next)
{
	MeasureBoots *boots = user;
	StageContext *stage = boots->setup.stage;
	int boot = measure_history_next_boot(boots->history);
	g_autoptr(BootResult) result = NULL;
	GError *error = NULL;

	g_free(boots->step);
	boots->step = next->looks > 1 ?
			      g_strdup_printf("boot %d of %d at most (%s kernel), look %u of %u after boot %d", boot + 1,
					      boot + next->left_at_most, sample_arm_to_string(next->arm), next->look,
					      next->looks, boot + next->left) :
			      g_strdup_printf("boot %d of %d (%s kernel)", boot + 1, boot + next->left,
					      sample_arm_to_string(next->arm));
	if (!measure_host_before(boots->around))
		return FALSE;
	boots->setup.placement = measure_host_placement(boots->around);
	boots->left_at_most = next->left_at_most;
	boots->boot_start_us = g_get_monotonic_time();
	boots->progress_us = 0;
	show_progress(boots);
	if (!boot_once(&boots->setup, boot, kernel_of(boots, next->arm), show_progress, boots, &result, &error))
		return fail_boot(boots, error);
	measure_host_after(boots->around, result);
	if (!keep_boot(boots, boot, next->pair, next->arm, result))
		return FALSE;
	return vm_host_alive(boots->setup.host) || stage_host_down(stage, "%s", result->detail);
}

void measure_boots_clear(MeasureBoots *boots)
{
	g_free(boots->step);
}
