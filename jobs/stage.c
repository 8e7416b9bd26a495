/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "jobs/stage.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "jobs/spec/room.h"
#include "jobs/spec/text.h"

#define HOST_DOWN		"host-down"	/* the event */
#define PROGRESS_EVERY_NS	(G_GINT64_CONSTANT(1000000000))

struct StageLog {
	int fd;
	gint64 size;	/* of the file */
	TextStream text;
};

struct StageFailure {
	char *state, *reason, *arm, *message;
	JsonObject *detail;	/* NULL: none */
};

/* A signal handler has no argument: this pipe is how it speaks. Written once, by stop_prepare(). */
static int stop_pipe[2] = { -1, -1 };

static void on_stop(int number G_GNUC_UNUSED)
{
	int saved_errno = errno;

	alarm(STAGE_STOP_S);
	if (write(stop_pipe[1], "", 1) < 0)
		errno = 0;	/* full: it is readable already */
	errno = saved_errno;
}

/* The stage did not come back in time. The wardens of its programs end with it. */
static void on_alarm(int number G_GNUC_UNUSED)
{
	_exit(STAGE_EXIT_STOPPED);
}

/* The daemon died before this process could ask to be told. */
static gboolean is_orphan(void)
{
	const char *parent = g_getenv(STAGE_PARENT_VARIABLE);

	return parent && g_ascii_strtoll(parent, NULL, 10) != getppid();
}

static gboolean stop_prepare(GError **error)
{
	struct sigaction stop = { .sa_handler = on_stop, .sa_flags = SA_RESTART };
	struct sigaction late = { .sa_handler = on_alarm };
	struct sigaction ignore = { .sa_handler = SIG_IGN };

	if (stop_pipe[0] < 0 && pipe2(stop_pipe, O_CLOEXEC | O_NONBLOCK) < 0)
		return spec_error_set(error, SPEC_ERROR_IO, NULL, "no pipe: %s", g_strerror(errno));
	sigaction(SIGTERM, &stop, NULL);
	sigaction(SIGINT, &stop, NULL);
	sigaction(SIGALRM, &late, NULL);
	sigaction(SIGPIPE, &ignore, NULL);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (is_orphan())
		return spec_error_set(error, SPEC_ERROR_IO, NULL, "who started this has died");
	return TRUE;
}

gboolean stage_stopping(StageContext *stage)
{
	struct pollfd fd = { .fd = stage->stop_fd, .events = POLLIN };

	if (poll(&fd, 1, 0) > 0)
		stage->stopped = TRUE;
	return stage->stopped;
}

/* ---- the log ---- */

static StageLog *log_open(const char *dir, GError **error)
{
	g_autofree char *path = g_build_filename(dir, "log", NULL);
	int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
	struct stat status;

	if (fd < 0 || fstat(fd, &status) < 0) {
		spec_error_set(error, SPEC_ERROR_IO, NULL, "cannot open %s: %s", path, g_strerror(errno));
		if (fd >= 0)
			close(fd);
		return NULL;
	}
	StageLog *log = g_new0(StageLog, 1);
	log->fd = fd;
	log->size = status.st_size;
	return log;
}

static void log_close(StageLog *log)
{
	if (!log)
		return;
	close(log->fd);
	g_free(log);
}

/* The log is for people: if it cannot be written the job goes on without it. */
static void log_write(StageLog *log, const char *data, gsize size)
{
	while (size > 0) {
		ssize_t written = write(log->fd, data, size);
		if (written < 0 && errno == EINTR)
			continue;
		if (written < 0)
			return;
		log->size += written;
		data += written;
		size -= (gsize)written;
	}
}

/* A person reads it in a terminal: no NUL, no escape sequences. */
static void log_text(StageLog *log, const char *data, gsize size)
{
	g_autoptr(GString) text = g_string_sized_new(size);

	text_stream_add(&log->text, data, size, text);
	log_write(log, text->str, text->len);
}

