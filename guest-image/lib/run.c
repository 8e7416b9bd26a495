/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "run.h"

#include "bench.h"
#include "counters.h"
#include "files.h"
#include "guest.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	SAMPLES_FD = 3,
	TIMED_OUT = -1,
	LOG_BYTES_MAX = 65536,          /* of a program's output, sent on */
	COUNTERS_SENT_MAX = 240,
	LINE_MAX_BYTES = 2048,          /* of a program's sample or output */
};

struct job {
	struct port *port;
	const struct plan_run *run;
	char cgroup[64];                /* the run's own; its path was in use by no run before (see run.h) */
};

/* What comes through one pipe from the program, cut into lines. */
struct stream {
	int fd;                         /* -1: closed */
	void (*take)(const struct job *job, struct stream *stream, const char *line, size_t length);
	char line[LINE_MAX_BYTES];
	size_t length, sent;            /* sent: bytes of all lines */
	bool bad;                       /* a line that could not be sent on */
};

static void begin(const struct job *job, const char *type)
{
	struct port *port = job->port;
	const struct plan_run *run = job->run;

	port_begin(port, type);
	port_text(port, "benchmark", run->benchmark);
	port_text(port, "params", run->params);
	port_number(port, "run", run->run);
}

static bool printable(const char *text, size_t length)
{
	for (size_t i = 0; i < length; i++)
		if (text[i] < ' ' || text[i] > '~')
			return false;
	return true;
}

/* {"pass":…} from the program becomes our line with the run's members before it. */
static void take_sample(const struct job *job, struct stream *stream, const char *line, size_t length)
{
	if (length >= 3 && line[0] == '{' && line[length - 1] == '}' && printable(line, length)) {
		begin(job, "sample");
		if (port_members(job->port, line + 1, length - 2)) {
			port_end(job->port);
			return;
		}
	}
	stream->bad = true;
	port_log(job->port, "init: a sample line of %zu bytes from %s is no JSON object", length, job->run->argv[0]);
}

static void take_output(const struct job *job, struct stream *stream, const char *line, size_t length)
{
	struct port *port = job->port;

	if (stream->sent > LOG_BYTES_MAX)
		return;
	stream->sent += length + 1;
	port_begin(port, "log");
	port_bytes(port, "text", line, length);
	port_end(port);
	if (stream->sent > LOG_BYTES_MAX)
		port_log(port, "init: more output is not sent");
}

/* Reads what is there; a line longer than LINE_MAX_BYTES is taken in pieces. */
static void stream_read(const struct job *job, struct stream *stream)
{
	char bytes[8192];
	ssize_t got = read(stream->fd, bytes, sizeof bytes);

	if (got < 0 && errno == EINTR)
		return;
	if (got <= 0) {
		if (stream->length > 0)
			stream->take(job, stream, stream->line, stream->length);
		stream->length = 0;
		close(stream->fd);
		stream->fd = -1;
		return;
	}
	for (ssize_t i = 0; i < got; i++) {
		if (bytes[i] != '\n')
			stream->line[stream->length++] = bytes[i];
		if (bytes[i] == '\n' || stream->length == sizeof stream->line) {
			stream->take(job, stream, stream->line, stream->length);
			stream->length = 0;
		}
	}
}

static void cgroup_path(const struct job *job, const char *file, char path[128])
{
	snprintf(path, 128, "%s/%s", job->cgroup, file);
}

static void write_cgroup(const struct job *job, const char *file, const char *text)
{
	char path[128];

	cgroup_path(job, file, path);
	file_write(path, text);
}

/* The program's side of the fork. */
__attribute__((noreturn))
static void exec_program(const struct job *job, int output, int samples)
{
	const struct plan_run *run = job->run;
	char *argv[PLAN_ARGS_MAX + 3], fd_text[] = { '0' + SAMPLES_FD, '\0' };
	size_t count = 0;
	int null = open("/dev/null", O_RDONLY);

	setpgid(0, 0);
	write_cgroup(job, "cgroup.procs", "0");
	dup2(null, 0);
	dup2(output, 1);
	dup2(output, 2);
	if (samples == SAMPLES_FD)
		fcntl(samples, F_SETFD, 0);
	else
		dup2(samples, SAMPLES_FD);
	argv[count++] = run->argv[0];
	argv[count++] = (char[]){ "--samples-fd" };
	argv[count++] = fd_text;
	for (size_t i = 1; i < run->argc; i++)
		argv[count++] = run->argv[i];
	argv[count] = NULL;
	execv(argv[0], argv);
	dprintf(1, "init: cannot execute %s: %s\n", argv[0], strerror(errno));
	_exit(127);
}

static int start_program(const struct job *job, struct stream streams[2])
{
	int output[2], samples[2];
	pid_t pid;

	if (pipe2(output, O_CLOEXEC) < 0 || pipe2(samples, O_CLOEXEC) < 0)
		return -1;
	pid = fork();
	if (pid == 0)
		exec_program(job, output[1], samples[1]);
	close(output[1]);
	close(samples[1]);
	if (pid < 0) {
		close(output[0]);
		close(samples[0]);
		return -1;
	}
	streams[0] = (struct stream){ .fd = samples[0], .take = take_sample };
	streams[1] = (struct stream){ .fd = output[0], .take = take_output };
	return pid;
}

