/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Real programs, run and killed for real. */
#include <errno.h>
#include <glib/gstdio.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "jobs/child.h"
#include "jobs/spec/cpus.h"
#include "jobs/spec/error.h"

#define ARGV(...) ((const char *const[]){ __VA_ARGS__, NULL })

static ChildResult run(const ChildSpec *spec)
{
	g_autoptr(GError) error = NULL;
	ChildResult result = { 0 };

	child_run(spec, &result, &error);
	g_assert_no_error(error);
	return result;
}

static void test_output(void)
{
	g_auto(ChildResult) result = run(&(ChildSpec){ .argv = ARGV("sh", "-c", "echo out; echo err >&2; exit 7") });

	g_assert_cmpstr(result.output, ==, "out\n");
	g_assert_cmpstr(result.errors, ==, "err\n");
	g_assert_cmpint(result.status, ==, 7);
	g_assert_cmpuint(result.output_bytes, ==, 4);
	g_assert_false(result.output_cut);

	g_autoptr(GError) error = NULL;
	g_assert_false(child_check(&(ChildSpec){ .argv = ARGV("sh") }, &result, &error));
	g_assert_error(error, CHILD_ERROR, CHILD_ERROR_FAILED);
	g_assert_cmpstr(error->message, ==, "sh exited with 7: err");
}

static void test_input(void)
{
	g_autofree char *data = g_malloc(300000);
	memset(data, 'x', 300000);
	g_auto(ChildResult) result = run(&(ChildSpec){ .argv = ARGV("cat"), .input = data, .input_bytes = 300000 });

	g_assert_cmpuint(result.output_bytes, ==, 300000);
	g_assert_cmpmem(result.output, result.output_bytes, data, 300000);

	g_auto(ChildResult) empty = run(&(ChildSpec){ .argv = ARGV("cat") });
	g_assert_cmpuint(empty.output_bytes, ==, 0);
}

static void count(const char *data, gsize size, gboolean is_error, gpointer user)
{
	gsize *total = user;

	g_assert_nonnull(data);
	g_assert_false(is_error);
	*total += size;
}

static void test_bounded(void)
{
	gsize seen = 0;
	g_auto(ChildResult) result = run(&(ChildSpec){ .argv = ARGV("head", "-c", "5000000", "/dev/zero"),
						       .max_output_bytes = 1000, .sink = count, .sink_data = &seen });

	g_assert_cmpuint(result.output_bytes, ==, 1000);
	g_assert_true(result.output_cut);
	g_assert_cmpuint(seen, ==, 5000000);
}

static void test_environment(void)
{
	g_setenv("SECRET", "x", TRUE);
	g_auto(ChildResult) result = run(&(ChildSpec){ .argv = ARGV("env"), .env = ARGV("A=b") });

	g_assert_cmpstr(result.output, ==, "PATH=" CHILD_PATH "\nHOME=/nonexistent\nLC_ALL=C\nTZ=UTC\nA=b\n");
}

static void test_descriptors(void)
{
	int leaked = dup(1);	/* not close-on-exec, as a careless library would open it */
	g_auto(ChildResult) result = run(&(ChildSpec){ .argv = ARGV("sh", "-c", "ls /proc/self/fd | wc -l; pwd") });

	g_assert_cmpstr(result.output, ==, "4\n/\n");	/* 0, 1, 2 and the folder itself */
	close(leaked);
}

static void test_signals(void)
{
	signal(SIGPIPE, SIG_IGN);
	g_auto(ChildResult) result = run(&(ChildSpec){ .argv = ARGV("sh", "-c", "kill -SEGV $$") });
	g_assert_cmpint(result.status, ==, 128 + SIGSEGV);

	g_auto(ChildResult) ignored =
		run(&(ChildSpec){ .argv = ARGV("grep", "-E", "Sig(Ign|Blk).*0000000000000000", "/proc/self/status") });
	g_assert_cmpint(ignored.status, ==, 0);
}

static void test_not_found(void)
{
	g_autoptr(GError) error = NULL;
	ChildResult result = { 0 };

	g_assert_false(child_run(&(ChildSpec){ .argv = ARGV("no-such-program") }, &result, &error));
	g_assert_error(error, CHILD_ERROR, CHILD_ERROR_START);
	g_clear_error(&error);
	g_assert_false(child_run(&(ChildSpec){ .argv = ARGV("/etc/passwd") }, &result, &error));
	g_assert_error(error, CHILD_ERROR, CHILD_ERROR_START);
	g_clear_error(&error);
	g_assert_false(child_run(&(ChildSpec){ .argv = ARGV("true"), .cwd = "/nonexistent" }, &result, &error));
	g_assert_error(error, CHILD_ERROR, CHILD_ERROR_START);
	g_assert_null(result.output);
}