void stage_log_bytes(StageContext *stage, const char *data, gsize size)
{
	static const char full[] = "\n[the log is full: what comes after this line is not kept]\n";
	StageLog *log = stage->log;

	if (log->size >= STAGE_LOG_MAX_BYTES)
		return;
	gsize room = (gsize)(STAGE_LOG_MAX_BYTES - log->size);
	log_text(log, data, MIN(size, room));
	if (size >= room)
		log_write(log, full, sizeof(full) - 1);
}

void stage_log(StageContext *stage, const char *format, ...)
{
	g_autoptr(GString) line = g_string_new(NULL);
	va_list args;

	va_start(args, format);
	g_string_append_vprintf(line, format, args);
	va_end(args);
	g_string_append_c(line, '\n');
	stage_log_bytes(stage, line->str, line->len);
}

/* ---- events ---- */

gboolean stage_event(StageContext *stage, const char *type, JsonObject *members, gboolean durable)
{
	g_autoptr(GError) error = NULL;

	if (event_log_append(stage->events, type, members, durable, &error))
		return TRUE;
	return stage_fail_error(stage, "run-directory", g_steal_pointer(&error));
}

static gint64 now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * G_GINT64_CONSTANT(1000000000) + now.tv_nsec;
}

void stage_progress(StageContext *stage, const char *step, gint64 done, gint64 total, gint64 eta_s)
{
	gboolean new_step = g_strcmp0(step, stage->step) != 0;
	gint64 now = now_ns();

	if (!new_step && now - stage->progress_ns < PROGRESS_EVERY_NS)
		return;
	if (new_step) {
		g_free(stage->step);
		stage->step = g_strdup(step);
		stage_log(stage, "== %s", step);
	}
	stage->progress_ns = now;

	JsonObject *members = json_object_new();
	json_object_set_string_member(members, "stage", stage->name);
	json_object_set_string_member(members, "step", step);
	json_object_set_int_member(members, "done", done);
	json_object_set_int_member(members, "total", total);
	json_object_set_int_member(members, "eta_s", eta_s);
	stage_event(stage, "progress", members, FALSE);
}

/* ---- the end ---- */

static void failure_free(StageFailure *failure)
{
	if (!failure)
		return;
	g_free(failure->state);
	g_free(failure->reason);
	g_free(failure->arm);
	g_free(failure->message);
	g_clear_pointer(&failure->detail, json_object_unref);
	g_free(failure);
}

gboolean stage_fail(StageContext *stage, const char *state, const char *reason, const char *arm, JsonObject *detail,
		    const char *format, ...)
{
	g_autoptr(JsonObject) owned = detail;
	va_list args;

	if (stage->failure)
		return FALSE;
	va_start(args, format);
	stage->failure = g_new0(StageFailure, 1);
	stage->failure->state = g_strdup(state);
	stage->failure->reason = g_strdup(reason);
	stage->failure->arm = g_strdup(arm);
	stage->failure->message = g_strdup_vprintf(format, args);
	stage->failure->detail = g_steal_pointer(&owned);
	va_end(args);
	stage_log(stage, "== %s: %s", state, stage->failure->message);
	return FALSE;
}

gboolean stage_fail_error(StageContext *stage, const char *reason, GError *error)
{
	if (g_error_matches(error, CHILD_ERROR, CHILD_ERROR_STOPPED))
		stage->stopped = TRUE;
	else if (g_error_matches(error, CHILD_ERROR, CHILD_ERROR_KILLED)) {
		stage->interrupted = TRUE;
		stage_log(stage, "== %s: it has to be done again", error->message);
	} else if (g_error_matches(error, CHILD_ERROR, CHILD_ERROR_SANDBOX))
		stage_fail(stage, "infra-failed", "sandbox", "", NULL, "%s", error->message);
	else
		stage_fail(stage, "infra-failed", reason, "", NULL, "%s", error->message);
	g_error_free(error);
	return FALSE;
}

gboolean stage_host_down(StageContext *stage, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	g_autofree char *message = g_strdup_vprintf(format, args);
	va_end(args);
	return stage_fail(stage, HOST_DOWN, "", "", NULL, "%s", message);
}

