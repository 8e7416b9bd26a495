/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The measure stage: boots both kernels in turn, keeps their samples, compares
 * them. Everything it decides follows from events.jsonl and the job's seed, so
 * that a stage started again makes just the boots that are missing.
 */
#include <string.h>
#include <unistd.h>

#include "jobs/accelerator.h"
#include "jobs/disk.h"
#include "jobs/measure-boot.h"
#include "jobs/measure-history.h"
#include "jobs/measure-host.h"
#include "jobs/measure-samples.h"
#include "jobs/spec/file.h"
#include "jobs/stats/analysis.h"

#define HOST_BUSY_S		30	/* for a stage that is just ending */
#define STORE_MAX_BYTES		(G_GINT64_CONSTANT(1) << 30)
#define STORE_SCRATCH_MAX_S	(24 * 3600)
#define PROGRESS_EVERY_US	(5 * G_USEC_PER_SEC)
#define SECOND_NS		G_GINT64_CONSTANT(1000000000)

typedef struct {
	StageContext *stage;
	MeasureHistory *history;
	VmHost *host;
	GuestPlan *plan;
	char *run;
	char *kernel[SAMPLE_ARM_COUNT];	/* on the host */
	char *disk_template;
	BootSetup setup;
	MeasureHost *around;		/* the host before, during and after a boot */
	char *qemu, *libvirt;		/* versions */
	char *step;			/* of the boot that is going on */
	gint64 boot_start_us, progress_us;
} Measure;

static void measure_clear(Measure *measure)
{
	for (int i = 0; i < SAMPLE_ARM_COUNT; i++)
		g_free(measure->kernel[i]);
	measure_host_free(measure->around);
	guest_plan_free(measure->plan);
	measure_history_free(measure->history);
	vm_host_close(measure->host);
	g_free(measure->disk_template);
	g_free(measure->run);
	g_free(measure->step);
	g_free(measure->qemu);
	g_free(measure->libvirt);
}

G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Measure, measure_clear)

/* ---- what is there already ---- */

static gboolean load(Measure *measure)
{
	StageContext *stage = measure->stage;
	GError *error = NULL;

	if (!measure_history_load(stage->dir, &measure->history, &error) ||
	    !measure_samples_cut(stage->dir, measure->history->samples, &error))
		return stage_fail_error(stage, "run-directory", error);
	for (int arm = 0; arm < SAMPLE_ARM_COUNT; arm++) {
		const char *kernel = measure->history->kernel[arm], *name = sample_arm_to_string((SampleArm)arm);
		if (!kernel || access(kernel, R_OK) < 0)
			return stage_fail(stage, "infra-failed", "kernel-missing", name, NULL,
					  "the %s kernel is not there (%s): the job has to be built again", name,
					  kernel ? kernel : "never built");
	}
	measure->run = boot_run_name(stage->dir);
	return TRUE;
}

/* ---- the host ---- */

static gboolean open_host(Measure *measure)
{
	StageContext *stage = measure->stage;
	const JobPlace *place = stage->place;
	g_autofree char *store = g_build_filename(place->cache_dir, "host-files", NULL);
	int leftovers = 0;
	GError *error = NULL;

	stage_progress(stage, "opening the host", 0, 0, -1);
	for (int tries = 0; !measure->host; tries++) {
		g_clear_error(&error);
		measure->host = vm_host_open(place->host_uri, store, &error);
		if (measure->host)
			break;
		if (!g_error_matches(error, VM_ERROR, VM_ERROR_BUSY) || tries == HOST_BUSY_S || stage_stopping(stage))
			return stage_fail_error(stage, "host", error);
		g_usleep(G_USEC_PER_SEC);
	}
	if (*vm_host_note(measure->host))
		stage_log(stage, "%s", vm_host_note(measure->host));
	if (!vm_host_destroy_leftovers(measure->host, measure->run, &leftovers, &error))
		return stage_fail_error(stage, "libvirt", error);
	if (leftovers)
		stage_log(stage, "ended %d virtual machines that an earlier stage left behind", leftovers);
	for (int arm = 0; arm < SAMPLE_ARM_COUNT; arm++) {
		measure->kernel[arm] = host_store_put_file(vm_host_store(measure->host), measure->history->kernel[arm], &error);
		if (!measure->kernel[arm])
			return stage_fail_error(stage, "host-files", error);
	}
	return TRUE;
}

