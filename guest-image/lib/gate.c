/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The gate and the children of bench.h.
 */
#include "bench.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

struct bench_gate {
	_Atomic uint32_t round;         /* bumped to open; children wait on it */
	_Atomic uint32_t left;          /* children not done yet; the parent waits on it */
	_Atomic uint32_t failed;
	_Atomic bool closed;
};

/* The gate that a child's death opens by force: a signal handler has no other way to know it. */
static struct bench_gate *watched;

static void futex(_Atomic uint32_t *word, int operation, uint32_t value)
{
	syscall(SYS_futex, word, operation, value, NULL, NULL, 0);
}

static void child_died(int signal_number)
{
	(void)signal_number;
	atomic_fetch_add(&watched->failed, 1);
	atomic_store(&watched->left, 0);
}

struct bench_gate *bench_gate_new(void)
{
	struct sigaction action = { .sa_handler = child_died, .sa_flags = SA_NOCLDSTOP };
	struct bench_gate *gate = mmap(NULL, sizeof *gate, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (gate == MAP_FAILED)
		return NULL;
	watched = gate;
	sigaction(SIGCHLD, &action, NULL);
	return gate;
}

void bench_gate_open(struct bench_gate *gate, uint32_t children)
{
	atomic_store(&gate->left, children);
	atomic_fetch_add(&gate->round, 1);
	futex(&gate->round, FUTEX_WAKE, INT_MAX);
}

bool bench_gate_wait_done(struct bench_gate *gate)
{
	uint32_t left;

	while ((left = atomic_load(&gate->left)) != 0 && atomic_load(&gate->failed) == 0)
		futex(&gate->left, FUTEX_WAIT, left);
	return atomic_load(&gate->failed) == 0;
}

void bench_gate_close(struct bench_gate *gate)
{
	signal(SIGCHLD, SIG_DFL);
	atomic_store(&gate->closed, true);
	atomic_fetch_add(&gate->round, 1);
	futex(&gate->round, FUTEX_WAKE, INT_MAX);
}

bool bench_gate_wait_open(struct bench_gate *gate, uint32_t *round)
{
	while (atomic_load(&gate->round) == *round)
		futex(&gate->round, FUTEX_WAIT, *round);
	++*round;
	return !atomic_load(&gate->closed);
}

void bench_gate_done(struct bench_gate *gate, bool ok)
{
	if (!ok)
		atomic_fetch_add(&gate->failed, 1);
	if (atomic_fetch_sub(&gate->left, 1) == 1)
		futex(&gate->left, FUTEX_WAKE, 1);
}

bool bench_fork(int *pids, size_t count, int (*body)(size_t index, void *argument), void *argument)
{
	pid_t parent = getpid();

	for (size_t i = 0; i < count; i++) {
		pids[i] = fork();
		if (pids[i] < 0) {
			int error = errno;

			bench_kill(pids, i);
			errno = error;
			return false;
		}
		if (pids[i] > 0)
			continue;
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		_exit(getppid() == parent ? body(i, argument) : BENCH_FAILED);
	}
	return true;
}

static void kill_left(const int *pids, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (pids[i] > 0)
			kill(pids[i], SIGKILL);
}

bool bench_reap(int *pids, size_t count)
{
	bool ok = true;
	int status;
	pid_t pid;

	while ((pid = wait(&status)) > 0 || errno == EINTR) {
		for (size_t i = 0; i < count && pid > 0; i++)
			if (pids[i] == pid)
				pids[i] = 0;
		if (pid > 0 && status != 0 && ok) {
			ok = false;
			kill_left(pids, count);
		}
	}
	return ok;
}

void bench_kill(int *pids, size_t count)
{
	kill_left(pids, count);
	bench_reap(pids, count);
}
