/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The measure stage: boots both kernels in turn, keeps their samples, compares
 * them: the host, the plan, and then measure-loop.c. Everything it decides follows from events.jsonl and the job's seed, so
 * that a stage started again makes just the boots that are missing.
 */
#include <poll.h>
#include <unistd.h>

#include "jobs/accelerator.h"
#include "jobs/disk.h"
#include "jobs/measure-boots.h"
#include "jobs/measure-record.h"
#include "jobs/measure-samples.h"

#define HOST_OPEN_S		600	/* until a call that does not come back is given up */
#define HOST_BUSY_S		30	/* for a stage that is just ending */
#define STORE_MAX_BYTES		(G_GINT64_CONSTANT(1) << 30)
#define STORE_SCRATCH_MAX_S	(24 * 3600)

typedef struct {
	StageContext *stage;
	MeasureHistory *history;
	VmHost *host;
	GuestPlan *plan;
	char *lab, *run, *marks;
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
	g_free(measure->lab);
	g_free(measure->run);
	g_free(measure->marks);
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
	measure->lab = boot_lab_name(stage->place->cache_dir);
	measure->run = boot_run_name(stage->dir);
	measure->marks = g_build_filename(stage->place->cache_dir, "volumes", stage->place->host, NULL);
	return TRUE;
}

/* The job has moved: what was measured on another host cannot be compared with what comes, and is set aside. */
static gboolean tell_moved(Measure *measure)
{
	StageContext *stage = measure->stage;
	MeasureHistory *history = measure->history;
	JsonObject *members;

	if (!history->host || g_str_equal(history->host, stage->place->host))
		return TRUE;
	members = json_object_new();
	json_object_set_string_member(members, "from", history->host);
	json_object_set_string_member(members, "to", stage->place->host);
	json_object_set_int_member(members, "boots", history->boots->len);
	stage_log(stage, "the job has moved from host '%s' to '%s': %u boots are set aside", history->host, stage->place->host,
		  history->boots->len);
	measure_history_set_aside(history, stage->place->host);
	return stage_event(stage, "moved", members, TRUE);
}

/* ---- the host ---- */

/* A call into libvirt did not come back. In the guard's thread; the stage's own hangs in that call. */
static void hung(const char *what, gpointer data)
{
	StageContext *stage = data;

	stage_host_down(stage, "libvirt does not come back (%s)", what);
	_exit(stage_finish(stage, FALSE, "", ""));
}

/* Takes the error. Whether it is the host's or the lab's own. */
static gboolean fail_host(Measure *measure, const char *reason, GError *error)
{
	if (measure->host && vm_host_alive(measure->host))
		return stage_fail_error(measure->stage, reason, error);
	stage_host_down(measure->stage, "%s", error->message);
	g_error_free(error);
	return FALSE;
}

/* What is wrong with the configuration is wrong tomorrow too; what libvirt says may pass. */
static gboolean connect(Measure *measure)
{
	StageContext *stage = measure->stage;
	const JobPlace *place = stage->place;
	const VmHostSetup setup = { place->host_uri, place->pool_dir, measure->marks, measure->lab, measure->run,
				    stage->stop_fd };

	struct pollfd stop = { .fd = stage->stop_fd, .events = POLLIN };

	for (int tries = 0;; tries++) {
		g_autoptr(GError) error = NULL;

		measure->host = vm_host_open(&setup, &error);
		if (measure->host)
			return TRUE;
		if (g_error_matches(error, VM_ERROR, VM_ERROR_LIBVIRT))
			return stage_host_down(stage, "%s", error->message);
		if (!g_error_matches(error, VM_ERROR, VM_ERROR_BUSY) || tries == HOST_BUSY_S || stage_stopping(stage))
			return stage_fail_error(stage, "host", g_steal_pointer(&error));
		poll(&stop, 1, 1000);
	}
}

static gboolean open_host(Measure *measure)
{
	StageContext *stage = measure->stage;
	int leftovers = 0;
	GError *error = NULL;

	stage_progress(stage, "opening the host", 0, 0, -1);
	stage->guard = guard_new(hung, stage);
	guard_set(stage->guard, "opening the host, and putting the kernels there", HOST_OPEN_S);
	if (!connect(measure))
		return FALSE;
	if (*vm_host_note(measure->host))
		stage_log(stage, "%s", vm_host_note(measure->host));
	if (!vm_host_destroy_leftovers(measure->host, &leftovers, &error)) {
		stage_host_down(stage, "%s", error->message);
		g_error_free(error);
		return FALSE;
	}
	if (leftovers)
		stage_log(stage, "ended %d virtual machines that an earlier stage left behind", leftovers);
	for (int arm = 0; arm < SAMPLE_ARM_COUNT; arm++) {
		measure->kernel[arm] = host_store_put_file(vm_host_store(measure->host), measure->history->kernel[arm], &error);
		if (!measure->kernel[arm])
			return fail_host(measure, "host-files", error);
	}
	guard_clear(stage->guard);
	return tell_moved(measure);
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
	json_object_set_string_member(members, "host", stage->place->host);
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
	measure->history->plan = measure_plan_new(spec, measure->stage->place->control_every);
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
			.lab = measure->lab,
			.run = measure->run,
			.disk_template = measure->disk_template,
			.memory_mib = measure->plan->sets->memory_mib,
		},
		.history = measure->history,
		.kernels = (const char *const *)measure->kernel,
	};
	measure->qemu = vm_host_qemu_version(measure->host, NULL);
	measure->libvirt = vm_host_libvirt_version(measure->host, NULL);
	measure->boots.around = measure_host_new(stage, clock, measure->history, measure->plan->sets->memory_mib,
						 measure->qemu ? measure->qemu : "",
						 measure->libvirt ? measure->libvirt : "");
	return measure_record(&measure->boots.setup) && tell_plan(measure);
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
