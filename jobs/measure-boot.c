/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "jobs/measure-boot.h"

#include <string.h>
#include <time.h>

#include "guest-image/cmdline.h"	/* made of guest-image/cmdline, which says what each word is for */
#include "jobs/guest-console.h"
#include "jobs/guest-hello.h"
#include "jobs/measure-counters.h"
#include "jobs/schedule.h"

#define READ_BYTES		(64 * 1024)
#define READS_AT_ONCE		32		/* of one stream before the other has its turn */
#define TICK_MS			1000
#define LAST_WORDS_NS		(2 * G_GINT64_CONSTANT(1000000000))	/* a kernel in trouble has to finish its report */
#define STATUS_NOT_APPLICABLE	77
#define START_S			600		/* that libvirt may take; the disk of a boot may be large */
#define CALLS_S			90		/* the same, for what takes a moment */
#define START_TRIES		3		/* of one virtual machine */

/* A boot as it goes on. */
typedef struct {
	const BootSetup *setup;
	int boot;
	Vm *vm;
	GuestStream *stream;
	Console *console;
	Watch watch;
	BootResult *result;
	GError *protocol;	/* the stream's breach */
	gint64 trouble_ns;	/* when the console showed trouble; 0: not */
	gboolean failed_run;	/* result->detail says which and how */
	guint primary_samples;	/* of the current run */
	char *last_log;
} Boot;

void boot_result_free(BootResult *result)
{
	if (!result)
		return;
	g_free(result->detail);
	g_clear_pointer(&result->hello, json_object_unref);
	g_array_unref(result->samples);
	if (result->counters)
		g_string_free(result->counters, TRUE);
	g_free(result->console);
	g_free(result->console_tail);
	g_free(result->domain_xml);
	g_free(result->threads);
	g_free(result);
}

static gint64 clock_ns(clockid_t clock)
{
	struct timespec now;

	clock_gettime(clock, &now);
	return now.tv_sec * G_GINT64_CONSTANT(1000000000) + now.tv_nsec;
}

/* A short name that no other machine's lab has. */
static char *name_of(const char *text)
{
	g_autofree char *machine = NULL, *both = NULL, *digest = NULL;

	if (!g_file_get_contents("/etc/machine-id", &machine, NULL, NULL))
		machine = g_strdup(g_get_host_name());
	both = g_strjoin("\n", machine, text, NULL);
	digest = g_compute_checksum_for_string(G_CHECKSUM_SHA256, both, -1);
	return g_strndup(digest, 12);
}

const char *boot_cmdline(VmAccelerator accelerator)
{
	return accelerator == VM_KVM ? GUEST_CMDLINE : GUEST_CMDLINE " " GUEST_CMDLINE_EMULATED;
}

char *boot_run_name(const char *dir)
{
	return name_of(dir);
}

char *boot_lab_name(const char *cache_dir)
{
	return name_of(cache_dir);
}

/* ---- what the guest says ---- */

static void say(Boot *boot, const char *text)
{
	g_autofree char *safe = g_strescape(text, "\"'\\\t");

	stage_log(boot->setup->stage, "boot %d: %s", boot->boot, safe);
}

static void fail_run(Boot *boot, const GuestRun *run, const char *format, ...) G_GNUC_PRINTF(3, 4);

static void fail_run(Boot *boot, const GuestRun *run, const char *format, ...)
{
	va_list args;

	if (boot->failed_run)
		return;
	va_start(args, format);
	g_autofree char *what = g_strdup_vprintf(format, args);
	va_end(args);
	g_free(boot->result->detail);
	boot->failed_run = TRUE;
	boot->result->detail = g_strdup_printf("%s %s run %d: %s%s%s", run->set->benchmark, run->set->params, run->run, what,
					       boot->last_log ? "; its last words: " : "",
					       boot->last_log ? boot->last_log : "");
}

static void end_run(Boot *boot, const GuestRecord *record)
{
	watch_run_end(&boot->watch);
	if (record->status == -1)
		fail_run(boot, record->run, "not finished after %d s of the guest's time",
			 guest_run_timeout_s(record->run, boot->setup->clock));
	else if (record->status == STATUS_NOT_APPLICABLE)
		fail_run(boot, record->run, "this kernel lacks what it needs (exit status %d)", record->status);
	else if (record->status != 0)
		fail_run(boot, record->run, "exit status %d", record->status);
	else if (boot->primary_samples == 0)
		fail_run(boot, record->run, "it ended well but gave no sample of its primary metric");
}