/* No process with this word on its command line is left. */
static gboolean gone(const char *word)
{
	for (int tries = 0; tries < 100; tries++) {
		g_autoptr(GDir) proc = g_dir_open("/proc", 0, NULL);
		gboolean found = FALSE;
		for (const char *name; (name = g_dir_read_name(proc));) {
			g_autofree char *path = g_build_filename("/proc", name, "cmdline", NULL);
			g_autofree char *line = NULL;
			gsize size = 0;
			if (g_ascii_isdigit(*name) && atoi(name) != getpid() &&
			    g_file_get_contents(path, &line, &size, NULL) && memmem(line, size, word, strlen(word)))
				found = TRUE;
		}
		if (!found)
			return TRUE;
		g_usleep(20000);
	}
	return FALSE;
}

/* A shell whose children would outlive it: a sleep with an unmistakable length in the fore- and in the background. */
static const char *const *sleepers(const char *word)
{
	static char script[128];
	static const char *argv[] = { "sh", "-c", script, NULL };

	g_snprintf(script, sizeof(script), "sleep %s & sleep %s; true", word, word);
	return argv;
}

static void test_deadline(void)
{
	g_autoptr(GError) error = NULL;
	ChildResult result = { 0 };
	gint64 start_us = g_get_monotonic_time();

	g_assert_false(child_run(&(ChildSpec){ .argv = sleepers("7101.25"), .timeout_ms = 200 }, &result, &error));
	g_assert_error(error, CHILD_ERROR, CHILD_ERROR_TIMEOUT);
	g_assert_cmpint(g_get_monotonic_time() - start_us, <, 5000000);
	g_assert_true(gone("7101.25"));
}

/* One that does not listen. */
static void test_stubborn(void)
{
	g_autoptr(GError) error = NULL;
	ChildResult result = { 0 };
	gint64 start_us = g_get_monotonic_time();

	g_assert_false(child_run(&(ChildSpec){ .argv = ARGV("sh", "-c", "trap '' TERM; sleep 7105.25 & while :; do sleep 1; done"),
					       .timeout_ms = 200 }, &result, &error));
	g_assert_error(error, CHILD_ERROR, CHILD_ERROR_TIMEOUT);
	g_assert_cmpint(g_get_monotonic_time() - start_us, <, 6000000);
	g_assert_true(gone("7105.25"));
}

static void test_stopped(void)
{
	g_autoptr(GError) error = NULL;
	ChildResult result = { 0 };
	int fd = eventfd(1, EFD_CLOEXEC);

	g_assert_false(child_run(&(ChildSpec){ .argv = sleepers("7102.25"), .stop_fd = fd }, &result, &error));
	g_assert_error(error, CHILD_ERROR, CHILD_ERROR_STOPPED);
	g_assert_true(gone("7102.25"));
	close(fd);
}

static void run_to_error(const ChildSpec *spec, ChildError code, const char *message)
{
	g_autoptr(GError) error = NULL;
	ChildResult result = { 0 };

	g_assert_false(child_run(spec, &result, &error));
	g_assert_error(error, CHILD_ERROR, (int)code);
	g_assert_cmpstr(error->message, ==, message);
}

/* A program that never stops printing has a deadline and an end as well. */
static void test_flood(void)
{
	run_to_error(&(ChildSpec){ .argv = ARGV("yes"), .timeout_ms = 300 }, CHILD_ERROR_TIMEOUT,
		     "yes did not end within 0.3 s and was killed");
	run_to_error(&(ChildSpec){ .argv = ARGV("yes"), .name = "the flood", .max_stream_bytes = 1 << 20 },
		     CHILD_ERROR_LIMIT, "the flood was killed: it printed more than 1 MiB");
}

static char *third_look(pid_t pid, gpointer user)
{
	int *looks = user;

	g_assert_cmpint(kill(pid, 0), ==, 0);
	return ++*looks == 3 ? g_strdup("it was looked at three times") : NULL;
}

