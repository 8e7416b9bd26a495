/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * init: PID 1 of the guest. Sets the guest up, says hello, executes the plan run by run, says end, powers off.
 *
 * Whatever goes wrong is said on the console with the prefix "init: ", and the guest powers off without an end line,
 * so that the host sees a truncated boot and its reason, never a figure.
 */
#include "lib/files.h"
#include "lib/guest.h"
#include "lib/plan.h"
#include "lib/port.h"
#include "lib/run.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PLAN "/plan"

/* The kernel panics when PID 1 dies; say who it was first. Only what a signal handler may do. */
static void crashed(int signal_number)
{
	char text[] = "init: crashed by signal 00; powering off\n";
	char *digits = strstr(text, "00");

	digits[0] = (char)('0' + signal_number / 10 % 10);
	digits[1] = (char)('0' + signal_number % 10);
	if (write(STDERR_FILENO, text, sizeof text - 1) < 0)
		_exit(1);
	guest_power_off();
}

static void catch_crashes(void)
{
	static const int signals[] = { SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT };
	struct sigaction action = { .sa_handler = crashed, .sa_flags = (int)SA_RESETHAND };

	for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
		sigaction(signals[i], &action, NULL);
	signal(SIGPIPE, SIG_IGN);
}

static bool read_plan(struct plan *plan, char *text)
{
	char error[256];
	size_t length = 0;
	ssize_t got = -1;
	int fd = open(PLAN, O_RDONLY | O_CLOEXEC);

	while (fd >= 0 && length <= PLAN_BYTES_MAX &&
	       (got = read(fd, text + length, PLAN_BYTES_MAX + 1 - length)) > 0)
		length += (size_t)got;
	if (fd >= 0)
		close(fd);
	if (got < 0) {
		fprintf(stderr, "init: cannot read %s: %s\n", PLAN, strerror(errno));
		return false;
	}
	if (plan_parse(plan, text, length, error, sizeof error))
		return true;
	fprintf(stderr, "init: %s\n", error);
	return false;
}

static bool execute_plan(const struct plan *plan, struct port *port)
{
	port->nonce = plan->nonce;
	if (!guest_open_port(port)) {
		fprintf(stderr, "init: no way to send results: %s\n", strerror(errno));
		return false;
	}
	guest_hello(port);
	if (plan->disk != NULL && !guest_mount_disk(plan->disk)) {
		port_log(port, "init: cannot mount the disk %s: %s", plan->disk, strerror(errno));
		return false;
	}
	for (size_t i = 0; i < plan->run_count; i++)
		run_execute(port, plan->runs + i, (unsigned)i);
	port_begin(port, "end");
	port_number(port, "lines", (int64_t)port->seq);
	if (!port_end(port))
		return false;
	port_drain(port);
	return true;
}

int main(void)
{
	static struct port port;
	struct plan plan;
	char *text;

	if (getpid() != 1) {
		fprintf(stderr, "init: this is PID 1 of a guest; it powers its machine off and is for nothing else\n");
		return 2;
	}
	catch_crashes();
	umask(022);
	text = malloc(PLAN_BYTES_MAX + 2);
	if (text != NULL && guest_mount()) {
		guest_settings();
		if (read_plan(&plan, text) && !execute_plan(&plan, &port))
			fprintf(stderr, "init: the plan was not finished\n");
	}
	guest_power_off();
}