static void take_record(const GuestRecord *record, gpointer user)
{
	Boot *boot = user;

	watch_line(&boot->watch, clock_ns(CLOCK_MONOTONIC));
	switch (record->type) {
	case GUEST_HELLO:
		boot->result->hello = json_object_ref(record->object);
		boot->result->hello_ns = clock_ns(CLOCK_REALTIME);
		break;
	case GUEST_START:
		watch_run(&boot->watch, record->run->set->timeout_s, clock_ns(CLOCK_MONOTONIC));
		boot->primary_samples = 0;
		g_clear_pointer(&boot->last_log, g_free);
		break;
	case GUEST_SAMPLE: {
		BootSample sample = { record->run, record->metric, record->pass, record->value };
		g_array_append_val(boot->result->samples, sample);
		boot->primary_samples += record->metric->primary;
		if (!boot->result->first_sample_ns)
			boot->result->first_sample_ns = clock_ns(CLOCK_REALTIME);
		break;
	}
	case GUEST_LOG:
		say(boot, record->text);
		g_free(boot->last_log);
		boot->last_log = g_strescape(record->text, "\"'");
		break;
	case GUEST_RUN_END:
		end_run(boot, record);
		break;
	case GUEST_COUNTER:
		measure_counters_take(boot->result->counters, record);
		break;
	case GUEST_END:
		break;
	}
}

/* TRUE: it stopped in the middle, there may be more. */
static gboolean read_console(Boot *boot, char *buffer)
{
	gssize got = 1;

	for (int i = 0; i < READS_AT_ONCE && got > 0; i++) {
		got = vm_read(boot->vm, VM_CONSOLE, buffer, READ_BYTES);
		if (got > 0)
			console_feed(boot->console, buffer, (gsize)got);
	}
	if (!boot->trouble_ns && console_trouble(boot->console) != CONSOLE_FINE)
		boot->trouble_ns = clock_ns(CLOCK_MONOTONIC);
	return got > 0;
}

static gboolean read_results(Boot *boot, char *buffer)
{
	gssize got = 1;

	for (int i = 0; i < READS_AT_ONCE && got > 0 && !boot->protocol && !guest_stream_ended(boot->stream); i++) {
		got = vm_read(boot->vm, VM_RESULTS, buffer, READ_BYTES);
		if (got > 0 && guest_stream_feed(boot->stream, buffer, (gsize)got, take_record, boot, &boot->protocol) &&
		    boot->result->hello)
			guest_hello_check(boot->result->hello, boot->setup->accelerator, boot->setup->stage->place->guest_cpus,
					  &boot->protocol);
	}
	return got > 0;
}

/* ---- how it ends ---- */

static void end_with(Boot *boot, const char *reason, const char *format, ...) G_GNUC_PRINTF(3, 4);

static void end_with(Boot *boot, const char *reason, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	boot->result->reason = reason;
	g_free(boot->result->detail);
	boot->result->detail = g_strdup_vprintf(format, args);
	va_end(args);
}

/* What came of it, once nothing more will come. The kernel's own word goes before what follows from it. */
static void conclude(Boot *boot, VmState state, const char *expired)
{
	const GuestRun *run = guest_stream_run(boot->stream);
	const char *where = !boot->result->hello ? "before it said hello" : run ? run->set->benchmark : "between two runs";
	gint64 seconds = (clock_ns(CLOCK_MONOTONIC) - boot->watch.start_ns) / G_GINT64_CONSTANT(1000000000);

	if (boot->protocol)	/* who lies in one line is not believed in the others */
		g_array_set_size(boot->result->samples, 0);
	if (boot->trouble_ns)
		end_with(boot, console_trouble_name(console_trouble(boot->console)), "%s (%s)",
			 console_trouble_line(boot->console), where);
	else if (boot->protocol)
		end_with(boot, "protocol", "%s: %s",
			 boot->protocol->domain == GUEST_ERROR ? guest_error_name(boot->protocol->code) : "",
			 boot->protocol->message);
	else if (boot->failed_run)
		boot->result->reason = "benchmark-failed";
	else if (guest_stream_ended(boot->stream))
		boot->result->reason = "";
	else if (expired)
		end_with(boot, expired, "given up after %" G_GINT64_FORMAT " s (%s)", seconds, where);
	else if (state != VM_STOPPED)
		end_with(boot, SCHEDULE_LOST, state == VM_DIED ? "QEMU ended by itself or was killed" : "the connection to libvirt is lost");
	else if (!boot->result->hello)
		end_with(boot, "no-hello", "the guest stopped before it said hello");
	else
		end_with(boot, "truncated", "the guest stopped after %u lines, without its end line (%s)",
			 guest_stream_lines(boot->stream), where);
	if (!boot->result->detail)
		boot->result->detail = g_strdup("");
}