static void test_watch(void)
{
	int looks = 0;

	run_to_error(&(ChildSpec){ .argv = sleepers("7106.25"), .name = "sleep", .watch = third_look, .watch_data = &looks },
		     CHILD_ERROR_LIMIT, "sleep was killed: it was looked at three times");
	g_assert_cmpint(looks, ==, 3);
	g_assert_true(gone("7106.25"));
}

/* What the program leaves running is killed with it; its pipes do not hold us up. */
static void test_left_behind(void)
{
	g_auto(ChildResult) result = run(&(ChildSpec){ .argv = ARGV("sh", "-c", "sleep 7103.25 & echo here") });

	g_assert_cmpstr(result.output, ==, "here\n");
	g_assert_true(gone("7103.25"));
}

/* The stage is killed with SIGKILL: nothing it started lives on. */
static void test_parent_dies(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		ChildResult result;
		child_run(&(ChildSpec){ .argv = sleepers("7104.25") }, &result, NULL);
		_exit(0);
	}
	g_usleep(300000);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	g_assert_true(gone("7104.25"));
}

static void test_affinity(void)
{
	g_auto(ChildResult) result = run(&(ChildSpec){
		.argv = ARGV("sh", "-c", "grep Cpus_allowed_list /proc/self/status; nice"), .cpus = "0", .nice = 3 });
	/* added to what this test runs at */
	g_autofree char *wanted = g_strdup_printf("Cpus_allowed_list:\t0\n%d\n", MIN(getpriority(PRIO_PROCESS, 0) + 3, 19));
	g_assert_cmpstr(result.output, ==, wanted);

	g_autoptr(GError) error = NULL;
	ChildResult none = { 0 };
	g_assert_false(child_run(&(ChildSpec){ .argv = ARGV("true"), .cpus = "1023" }, &none, &error));
	g_assert_error(error, CHILD_ERROR, CHILD_ERROR_START);
}

static void test_cpu_lists(void)
{
	static const char *const bad[] = { "x", "1-", "-1", "3-1", "1,,2", "1,", "1024", "0-9999", "1 2", "99999999999999" };
	g_autoptr(GArray) cpus = NULL, mine = NULL;

	g_assert_true(cpu_list_parse("8,0-2,1", &cpus, NULL));
	g_assert_cmpuint(cpus->len, ==, 4);
	g_assert_cmpint(g_array_index(cpus, int, 3), ==, 8);
	g_assert_true(cpu_list_parse("", &mine, NULL));
	g_assert_cmpuint(mine->len, >, 0);
	for (gsize i = 0; i < G_N_ELEMENTS(bad); i++) {
		g_autoptr(GError) error = NULL;
		GArray *none = NULL;
		g_assert_false(cpu_list_parse(bad[i], &none, &error));
		g_assert_error(error, SPEC_ERROR, SPEC_ERROR_VALUE);
		g_assert_null(none);
	}
}

static void test_cpu_lists_back(void)
{
	static const char *const lists[] = { "0", "0-2,8", "1,3,5", "0-1,3-4", "1023" };
	g_autoptr(GArray) none = g_array_new(FALSE, FALSE, sizeof(int));
	g_autofree char *empty = cpu_list_format(none);

	g_assert_cmpstr(empty, ==, "");
	for (gsize i = 0; i < G_N_ELEMENTS(lists); i++) {
		g_autoptr(GArray) cpus = NULL;
		g_assert_true(cpu_list_parse(lists[i], &cpus, NULL));
		g_autofree char *text = cpu_list_format(cpus);
		g_assert_cmpstr(text, ==, lists[i]);
	}
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/child/output", test_output);
	g_test_add_func("/child/input", test_input);
	g_test_add_func("/child/bounded", test_bounded);
	g_test_add_func("/child/environment", test_environment);
	g_test_add_func("/child/descriptors", test_descriptors);
	g_test_add_func("/child/signals", test_signals);
	g_test_add_func("/child/not-found", test_not_found);
	g_test_add_func("/child/deadline", test_deadline);
	g_test_add_func("/child/stubborn", test_stubborn);
	g_test_add_func("/child/stopped", test_stopped);
	g_test_add_func("/child/flood", test_flood);
	g_test_add_func("/child/watch", test_watch);
	g_test_add_func("/child/left-behind", test_left_behind);
	g_test_add_func("/child/parent-dies", test_parent_dies);
	g_test_add_func("/child/affinity", test_affinity);
	g_test_add_func("/cpus/lists", test_cpu_lists);
	g_test_add_func("/cpus/lists/back", test_cpu_lists_back);
	return g_test_run();
}
