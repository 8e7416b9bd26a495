/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "jobs/child-launch.h"

#include "jobs/spec/cpus.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define GRACE_S		2	/* between SIGTERM and SIGKILL: make removes what is half written */

void launch_close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

void launch_clear(Launch *launch)
{
	g_free(launch->path);
	g_strfreev(launch->argv);
	g_strfreev(launch->env);
	launch_close_fd(&launch->in);
	for (int i = 0; i < 2; i++) {
		launch_close_fd(&launch->out[i]);
		launch_close_fd(&launch->err[i]);
		launch_close_fd(&launch->report[i]);
	}
}
gboolean launch_error(GError **error, const char *program, const char *what, int number)
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

gboolean launch_prepare(Launch *launch, const ChildSpec *spec, GError **error)
{
	launch->path = find_program(spec->argv[0]);
	if (!launch->path)
		return launch_error(error, spec->argv[0], "", ENOENT);
	launch->argv = g_strdupv((char **)spec->argv);
	launch->env = build_environment(spec->env);
	launch->cwd = spec->cwd ? spec->cwd : "/";
	launch->nice = spec->nice;
	launch->keep_fd = spec->keep_fd;
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
		return launch_error(error, spec->argv[0], "descriptors", errno);
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

/* When memory is short the kernel takes a program of a stage before the daemon or a guest. */
static void prefer_for_oom(void)
{
	int fd = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);

	if (fd >= 0 && write(fd, "1000", 4) < 0)
		errno = 0;	/* no procfs, or refused: it is only a preference */
	if (fd >= 0)
		close(fd);
}

static void program_exec(const Launch *launch)
{
	struct sigaction by_default = { .sa_handler = SIG_DFL };
	sigset_t none;

	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (int number = 1; number < NSIG; number++)
		sigaction(number, &by_default, NULL);
	prefer_for_oom();
	if (dup2(launch->in, 0) < 0 || dup2(launch->out[1], 1) < 0 || dup2(launch->err[1], 2) < 0 ||
	    syscall(SYS_close_range, 3, ~0U, CLOSE_RANGE_CLOEXEC) < 0 ||
	    (launch->keep_fd > 0 && fcntl(launch->keep_fd, F_SETFD, 0) < 0) || chdir(launch->cwd) < 0 ||
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
 * What the program left behind and that is no longer in its group came to the
 * warden, its next ancestor that asked: the first process of a sandbox that
 * was killed, with whom all its processes end. Waits for that a while.
 */
static void wait_for_rest(const sigset_t *wanted)
{
	struct timespec grace = { .tv_sec = GRACE_S };
	pid_t pid;

	for (;;) {
		while ((pid = waitpid(-1, NULL, WNOHANG)) > 0)
			;
		if (pid < 0 || (sigtimedwait(wanted, NULL, &grace) < 0 && errno == EAGAIN))
			return;
	}
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
	prctl(PR_SET_CHILD_SUBREAPER, 1);
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
	wait_for_rest(&wanted);
	report_and_exit(launch->report[1], REPORT_ENDED, status);
}

pid_t launch_start(const Launch *launch)
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