static gboolean is_over(Boot *boot, gint64 now)
{
	return boot->protocol || boot->failed_run || guest_stream_ended(boot->stream) ||
	       (boot->trouble_ns && now - boot->trouble_ns > LAST_WORDS_NS);
}

/* Follows the guest to its end. FALSE: the stage is to stop. */
static gboolean follow(Boot *boot, void (*tick)(gpointer), gpointer user, GError **error)
{
	g_autofree char *buffer = g_malloc(READ_BYTES);
	VmState state = VM_RUNNING;
	const char *expired = NULL;
	gboolean more = FALSE;

	while (state == VM_RUNNING && !expired && !is_over(boot, clock_ns(CLOCK_MONOTONIC))) {
		gint64 now = clock_ns(CLOCK_MONOTONIC), next;
		expired = watch_expired(&boot->watch, now, &next);
		guard_set(boot->setup->stage->guard, "what a guest says", CALLS_S);
		if (!expired)
			vm_wait(boot->vm, boot->setup->stage->stop_fd,
				more ? 0 : (int)MIN(TICK_MS, (next - now) / 1000000 + 1));
		if (stage_stopping(boot->setup->stage)) {
			g_set_error(error, CHILD_ERROR, CHILD_ERROR_STOPPED, "told to stop");
			return FALSE;
		}
		/* asked before the streams are read: what a guest said before it ended is read after */
		state = vm_state(boot->vm);
		more = read_results(boot, buffer);
		more = read_console(boot, buffer) || more;
		if (tick)
			tick(user);
	}
	while (state != VM_RUNNING && (read_results(boot, buffer) | read_console(boot, buffer)))
		continue;
	conclude(boot, state, expired);
	return TRUE;
}

/* ---- how it begins ---- */

typedef struct {
	char *name, *uuid, *initrd, *disk;	/* initrd and disk: files of this boot alone */
} BootFiles;

static void files_clear(const BootSetup *setup, BootFiles *files)
{
	HostStore *store = vm_host_store(setup->host);

	if (files->initrd)
		host_store_remove(store, files->initrd);
	if (files->disk)
		host_store_remove(store, files->disk);
	g_free(files->name);
	g_free(files->uuid);
	g_free(files->initrd);
	g_free(files->disk);
}

/* A UUID (version 8: made by an own rule) of run directory and boot, so that a boot done again is the same machine. */
static char *make_uuid(const char *run, int boot)
{
	g_autofree char *text = g_strdup_printf("regrlab uuid %s %d", run, boot);
	g_autofree char *hex = g_compute_checksum_for_string(G_CHECKSUM_SHA256, text, -1);

	return g_strdup_printf("%.8s-%.4s-8%.3s-8%.3s-%.12s", hex, hex + 8, hex + 12, hex + 15, hex + 18);
}

static gboolean make_files(const BootSetup *setup, int boot, const char *nonce, BootFiles *files, GError **error)
{
	HostStore *store = vm_host_store(setup->host);
	g_autofree char *plan = guest_plan_text(setup->plan, nonce, setup->clock);
	g_autofree char *number = boot < 0 ? g_strdup("probe") : g_strdup_printf("%d", boot);
	g_autoptr(GBytes) archive = guest_plan_cpio(plan);

	/* short: libvirt takes 20 characters of it for its sockets */
	files->name = g_strdup_printf("rl-%" G_GINT64_FORMAT "-%s-%.6s", setup->stage->spec->job, number, setup->run);
	files->uuid = make_uuid(setup->run, boot);
	files->initrd = host_store_put_joined(store, setup->stage->place->guest_image, archive, files->name, error);
	if (!files->initrd)
		return FALSE;
	if (setup->disk_template)
		files->disk = host_store_scratch(store, setup->disk_template, files->name, error);
	return files->disk || !setup->disk_template;
}