static gboolean choose_accelerator(Measure *measure)
{
	StageContext *stage = measure->stage;
	MeasureHistory *history = measure->history;
	g_auto(Accelerator) accelerator = { 0 };

	if (history->has_accelerator)
		return TRUE;
	if (!accelerator_choose(stage, measure->host, measure->kernel[SAMPLE_ARM_BASE], &accelerator))
		return FALSE;
	history->accelerator = accelerator.accelerator;
	history->clock = accelerator.clock;
	stage_log(stage, "guests run on %s, the clock is %s; probe: %s", vm_accelerator_name(accelerator.accelerator),
		  job_clock_name(accelerator.clock), accelerator.probe);

	JsonObject *members = json_object_new();
	json_object_set_string_member(members, "accelerator", vm_accelerator_name(accelerator.accelerator));
	json_object_set_string_member(members, "clock", job_clock_name(accelerator.clock));
	json_object_set_string_member(members, "probe", accelerator.probe);
	json_object_set_string_member(members, "qemu_version", accelerator.qemu_version);
	json_object_set_string_member(members, "libvirt_version", accelerator.libvirt_version);
	json_object_set_string_member(members, "host_kernel", accelerator.host_kernel);
	return stage_event(stage, "accelerator", members, TRUE);
}

/* ---- the plan ---- */

static gboolean tell_plan(Measure *measure)
{
	const JobSpec *spec = measure->stage->spec;
	g_autofree char *seed = g_strdup_printf("%" G_GUINT64_FORMAT, spec->seed);
	JsonObject *members;

	if (measure->history->order)
		return TRUE;
	measure->history->order = schedule_order(spec->seed, spec->max_boots);
	members = json_object_new();
	json_object_set_int_member(members, "boots_per_arm", spec->max_boots);
	json_object_set_string_member(members, "order", measure->history->order);
	json_object_set_string_member(members, "seed", seed);
	json_object_set_double_member(members, "alpha", spec->alpha);
	json_object_set_double_member(members, "min_effect_pct", spec->min_effect_pct);
	json_object_set_string_member(members, "method", STATS_METHOD);
	return stage_event(measure->stage, "plan", members, TRUE);
}

static gboolean make_plan(Measure *measure)
{
	StageContext *stage = measure->stage;
	const JobSpec *spec = stage->spec;
	JobClock clock = measure->history->clock;
	const char *profile = !g_str_equal(spec->profile, "auto") ? spec->profile : clock == CLOCK_KVM ? "full" : "quick";
	GError *error = NULL;

	if (!guest_plan_new(stage->place->benchmarks_dir, spec->benchmarks, spec->params, profile, &measure->plan, &error))
		return stage_fail_error(stage, "benchmarks", error);
	if (measure->plan->sets->disk_mib > 0) {
		measure->disk_template = disk_template(stage, measure->plan->sets->disk_mib, &error);
		if (!measure->disk_template)
			return stage_fail_error(stage, "disk", error);
	}
	measure->setup = (BootSetup){
		.stage = stage,
		.host = measure->host,
		.plan = measure->plan,
		.accelerator = measure->history->accelerator,
		.clock = clock,
		.limits = watch_limits(stage->place, measure->plan, clock),
		.run = measure->run,
		.disk_template = measure->disk_template,
		.memory_mib = measure->plan->sets->memory_mib,
	};
	measure->qemu = vm_host_qemu_version(measure->host, NULL);
	measure->libvirt = vm_host_libvirt_version(measure->host, NULL);
	measure->around = measure_host_new(stage, clock, measure->history, measure->qemu ? measure->qemu : "",
					   measure->libvirt ? measure->libvirt : "");
	return tell_plan(measure);
}

/* ---- boots ---- */

static void show_progress(gpointer user)
{
	Measure *measure = user;
	const MeasureHistory *history = measure->history;
	int done = (int)history->boots->len, left = schedule_left(history->order, history->boots);
	gint64 now_us = g_get_monotonic_time(), eta_s = -1;

	if (now_us - measure->progress_us < PROGRESS_EVERY_US)
		return;
	measure->progress_us = now_us;
	if (done > 0) {
		gint64 each_s = history->boots_ns / done / SECOND_NS;
		gint64 spent_s = (now_us - measure->boot_start_us) / G_USEC_PER_SEC;
		eta_s = each_s * left - MIN(spent_s, each_s);
	}
	stage_progress(measure->stage, measure->step, done, done + left, eta_s);
}

