/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "jobs/child.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "jobs/child-launch.h"

#define READ_BYTES	65536
#define DRAIN_MS	500	/* for output still in the pipes after the end */

G_DEFINE_QUARK(regrlab-child-error, child_error)

void child_result_clear(ChildResult *result)
{
	g_clear_pointer(&result->output, g_free);
	g_clear_pointer(&result->errors, g_free);
}

typedef struct {
	const ChildSpec *spec;
	GString *output, *errors;
	gboolean output_cut;
	gsize seen;	/* bytes of both streams */
} Reader;

/* FALSE at the end of the stream. */
static gboolean read_some(Reader *reader, int fd, gboolean is_error)
{
	char data[READ_BYTES];
	ssize_t size = read(fd, data, sizeof(data));

	if (size < 0)
		return errno == EINTR || errno == EAGAIN;
	if (size == 0)
		return FALSE;

	reader->seen += (gsize)size;
	GString *kept = is_error ? reader->errors : reader->output;
	gsize most = is_error ? CHILD_ERRORS_BYTES
			      : (reader->spec->max_output_bytes ? reader->spec->max_output_bytes : CHILD_OUTPUT_BYTES);
	gsize room = most - MIN(most, kept->len);
	g_string_append_len(kept, data, (gssize)MIN(room, (gsize)size));
	if (!is_error && (gsize)size > room)
		reader->output_cut = TRUE;
	if (reader->spec->sink)
		reader->spec->sink(data, (gsize)size, is_error, reader->spec->sink_data);
	return TRUE;
}

/* A program that runs, and for what it is ended if it is. */
typedef struct {
	Launch *launch;
	pid_t pid;	/* of the warden */
	Reader *reader;
	Report report;
	gboolean reported;
	gint64 until_us, watch_us;	/* monotonic: the deadline; the next look of spec->watch */
	int killed;	/* 0, or 1 + the ChildError */
	char *why;	/* of CHILD_ERROR_LIMIT */
} Run;

static int wait_ms(const Run *run)
{
	gint64 until_us = run->reported || run->killed ? run->until_us : MIN(run->until_us, run->watch_us);

	if (until_us == G_MAXINT64)
		return -1;
	gint64 left_us = until_us - g_get_monotonic_time();
	return left_us <= 0 ? 0 : (int)MIN(left_us / 1000 + 1, G_MAXINT);
}

static void end_program(Run *run, ChildError reason)
{
	run->killed = 1 + (int)reason;
	run->until_us = G_MAXINT64;
	kill(run->pid, SIGTERM);
}

/* Whether it may go on. By the clock, not by silence: a program that never stops printing has a deadline too. */
static void check_limits(Run *run, gboolean told_to_stop)
{
	const ChildSpec *spec = run->reader->spec;
	gint64 now_us = g_get_monotonic_time();

	if (run->killed || run->reported)
		return;
	if (spec->watch && now_us >= run->watch_us) {
		run->why = spec->watch(run->pid, spec->watch_data);
		run->watch_us = now_us + CHILD_WATCH_MS * 1000;
	}
	if (!run->why && spec->max_stream_bytes && run->reader->seen > spec->max_stream_bytes)
		run->why = g_strdup_printf("it printed more than %" G_GSIZE_FORMAT " MiB", spec->max_stream_bytes >> 20);
	if (told_to_stop)
		end_program(run, CHILD_ERROR_STOPPED);
	else if (run->why)
		end_program(run, CHILD_ERROR_LIMIT);
	else if (now_us >= run->until_us)
		end_program(run, CHILD_ERROR_TIMEOUT);
}

static void take_report(Run *run)
{
	if (read(run->launch->report[0], &run->report, sizeof(run->report)) != sizeof(run->report))
		run->report = (Report){ REPORT_NOT_STARTED, ECHILD };	/* the warden was killed */
	run->reported = TRUE;
	run->until_us = g_get_monotonic_time() + DRAIN_MS * 1000;
}