/* Reads both streams until they are closed. False: the deadline passed before. */
static bool pump(const struct job *job, struct stream streams[2], uint64_t deadline_ns)
{
	while (streams[0].fd >= 0 || streams[1].fd >= 0) {
		struct pollfd fds[2] = { { streams[0].fd, POLLIN, 0 }, { streams[1].fd, POLLIN, 0 } };
		uint64_t now = bench_now_ns();

		if (now >= deadline_ns)
			return false;
		if (poll(fds, 2, (int)((deadline_ns - now) / 1000000 + 1)) <= 0)
			continue;
		for (int i = 0; i < 2; i++)
			if (fds[i].revents != 0)
				stream_read(job, streams + i);
	}
	return true;
}

/* Status of the program, or 128 + signal. Also reaps whatever it left behind. */
static int reap(const struct job *job, pid_t program)
{
	int status, result = BENCH_FAILED;
	pid_t pid;

	kill(-program, SIGKILL);
	write_cgroup(job, "cgroup.kill", "1");
	while ((pid = wait(&status)) > 0 || errno == EINTR)
		if (pid == program)
			result = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	return result;
}

static int wait_program(const struct job *job, pid_t program, bool kill_it)
{
	siginfo_t info;

	/* both pipes are closed: it is ending by itself */
	if (!kill_it)
		while (waitid(P_PID, (id_t)program, &info, WEXITED | WNOWAIT) < 0 && errno == EINTR)
			continue;
	return reap(job, program);
}

static void send_counters(const struct job *job, const char *prefix, const struct counters *before,
			  const struct counters *after)
{
	struct port *port = job->port;
	unsigned sent = 0;

	for (size_t i = 0; i < after->count && sent < COUNTERS_SENT_MAX; i++) {
		int64_t old = counters_value(before, after->items[i].name, i);
		char name[COUNTER_NAME + 16];

		if (old == after->items[i].value)
			continue;
		snprintf(name, sizeof name, "%s.%s", prefix, after->items[i].name);
		begin(job, "counter");
		port_text(port, "name", name);
		port_number(port, "before", old);
		port_number(port, "after", after->items[i].value);
		port_end(port);
		sent++;
	}
}

static void empty_disk(void)
{
	DIR *disk = opendir(GUEST_DISK);
	struct dirent *entry;

	while (disk != NULL && (entry = readdir(disk)) != NULL)
		unlinkat(dirfd(disk), entry->d_name, 0);
	if (disk != NULL)
		closedir(disk);
}

/* The guest as the run shall find it: no files of the last one, no page cache, a new cgroup. */
static bool prepare(const struct job *job)
{
	empty_disk();
	if (!guest_fresh_tmpfs())
		return false;
	sync();
	file_write("/proc/sys/vm/drop_caches", "3");
	if (mkdir(job->cgroup, 0755) < 0)
		port_log(job->port, "init: no cgroup for the run: %s", strerror(errno));
	return true;
}

static int execute(const struct job *job)
{
	static struct counters vm_before, vm_after, memcg_before, memcg_after;
	uint64_t timeout_ns = job->run->timeout_s * UINT64_C(1000000000);
	struct stream streams[2];
	char memory_stat[128];
	int status;
	bool in_time;
	pid_t pid;

	cgroup_path(job, "memory.stat", memory_stat);
	counters_read(&memcg_before, memory_stat);
	counters_read(&vm_before, "/proc/vmstat");
	pid = start_program(job, streams);
	if (pid < 0) {
		port_log(job->port, "init: cannot start %s: %s", job->run->argv[0], strerror(errno));
		return BENCH_FAILED;
	}
	in_time = pump(job, streams, bench_now_ns() + timeout_ns);
	status = wait_program(job, pid, !in_time);
	counters_read(&vm_after, "/proc/vmstat");
	counters_read(&memcg_after, memory_stat);
	send_counters(job, "vmstat", &vm_before, &vm_after);
	send_counters(job, "memcg", &memcg_before, &memcg_after);
	for (int i = 0; i < 2; i++)
		if (streams[i].fd >= 0)
			close(streams[i].fd);
	if (!in_time)
		return TIMED_OUT;
	return status == BENCH_OK && streams[0].bad ? BENCH_FAILED : status;
}

void run_execute(struct port *port, const struct plan_run *run, unsigned number)
{
	struct job job = { port, run, "" };
	int status = BENCH_NOT_APPLICABLE;
	enum plan_lru lru;
	bool ready, lru_set;

	snprintf(job.cgroup, sizeof job.cgroup, "/sys/fs/cgroup/run-%u", number);
	ready = prepare(&job);
	lru_set = guest_set_lru(run->lru, &lru);
	begin(&job, "start");
	port_text(port, "lru", plan_lru_name(lru));
	port_end(port);
	if (!lru_set)
		port_log(port, "init: the %s LRU cannot be set on this kernel", plan_lru_name(run->lru));
	else
		status = ready ? execute(&job) : BENCH_FAILED;
	begin(&job, "run-end");
	port_number(port, "status", status);
	port_end(port);
	rmdir(job.cgroup);
}