static void keep_artifacts(Measure *measure, int boot, const BootResult *result)
{
	StageContext *stage = measure->stage;
	g_autofree char *console = g_strdup_printf("%s/boot-%d-console.txt", stage->artifacts, boot);
	g_autofree char *domain = g_build_filename(stage->artifacts, "domain.xml", NULL);
	g_autoptr(GError) error = NULL;

	if (!file_write(console, result->console, strlen(result->console), &error) ||
	    (result->domain_xml && !file_write(domain, result->domain_xml, strlen(result->domain_xml), &error)))
		stage_log(stage, "boot %d: %s", boot, error->message);
}

static double seconds(gint64 from_ns, gint64 to_ns)
{
	return to_ns ? (double)(to_ns - from_ns) / 1e9 : -1;
}

static void log_boot(Measure *measure, int boot, SampleArm arm, const BootResult *result)
{
	StageContext *stage = measure->stage;

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

static JsonObject *boot_members(Measure *measure, int boot, int pair, SampleArm arm, const BootResult *result, JsonObject *machine)
{
	JsonObject *members = json_object_new();

	json_object_set_int_member(members, "boot", boot);
	json_object_set_int_member(members, "pair", pair);
	json_object_set_string_member(members, "arm", sample_arm_to_string(arm));
	json_object_set_string_member(members, "host", measure->stage->place->host);
	json_object_set_string_member(members, "clock", job_clock_name(measure->history->clock));
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
static gboolean keep_boot(Measure *measure, int boot, int pair, SampleArm arm, const BootResult *result)
{
	StageContext *stage = measure->stage;
	g_autoptr(JsonObject) machine = measure_host_machine(measure->around);
	GError *error = NULL;

	keep_artifacts(measure, boot, result);
	log_boot(measure, boot, arm, result);
	if (!measure_samples_append(stage->dir, stage->spec, stage->place->host, measure->history->clock, boot, pair, arm,
				    result, &error))
		return stage_fail_error(stage, "run-directory", error);
	if (!stage_event(stage, "boot", boot_members(measure, boot, pair, arm, result, machine), TRUE))
		return FALSE;
	host_warnings_add(measure->history->warnings, machine);
	measure_history_add_boot(measure->history, pair, arm, result->reason, result->samples->len,
				 result->end_ns - result->start_ns);
	return TRUE;
}

static gboolean boot_next(Measure *measure, int pair, SampleArm arm)
{
	StageContext *stage = measure->stage;
	int boot = (int)measure->history->boots->len;
	int total = boot + schedule_left(measure->history->order, measure->history->boots);
	g_autoptr(BootResult) result = NULL;
	GError *error = NULL;

	g_free(measure->step);
	measure->step = g_strdup_printf("boot %d of %d (%s kernel)", boot + 1, total, sample_arm_to_string(arm));
	if (!measure_host_before(measure->around))
		return FALSE;
	measure->boot_start_us = g_get_monotonic_time();
	measure->progress_us = 0;
	show_progress(measure);
	if (!boot_once(&measure->setup, boot, measure->kernel[arm], show_progress, measure, &result, &error))
		return stage_fail_error(stage, g_error_matches(error, VM_ERROR, VM_ERROR_PINNING) ? "pinning" : "libvirt", error);
	measure_host_after(measure->around, result);
	return keep_boot(measure, boot, pair, arm, result);
}

/* The end of the console of the arm's last failed boot, from its artifact: a stage started again has nothing else. */
static char *failed_console(Measure *measure, SampleArm arm)
{
	const GArray *boots = measure->history->boots;
	g_autofree char *text = NULL;
	gsize size;

	for (guint i = boots->len; i-- > 0;) {
		const ScheduleBoot *boot = &g_array_index(boots, ScheduleBoot, i);
		if (boot->arm != arm || !*boot->reason)
			continue;
		g_autofree char *path = g_strdup_printf("%s/boot-%u-console.txt", measure->stage->artifacts, i);
		if (!file_read(path, 16 * 1024 * 1024, &text, &size, NULL))
			break;
		return g_strdup(size > BOOT_CONSOLE_TAIL ? text + size - BOOT_CONSOLE_TAIL : text);
	}
	return g_strdup("");
}

/* What a failed arm means. */
static gboolean fail_arm(Measure *measure, SampleArm arm, const char *reason)
{
	StageContext *stage = measure->stage;
	const char *name = sample_arm_to_string(arm);
	g_autofree char *console = failed_console(measure, arm);
	JsonObject *detail = json_object_new();

	json_object_set_string_member(detail, "kind", reason);
	json_object_set_string_member(detail, "console", console);
	if (g_str_equal(reason, "lost"))
		return stage_fail(stage, "infra-failed", "guest-lost", "", detail,
				  "virtual machines on host '%s' ended by themselves again and again: look at QEMU's log and at "
				  "the memory of the host", stage->place->host);
	if (arm == SAMPLE_ARM_PATCHED)
		return stage_fail(stage, "boot-failed", reason, name, detail,
				  "the patched kernel fails (%s) where the base kernel runs: this is a finding about the series",
				  reason);
	return stage_fail(stage, "boot-failed", reason, name, detail,
			  "the base kernel fails (%s), so nothing can be compared: this says nothing about the series", reason);
}

static gboolean boot_all(Measure *measure)
{
	const MeasureHistory *history = measure->history;
	const char *reason;
	SampleArm arm;
	int pair;

	for (;;) {
		if (schedule_failed(history->boots, measure->stage->place->max_failed_boots, &arm, &reason))
			return fail_arm(measure, arm, reason);
		if (!schedule_next(history->order, history->boots, &pair, &arm))
			return TRUE;
		if (stage_stopping(measure->stage) || !boot_next(measure, pair, arm))
			return FALSE;
	}
}

/* ---- the result ---- */

/* "benchmark=metric" of each benchmark's primary metric; the caller's. */
static char **primary_metrics(const GuestPlan *plan)
{
	g_autoptr(GPtrArray) list = g_ptr_array_new();
	GHashTableIter iter;
	gpointer value;

	g_hash_table_iter_init(&iter, plan->benchmarks);
	while (g_hash_table_iter_next(&iter, NULL, &value)) {
		const Benchmark *benchmark = value;
		for (guint i = 0; i < benchmark->metrics->len; i++) {
			const BenchmarkMetric *metric = g_ptr_array_index(benchmark->metrics, i);
			if (metric->primary)
				g_ptr_array_add(list, g_strdup_printf("%s=%s", benchmark->name, metric->name));
		}
	}
	g_ptr_array_add(list, NULL);
	return (char **)g_ptr_array_free(g_steal_pointer(&list), FALSE);
}

static gboolean compare(Measure *measure)
{
	StageContext *stage = measure->stage;
	const JobSpec *spec = stage->spec;
	g_auto(GStrv) primary = primary_metrics(measure->plan);
	StatsOptions options = {
		.alpha = spec->alpha,
		.min_effect_pct = spec->min_effect_pct,
		.max_boots = (guint)spec->max_boots,
		.seed = 0,	/* of the job's number, which samples.csv has: anyone who has it gets the same numbers */
		.primary = (const char *const *)primary,
	};
	GError *error = NULL;

	stage_progress(stage, "comparing", 0, 0, -1);
	for (int arm = 0; arm < SAMPLE_ARM_COUNT; arm++)
		options.failed_boots[arm] = measure->history->failed_without_samples[arm];
	g_autoptr(SampleTable) table = measure_samples_load(stage->dir, &error);
	g_autoptr(StatsResult) result = table ? stats_analyse(table, &options, &error) : NULL;
	if (!result)
		return stage_fail_error(stage, "analysis", error);
	stage_log(stage, "%s", result->summary);

	g_autoptr(JsonNode) node = stats_result_to_json(result);
	json_object_set_array_member(json_node_get_object(node), "host_warnings", host_warnings_to_json(measure->history->warnings));
	JsonObject *members = json_object_new();
	json_object_set_member(members, "result", g_steal_pointer(&node));
	return stage_event(stage, "result", members, TRUE);
}

int stage_measure(StageContext *stage)
{
	g_auto(Measure) measure = { .stage = stage };
	gboolean ok = load(&measure) &&
		      (measure.history->has_result ||
		       (open_host(&measure) && choose_accelerator(&measure) && make_plan(&measure) && boot_all(&measure) &&
			compare(&measure)));

	if (measure.host)
		host_store_prune(vm_host_store(measure.host), STORE_MAX_BYTES, STORE_SCRATCH_MAX_S);
	return stage_finish(stage, ok, "done", "Both kernels were measured and compared.");
}
