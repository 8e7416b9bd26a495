/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "jobs/child.h"

#include "jobs/spec/cpus.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define READ_BYTES	65536
#define DRAIN_MS	500	/* for output still in the pipes after the end */
#define GRACE_S		2	/* between SIGTERM and SIGKILL: make removes what is half written */

G_DEFINE_QUARK(regrlab-child-error, child_error)

/* What the warden says on its pipe: exactly one of these. */
typedef struct {
	enum { REPORT_NOT_STARTED = 1, REPORT_ENDED } kind;
	int value;	/* errno, or the status of waitpid() */
} Report;

/* Everything that is prepared before the fork, because nothing may be allocated after it. */
typedef struct {
	char *path;
	char **argv;
	char **env;
	const char *cwd;
	int nice;
	cpu_set_t cpus;
	gboolean has_cpus;
	int in, out[2], err[2], report[2];
	pid_t parent;
} Launch;

void child_result_clear(ChildResult *result)
{
	g_clear_pointer(&result->output, g_free);
	g_clear_pointer(&result->errors, g_free);
}

static void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

static void launch_clear(Launch *launch)
{
	g_free(launch->path);
	g_strfreev(launch->argv);
	g_strfreev(launch->env);
	close_fd(&launch->in);
	for (int i = 0; i < 2; i++) {
		close_fd(&launch->out[i]);
		close_fd(&launch->err[i]);
		close_fd(&launch->report[i]);
	}
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Launch, launch_clear)

static gboolean start_error(GError **error, const char *program, const char *what, int number)
{
	g_set_error(error, CHILD_ERROR, CHILD_ERROR_START, "cannot run %s: %s%s%s", program, what, *what ? ": " : "",
		    g_strerror(number));
	return FALSE;
}

static char *find_program(const char *name)
{
	if (strchr(name, '/'))
		return g_strdup(name);

	g_auto(GStrv) folders = g_strsplit(CHILD_PATH, ":", 0);
	for (char **folder = folders; *folder; folder++) {
		g_autofree char *path = g_build_filename(*folder, name, NULL);
		if (access(path, X_OK) == 0)
			return g_steal_pointer(&path);
	}
	return NULL;
}

static char **build_environment(const char *const *extra)
{
	g_autoptr(GPtrArray) env = g_ptr_array_new();

	g_ptr_array_add(env, g_strdup("PATH=" CHILD_PATH));
	g_ptr_array_add(env, g_strdup("HOME=/nonexistent"));
	g_ptr_array_add(env, g_strdup("LC_ALL=C"));
	g_ptr_array_add(env, g_strdup("TZ=UTC"));
	for (; extra && *extra; extra++)
		g_ptr_array_add(env, g_strdup(*extra));
	g_ptr_array_add(env, NULL);
	return (char **)g_ptr_array_free(g_steal_pointer(&env), FALSE);
}

/* stdin is a file in memory, so nobody has to write while output is read. */
static int open_input(const char *input, gsize size)
{
	if (!input)
		return open("/dev/null", O_RDONLY | O_CLOEXEC);

	int fd = memfd_create("input", MFD_CLOEXEC);
	while (fd >= 0 && size > 0) {
		ssize_t written = write(fd, input, size);
		if (written < 0 && errno == EINTR)
			continue;
		if (written < 0) {
			close(fd);
			return -1;
		}
		input += written;
		size -= (gsize)written;
	}
	if (fd >= 0)
		lseek(fd, 0, SEEK_SET);
	return fd;
}

