/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The measure stage: boots both kernels in turn, keeps their samples, compares
 * them: the host, the plan, and then measure-loop.c. Everything it decides follows from events.jsonl and the job's seed, so
 * that a stage started again makes just the boots that are missing.
 */
#include <unistd.h>

#include "jobs/accelerator.h"
#include "jobs/disk.h"
#include "jobs/measure-boots.h"
#include "jobs/measure-samples.h"

#define HOST_BUSY_S		30	/* for a stage that is just ending */
#define STORE_MAX_BYTES		(G_GINT64_CONSTANT(1) << 30)
#define STORE_SCRATCH_MAX_S	(24 * 3600)

typedef struct {
	StageContext *stage;
	MeasureHistory *history;
	VmHost *host;
	GuestPlan *plan;
	char *run;
	char *kernel[SAMPLE_ARM_COUNT];	/* on the host */
	char *disk_template;
	char *qemu, *libvirt;		/* versions */
	MeasureBoots boots;
} Measure;

static void measure_clear(Measure *measure)
{
	for (int i = 0; i < SAMPLE_ARM_COUNT; i++)
		g_free(measure->kernel[i]);
	measure_host_free(measure->boots.around);
	guest_plan_free(measure->plan);
	measure_history_free(measure->history);
	vm_host_close(measure->host);
	g_free(measure->disk_template);
	g_free(measure->run);
	measure_boots_clear(&measure->boots);
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

	if (measure->history->plan)
		return TRUE;
	measure->history->plan = measure_plan_new(spec);
	return stage_event(measure->stage, "plan", measure_plan_to_json(measure->history->plan, spec->seed), TRUE);
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
	measure->boots = (MeasureBoots){
		.setup = {
			.stage = stage,
			.host = measure->host,
			.plan = measure->plan,
			.accelerator = measure->history->accelerator,
			.clock = clock,
			.limits = watch_limits(stage->place, measure->plan, clock),
			.run = measure->run,
			.disk_template = measure->disk_template,
			.memory_mib = measure->plan->sets->memory_mib,
		},
		.history = measure->history,
		.kernels = (const char *const *)measure->kernel,
	};
	measure->qemu = vm_host_qemu_version(measure->host, NULL);
	measure->libvirt = vm_host_libvirt_version(measure->host, NULL);
	measure->boots.around = measure_host_new(stage, clock, measure->history, measure->qemu ? measure->qemu : "",
						 measure->libvirt ? measure->libvirt : "");
	return tell_plan(measure);
}

/* ---- measuring ---- */

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

static gboolean run(Measure *measure)
{
	g_auto(GStrv) primary = primary_metrics(measure->plan);
	MeasureLoop loop = {
		.stage = measure->stage,
		.history = measure->history,
		.primary = (const char *const *)primary,
		.boot = measure_boots_next,
		.user = &measure->boots,
	};

	return measure_loop(&loop) && measure_more(&loop);
}

int stage_measure(StageContext *stage)
{
	g_auto(Measure) measure = { .stage = stage };
	gboolean ok = load(&measure) &&
		      (!measure_is_due(measure.history, stage->spec) ||
		       (open_host(&measure) && choose_accelerator(&measure) && make_plan(&measure) && run(&measure)));

	if (measure.host)
		host_store_prune(vm_host_store(measure.host), STORE_MAX_BYTES, STORE_SCRATCH_MAX_S);
	return stage_finish(stage, ok, "done", "Both kernels were measured and compared.");
}