/* Reads output until the warden has reported and the pipes are at their end. */
static void supervise(Run *run)
{
	const ChildSpec *spec = run->reader->spec;
	Launch *launch = run->launch;

	while (!run->reported || launch->out[0] >= 0 || launch->err[0] >= 0) {
		struct pollfd fds[] = {
			{ .fd = launch->out[0], .events = POLLIN },
			{ .fd = launch->err[0], .events = POLLIN },
			{ .fd = run->reported ? -1 : launch->report[0], .events = POLLIN },
			{ .fd = spec->stop_fd > 0 && !run->killed && !run->reported ? spec->stop_fd : -1, .events = POLLIN },
		};

		if (poll(fds, G_N_ELEMENTS(fds), wait_ms(run)) < 0)
			continue;
		if (run->reported && g_get_monotonic_time() >= run->until_us)
			break;	/* somebody who left the group holds a pipe open */
		check_limits(run, fds[3].revents != 0);
		if (fds[0].revents && !read_some(run->reader, launch->out[0], FALSE))
			launch_close_fd(&launch->out[0]);
		if (fds[1].revents && !read_some(run->reader, launch->err[0], TRUE))
			launch_close_fd(&launch->err[0]);
		if (fds[2].revents)
			take_report(run);
	}
}

static gboolean end_error(const ChildSpec *spec, const char *name, const Run *run, GError **error)
{
	if (run->killed == 1 + CHILD_ERROR_TIMEOUT)
		g_set_error(error, CHILD_ERROR, CHILD_ERROR_TIMEOUT, "%s did not end within %.1f s and was killed", name,
			    (double)spec->timeout_ms / 1000);
	else if (run->killed == 1 + CHILD_ERROR_LIMIT)
		g_set_error(error, CHILD_ERROR, CHILD_ERROR_LIMIT, "%s was killed: %s", name, run->why);
	else if (run->killed)
		g_set_error(error, CHILD_ERROR, CHILD_ERROR_STOPPED, "%s was stopped", name);
	else if (run->report.value == ECHILD)
		g_set_error(error, CHILD_ERROR, CHILD_ERROR_KILLED, "%s's warden was killed", name);
	else
		launch_error(error, name, "", run->report.value);
	return FALSE;
}

gboolean child_run(const ChildSpec *spec, ChildResult *ret_result, GError **error)
{
	const char *name = spec->name ? spec->name : spec->argv[0];
	g_auto(Launch) launch = LAUNCH_INIT;
	gint64 start_us = g_get_monotonic_time();

	if (!launch_prepare(&launch, spec, error))
		return FALSE;
	pid_t pid = launch_start(&launch);
	if (pid < 0)
		return launch_error(error, name, "fork", errno);
	launch_close_fd(&launch.out[1]);
	launch_close_fd(&launch.err[1]);
	launch_close_fd(&launch.report[1]);

	g_autoptr(GString) output = g_string_new(NULL);
	g_autoptr(GString) errors = g_string_new(NULL);
	Reader reader = { .spec = spec, .output = output, .errors = errors };
	Run run = {
		.launch = &launch,
		.pid = pid,
		.reader = &reader,
		.until_us = spec->timeout_ms > 0 ? start_us + spec->timeout_ms * 1000 : G_MAXINT64,
		.watch_us = spec->watch ? start_us + CHILD_WATCH_MS * 1000 : G_MAXINT64,
	};

	supervise(&run);
	g_autofree char *why G_GNUC_UNUSED = run.why;	/* freed here */
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	if (run.killed || run.report.kind != REPORT_ENDED)
		return end_error(spec, name, &run, error);

	int status = run.report.value;
	*ret_result = (ChildResult){
		.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status),
		.output_bytes = output->len,
		.output_cut = reader.output_cut,
		.run_ms = (g_get_monotonic_time() - start_us) / 1000,
	};
	ret_result->output = g_string_free(g_steal_pointer(&output), FALSE);
	ret_result->errors = g_string_free(g_steal_pointer(&errors), FALSE);
	return TRUE;
}

gboolean child_check(const ChildSpec *spec, const ChildResult *result, GError **error)
{
	if (result->status == 0)
		return TRUE;

	g_autofree char *text = g_strdup(result->errors);
	g_strchomp(text);
	const char *line = strrchr(text, '\n');
	g_set_error(error, CHILD_ERROR, CHILD_ERROR_FAILED, "%s exited with %d: %s", spec->argv[0], result->status,
		    *text ? (line ? line + 1 : text) : "it said nothing");
	return FALSE;
}