static gboolean launch_prepare(Launch *launch, const ChildSpec *spec, GError **error)
{
	launch->path = find_program(spec->argv[0]);
	if (!launch->path)
		return start_error(error, spec->argv[0], "", ENOENT);
	launch->argv = g_strdupv((char **)spec->argv);
	launch->env = build_environment(spec->env);
	launch->cwd = spec->cwd ? spec->cwd : "/";
	launch->nice = spec->nice;
	launch->parent = getpid();

	if (spec->cpus && *spec->cpus) {
		g_autoptr(GArray) cpus = NULL;
		if (!cpu_list_parse(spec->cpus, &cpus, error))
			return FALSE;
		CPU_ZERO(&launch->cpus);
		for (guint i = 0; i < cpus->len; i++)
			CPU_SET(g_array_index(cpus, int, i), &launch->cpus);
		launch->has_cpus = TRUE;
	}
	launch->in = open_input(spec->input, spec->input_bytes);
	if (launch->in < 0 || pipe2(launch->out, O_CLOEXEC) < 0 || pipe2(launch->err, O_CLOEXEC) < 0 ||
	    pipe2(launch->report, O_CLOEXEC) < 0)
		return start_error(error, spec->argv[0], "descriptors", errno);
	return TRUE;
}

/* ---- after the fork: async-signal-safe calls only ---- */

static void report_and_exit(int fd, int kind, int value)
{
	Report report = { .kind = kind, .value = value };

	if (write(fd, &report, sizeof(report)) < 0)
		_exit(1);
	_exit(0);
}

static void program_exec(const Launch *launch)
{
	struct sigaction by_default = { .sa_handler = SIG_DFL };
	sigset_t none;

	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (int number = 1; number < NSIG; number++)
		sigaction(number, &by_default, NULL);
	if (dup2(launch->in, 0) < 0 || dup2(launch->out[1], 1) < 0 || dup2(launch->err[1], 2) < 0 ||
	    syscall(SYS_close_range, 3, ~0U, CLOSE_RANGE_CLOEXEC) < 0 || chdir(launch->cwd) < 0 ||
	    (launch->has_cpus && sched_setaffinity(0, sizeof(launch->cpus), &launch->cpus) < 0))
		report_and_exit(launch->report[1], REPORT_NOT_STARTED, errno);
	errno = 0;
	if (launch->nice && nice(launch->nice) == -1 && errno)
		report_and_exit(launch->report[1], REPORT_NOT_STARTED, errno);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	execve(launch->path, launch->argv, launch->env);
	report_and_exit(launch->report[1], REPORT_NOT_STARTED, errno);
}

/* It is left a zombie. */
static gboolean has_ended(pid_t program)
{
	siginfo_t info = { 0 };

	return waitid(P_PID, (id_t)program, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == program;
}

/*
 * The warden: starts the program and waits for its end, or for SIGTERM from
 * the stage or, when the stage dies, from the kernel. All signals are blocked.
 */
static void warden(const Launch *launch)
{
	struct sigaction by_default = { .sa_handler = SIG_DFL };
	gboolean told = FALSE;	/* to end */
	sigset_t wanted;
	int status;

	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != launch->parent)
		_exit(1);
	sigaction(SIGCHLD, &by_default, NULL);

	pid_t program = _Fork();
	if (program < 0)
		report_and_exit(launch->report[1], REPORT_NOT_STARTED, errno);
	if (program == 0)
		program_exec(launch);
	setpgid(program, program);
	close(launch->out[1]);
	close(launch->err[1]);

	sigemptyset(&wanted);
	sigaddset(&wanted, SIGTERM);
	sigaddset(&wanted, SIGCHLD);
	while (!has_ended(program)) {
		struct timespec grace = { .tv_sec = GRACE_S };
		int number = told ? sigtimedwait(&wanted, NULL, &grace) : sigwaitinfo(&wanted, NULL);
		if (number == SIGTERM && !told)
			kill(-program, SIGTERM);
		else if (number != SIGCHLD)
			kill(-program, SIGKILL);
		told |= number == SIGTERM;
	}
	/* before it is reaped: until then nobody else can get its number */
	kill(-program, SIGKILL);
	waitpid(program, &status, 0);
	report_and_exit(launch->report[1], REPORT_ENDED, status);
}

/* ---- the caller's side ---- */

static pid_t launch_start(const Launch *launch)
{
	sigset_t all, before;

	/* nothing of ours may be handled between fork and exec */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	pid_t pid = _Fork();
	if (pid == 0)
		warden(launch);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return pid;
}