static gboolean write_host_down(StageContext *stage, GError **error)
{
	JsonObject *members = json_object_new();

	json_object_set_string_member(members, "host", stage->place->host);
	json_object_set_string_member(members, "message", stage->failure->message);
	return event_log_append(stage->events, HOST_DOWN, members, TRUE, error);
}

static JsonObject *end_members(const StageFailure *failure, gboolean ok, const char *state, const char *message)
{
	JsonObject *members = json_object_new();

	json_object_set_string_member(members, "state", ok ? state : failure->state);
	json_object_set_string_member(members, "reason", ok ? "" : failure->reason);
	json_object_set_string_member(members, "message", ok ? message : failure->message);
	json_object_set_string_member(members, "arm", ok ? "" : failure->arm);
	json_object_set_object_member(members, "detail", !ok && failure->detail ? json_object_ref(failure->detail)
										 : json_object_new());
	return members;
}

/* What fails on a full disk is no finding. */
static gboolean has_room(StageContext *stage)
{
	const char *const folders[] = { stage->dir, stage->place->cache_dir, g_get_tmp_dir() };

	for (gsize i = 0; i < G_N_ELEMENTS(folders); i++) {
		g_autofree char *words = NULL;

		if (*folders[i] && room_probe(folders[i], &words) != ROOM_OK && g_file_test(folders[i], G_FILE_TEST_IS_DIR)) {
			stage_log(stage, "== %s: it has to be done again", words);
			return FALSE;
		}
	}
	return TRUE;
}

int stage_finish(StageContext *stage, gboolean ok, const char *state, const char *message)
{
	if (stage->ended)
		return STAGE_EXIT_ENDED;
	if (!ok && (stage->stopped || stage_stopping(stage))) {
		stage_log(stage, "== stopped");
		return STAGE_EXIT_STOPPED;
	}
	if (!ok && !has_room(stage))
		stage->interrupted = TRUE;
	if (!ok && stage->interrupted) {
		g_printerr("regrlab-job: %s: not ended, but interrupted\n", stage->dir);
		return STAGE_EXIT_BROKEN;
	}
	g_assert(ok || stage->failure);

	g_autoptr(GError) error = NULL;
	gboolean host_down = !ok && g_str_equal(stage->failure->state, HOST_DOWN);
	if (host_down && write_host_down(stage, &error))
		return STAGE_EXIT_HOST;
	if (host_down || !event_log_append(stage->events, "end", end_members(stage->failure, ok, state, message), TRUE, &error)) {
		g_printerr("regrlab-job: %s: %s\n", stage->dir, error->message);
		return STAGE_EXIT_BROKEN;
	}
	stage->ended = TRUE;
	return STAGE_EXIT_ENDED;
}

/* ---- programs ---- */

typedef struct {
	StageContext *stage;
	const ChildSpec *spec;
} Tee;

static void copy_out(const char *data, gsize size, gboolean is_error, gpointer user)
{
	Tee *to = user;

	stage_log_bytes(to->stage, data, size);
	if (to->spec->sink)
		to->spec->sink(data, size, is_error, to->spec->sink_data);
}

static void log_command(StageContext *stage, const ChildSpec *spec)
{
	g_autoptr(GString) line = g_string_new("$");

	for (const char *const *arg = spec->argv; *arg; arg++) {
		g_autofree char *quoted = strpbrk(*arg, " \t\n\"'\\$*?") || !**arg ? g_shell_quote(*arg) : g_strdup(*arg);
		g_string_append_printf(line, " %s", quoted);
	}
	stage_log(stage, "%s", line->str);
}

Sandbox *stage_sandbox(StageContext *stage, GError **error)
{
	if (!stage->sandbox)
		stage->sandbox = sandbox_new(stage->place, error);
	return stage->sandbox;
}