static Vm *start_vm(const BootSetup *setup, int boot, const char *kernel, const BootFiles *files, BootResult *result,
		    GError **error)
{
	const JobPlace *place = setup->stage->place;
	VmDescription description = {
		.name = files->name,
		.uuid = files->uuid,
		.lab = setup->lab,
		.run = setup->run,
		.job = setup->stage->spec->job,
		.boot = boot,
		.accelerator = setup->accelerator,
		.clock = setup->clock,
		.machine = BOOT_MACHINE,
		.memory_mib = setup->memory_mib,
		.cpus = place->guest_cpus,
		.placement = setup->placement,
		.kernel = kernel,
		.initrd = files->initrd,
		.cmdline = boot_cmdline(setup->accelerator),
		.disk = files->disk,
	};
	g_autoptr(Vm) vm = NULL;

	/* a QEMU that died before it ran a guest says nothing about the kernel, and as a rule the next one starts */
	for (int try = 1; !vm; try++) {
		g_autoptr(GError) problem = NULL;

		g_clear_pointer(&result->domain_xml, g_free);
		vm = vm_start(setup->host, &description, &result->domain_xml, &problem);
		if (vm)
			break;
		if (try == START_TRIES || stage_stopping(setup->stage)) {
			g_propagate_error(error, g_steal_pointer(&problem));
			return NULL;
		}
		stage_log(setup->stage, "%s: once more", problem->message);
	}
	return g_steal_pointer(&vm);
}

/* What was asked of libvirt, as the kernel has it. A QEMU that is gone is another matter. */
static gboolean is_in_place(Boot *boot)
{
	g_autoptr(GError) error = NULL;

	if (vm_check_pinning(boot->vm, &boot->result->threads, &error) || !g_error_matches(error, VM_ERROR, VM_ERROR_PINNING))
		return TRUE;
	end_with(boot, SCHEDULE_MISPLACED, "%s", error->message);
	return FALSE;
}

static void boot_clear(Boot *boot)
{
	vm_free(boot->vm);
	guest_stream_free(boot->stream);
	console_free(boot->console);
	g_clear_error(&boot->protocol);
	g_free(boot->last_log);
}

gboolean boot_once(const BootSetup *setup, int number, const char *kernel, void (*tick)(gpointer), gpointer user,
		   BootResult **ret_result, GError **error)
{
	char nonce[GUEST_NONCE_CHARS + 1];
	g_autoptr(BootResult) result = g_new0(BootResult, 1);
	Boot boot = { .setup = setup, .boot = number, .result = result };
	BootFiles files = { 0 };

	guard_set(setup->stage->guard, "putting a boot's files on the host, and starting it", START_S);
	guest_nonce(setup->stage->spec->seed, number, nonce);
	result->samples = g_array_new(FALSE, FALSE, sizeof(BootSample));
	result->counters = g_string_new(NULL);
	result->start_ns = clock_ns(CLOCK_REALTIME);
	gboolean done = make_files(setup, number, nonce, &files, error) &&
			(boot.vm = start_vm(setup, number, kernel, &files, result, error));
	if (done) {
		boot.stream = guest_stream_new(setup->plan, nonce);
		boot.console = console_new();
		watch_init(&boot.watch, &setup->limits, clock_ns(CLOCK_MONOTONIC));
		done = !is_in_place(&boot) || follow(&boot, tick, user, error);
	}
	if (done) {
		result->end_ns = clock_ns(CLOCK_REALTIME);
		result->console = console_text(boot.console);
		result->console_tail = console_tail(boot.console, BOOT_CONSOLE_TAIL);
		*ret_result = g_steal_pointer(&result);
	}
	guard_set(setup->stage->guard, "ending a virtual machine", CALLS_S);
	boot_clear(&boot);
	files_clear(setup, &files);
	guard_clear(setup->stage->guard);
	return done;
}