typedef struct {
	const ChildSpec *spec;
	GString *output, *errors;
	gboolean output_cut;
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

static int wait_ms(gint64 until_us)
{
	if (until_us == G_MAXINT64)
		return -1;
	gint64 left_us = until_us - g_get_monotonic_time();
	return left_us <= 0 ? 0 : (int)MIN(left_us / 1000 + 1, G_MAXINT);
}

/*
 * Reads output until the warden has reported and the pipes are at their end.
 * Returns 0, or the ChildError for which the program was killed, plus 1.
 */
static int supervise(Launch *launch, pid_t pid, Reader *reader, Report *ret_report)
{
	const ChildSpec *spec = reader->spec;
	gint64 until_us = spec->timeout_ms > 0 ? g_get_monotonic_time() + spec->timeout_ms * 1000 : G_MAXINT64;
	gboolean reported = FALSE;
	int killed = 0;

	while (!reported || launch->out[0] >= 0 || launch->err[0] >= 0) {
		struct pollfd fds[] = {
			{ .fd = launch->out[0], .events = POLLIN },
			{ .fd = launch->err[0], .events = POLLIN },
			{ .fd = reported ? -1 : launch->report[0], .events = POLLIN },
			{ .fd = spec->stop_fd > 0 && !killed && !reported ? spec->stop_fd : -1, .events = POLLIN },
		};
		int ready = poll(fds, G_N_ELEMENTS(fds), wait_ms(until_us));

		if (ready < 0)
			continue;
		if (ready == 0 && reported)
			break;	/* somebody who left the group holds a pipe open */
		if ((ready == 0 || fds[3].revents) && !killed) {
			killed = 1 + (ready == 0 ? CHILD_ERROR_TIMEOUT : CHILD_ERROR_STOPPED);
			kill(pid, SIGTERM);
			until_us = G_MAXINT64;
		}
		if (fds[0].revents && !read_some(reader, launch->out[0], FALSE))
			close_fd(&launch->out[0]);
		if (fds[1].revents && !read_some(reader, launch->err[0], TRUE))
			close_fd(&launch->err[0]);
		if (fds[2].revents) {
			if (read(launch->report[0], ret_report, sizeof(*ret_report)) != sizeof(*ret_report))
				*ret_report = (Report){ REPORT_NOT_STARTED, ECHILD };	/* the warden was killed */
			reported = TRUE;
			until_us = g_get_monotonic_time() + DRAIN_MS * 1000;
		}
	}
	return killed;
}

gboolean child_run(const ChildSpec *spec, ChildResult *ret_result, GError **error)
{
	g_auto(Launch) launch = { .in = -1, .out = { -1, -1 }, .err = { -1, -1 }, .report = { -1, -1 } };
	gint64 start_us = g_get_monotonic_time();

	if (!launch_prepare(&launch, spec, error))
		return FALSE;
	pid_t pid = launch_start(&launch);
	if (pid < 0)
		return start_error(error, spec->argv[0], "fork", errno);
	close_fd(&launch.out[1]);
	close_fd(&launch.err[1]);
	close_fd(&launch.report[1]);

	g_autoptr(GString) output = g_string_new(NULL);
	g_autoptr(GString) errors = g_string_new(NULL);
	Reader reader = { .spec = spec, .output = output, .errors = errors };
	Report report;
	int killed = supervise(&launch, pid, &reader, &report);

	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
	if (killed == 1 + CHILD_ERROR_TIMEOUT) {
		g_set_error(error, CHILD_ERROR, CHILD_ERROR_TIMEOUT, "%s did not end within %.1f s and was killed",
			    spec->argv[0], (double)spec->timeout_ms / 1000);
		return FALSE;
	}
	if (killed) {
		g_set_error(error, CHILD_ERROR, CHILD_ERROR_STOPPED, "%s was stopped", spec->argv[0]);
		return FALSE;
	}
	if (report.kind != REPORT_ENDED)
		return start_error(error, spec->argv[0], "", report.value);

	*ret_result = (ChildResult){
		.status = WIFEXITED(report.value) ? WEXITSTATUS(report.value) : 128 + WTERMSIG(report.value),
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