gboolean stage_run(StageContext *stage, const ChildSpec *spec, const SandboxView *view, ChildResult *ret_result,
		   GError **error)
{
	Tee to = { stage, spec };
	ChildSpec wrapped = *spec;

	if (!stage_sandbox(stage, error))
		return FALSE;
	log_command(stage, spec);
	wrapped.stop_fd = stage->stop_fd;
	wrapped.sink = copy_out;
	wrapped.sink_data = &to;
	if (!sandbox_run(stage->sandbox, &wrapped, view, ret_result, error))
		return FALSE;
	if (ret_result->status != 128 + SIGKILL)
		return TRUE;
	child_result_clear(ret_result);
	*ret_result = (ChildResult){ 0 };
	g_set_error(error, CHILD_ERROR, CHILD_ERROR_KILLED, "%s was killed", spec->argv[0]);
	return FALSE;
}

/* ---- opening and closing ---- */

static gboolean note_end(gint64 seq G_GNUC_UNUSED, const char *type, JsonObject *object, gpointer data,
			 GError **error G_GNUC_UNUSED)
{
	StageContext *stage = data;

	if (g_str_equal(type, "more")) {
		stage->ended = FALSE;
		stage->more_boots = json_object_get_int_member_with_default(object, "more_boots", 0);
	} else if (g_str_equal(type, "end"))
		stage->ended = g_str_equal(stage->name, "build") ||
			       !g_str_equal(json_object_get_string_member_with_default(object, "state", ""), "built");
	return TRUE;
}

static gboolean take_lock(StageContext *stage, int *ret_exit, GError **error)
{
	g_autofree char *path = g_build_filename(stage->dir, "lock", NULL);

	stage->lock_fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
	if (stage->lock_fd < 0)
		return spec_error_set(error, SPEC_ERROR_IO, NULL, "cannot open %s: %s", path, g_strerror(errno));
	if (flock(stage->lock_fd, LOCK_EX | LOCK_NB) < 0) {
		*ret_exit = STAGE_EXIT_LOCKED;
		return spec_error_set(error, SPEC_ERROR_IO, NULL, "another stage works in %s", stage->dir);
	}
	return TRUE;
}

static gboolean open_all(StageContext *stage, int *ret_exit, GError **error)
{
	gint64 offset = 0;

	if (!stop_prepare(error) || !take_lock(stage, ret_exit, error))
		return FALSE;
	stage->stop_fd = stop_pipe[0];
	if (g_mkdir_with_parents(stage->artifacts, 0755) < 0)
		return spec_error_set(error, SPEC_ERROR_IO, NULL, "cannot make %s: %s", stage->artifacts,
				      g_strerror(errno));
	stage->log = log_open(stage->dir, error);
	if (!stage->log)
		return FALSE;
	stage->events = event_log_open(stage->dir, error);
	if (!stage->events || !event_read(stage->dir, &offset, 0, note_end, stage, error) ||
	    !job_spec_load(stage->dir, &stage->spec, error) || !job_place_load(stage->dir, &stage->place, error))
		return FALSE;
	/* boots were added since */
	if (g_str_equal(stage->name, "measure") && stage->spec->more_boots > stage->more_boots)
		stage->ended = FALSE;
	return TRUE;
}

gboolean stage_open(const char *name, const char *dir, StageContext **ret_stage, int *ret_exit, GError **error)
{
	g_autoptr(StageContext) stage = g_new0(StageContext, 1);

	stage->name = name;
	stage->dir = g_canonicalize_filename(dir, NULL);
	stage->artifacts = g_build_filename(stage->dir, "artifacts", NULL);
	stage->lock_fd = -1;
	*ret_exit = STAGE_EXIT_BROKEN;
	if (!open_all(stage, ret_exit, error))
		return FALSE;
	*ret_stage = g_steal_pointer(&stage);
	return TRUE;
}

void stage_close(StageContext *stage)
{
	if (!stage)
		return;
	event_log_close(stage->events);
	log_close(stage->log);
	job_spec_free(stage->spec);
	job_place_free(stage->place);
	failure_free(stage->failure);
	sandbox_free(stage->sandbox);
	guard_free(stage->guard);
	if (stage->lock_fd >= 0)
		close(stage->lock_fd);
	g_free(stage->step);
	g_free(stage->artifacts);
	g_free(stage->dir);
	g_free(stage);
}
