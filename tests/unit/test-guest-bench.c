/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the benchmark programs share: options, samples, the gate and its children. */
#include <glib.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/wait.h>

#include "guest-image/lib/bench.c"
#include "guest-image/lib/gate.c"

typedef struct {
	uint64_t number, size;
	bool flag;
	const char *text;
	const char *operand;
	int samples_fd, exit_code;
} Parsed;

/* Options as a program would have them: -n/--number 1 to 9, -s size up to 1g, -f flag, -N text; one operand. */
static gboolean parse(Parsed *parsed, const char *command)
{
	const struct bench_option options[] = {
		{ "number", 'n', BENCH_NUMBER, &parsed->number, 1, 9, "a number" },
		{ NULL, 's', BENCH_SIZE, &parsed->size, 0, 1 << 30, "a size" },
		{ NULL, 'f', BENCH_FLAG, &parsed->flag, 0, 0, "a flag" },
		{ NULL, 'N', BENCH_TEXT, &parsed->text, 0, 0, "a text" },
	};
	const struct bench_program program = { "test", "FILE", "A test.", options, G_N_ELEMENTS(options) };
	g_auto(GStrv) argv = g_strsplit(command, " ", 0);

	*parsed = (Parsed){ .number = 5, .exit_code = -1 };
	if (!bench_parse(&program, (int)g_strv_length(argv), argv, &parsed->operand, &parsed->samples_fd,
			 &parsed->exit_code))
		return FALSE;
	/* they point into argv */
	parsed->text = parsed->text ? g_intern_string(parsed->text) : NULL;
	parsed->operand = g_intern_string(parsed->operand);
	return TRUE;
}

static void test_options(void)
{
	Parsed parsed;

	g_assert_true(parse(&parsed, "test FILE"));
	g_assert_cmpuint(parsed.number, ==, 5);
	g_assert_cmpint(parsed.samples_fd, ==, -1);
	g_assert_cmpstr(parsed.operand, ==, "FILE");
	g_assert_true(parse(&parsed, "test --number 7 -f -s 2k -N name FILE --samples-fd 3"));
	g_assert_cmpuint(parsed.number, ==, 7);
	g_assert_cmpuint(parsed.size, ==, 2048);
	g_assert_true(parsed.flag);
	g_assert_cmpstr(parsed.text, ==, "name");
	g_assert_cmpint(parsed.samples_fd, ==, 3);
	g_assert_true(parse(&parsed, "test -fn9 -s1m -- FILE"));
	g_assert_cmpuint(parsed.number, ==, 9);
	g_assert_cmpuint(parsed.size, ==, 1 << 20);
}

static void test_refused(void)
{
	static const char *const commands[] = {
		"test", "test FILE FILE", "test -x FILE", "test --unknown FILE", "test -n 0 FILE", "test -n 10 FILE",
		"test -n 1k FILE", "test -n FILE", "test -s 2g FILE", "test -s 1kk FILE", "test -s -1 FILE",
		"test -s 99999999999999999999 FILE", "test --samples-fd 0 FILE", "test --samples-fd x FILE", "test FILE -n",
	};
	Parsed parsed;

	for (gsize i = 0; i < G_N_ELEMENTS(commands); i++) {
		g_assert_false(parse(&parsed, commands[i]));
		g_test_message("%s", commands[i]);
		g_assert_cmpint(parsed.exit_code, ==, BENCH_USAGE);
	}
}

static void test_help(void)
{
	Parsed parsed;

	if (g_test_subprocess()) {
		g_assert_false(parse(&parsed, "test --help"));
		g_assert_cmpint(parsed.exit_code, ==, BENCH_OK);
		return;
	}
	g_test_trap_subprocess(NULL, 0, G_TEST_SUBPROCESS_DEFAULT);
	g_test_trap_assert_passed();
	g_test_trap_assert_stdout("*Usage: test [OPTION …] FILE*-n, --number X*a number*--samples-fd X*--help*");
}

static void test_sizes(void)
{
	static const struct {
		const char *text;
		gboolean ok;
		uint64_t value;
	} table[] = {
		{ "0", TRUE, 0 }, { "1k", TRUE, 1024 }, { "10K", TRUE, 10240 }, { "2m", TRUE, 2 << 20 }, { "1g", TRUE, 1 << 30 },
		{ "100k", TRUE, 102400 }, { "", FALSE, 0 }, { "k", FALSE, 0 }, { "1x", FALSE, 0 }, { " 1", FALSE, 0 },
		{ "0x10", FALSE, 0 }, { "18446744073709551615", FALSE, 0 }, { "999999999999999999g", FALSE, 0 },
	};

	for (gsize i = 0; i < G_N_ELEMENTS(table); i++) {
		uint64_t value = 42;

		g_assert_cmpint(bench_parse_size(table[i].text, true, 0, UINT64_MAX, &value), ==, table[i].ok);
		g_assert_cmpuint(value, ==, table[i].ok ? table[i].value : 42);
	}
}

static void test_samples(void)
{
	g_autofree char *path = NULL, *text = NULL;
	int fd = g_file_open_tmp("regrlab-samples-XXXXXX", &path, NULL);
	struct bench_samples samples = { 0 };

	g_assert_cmpint(fd, >=, 0);
	g_assert_true(bench_samples_add(&samples, 0, "time", "ms", "lower", 22.9));
	g_assert_true(bench_samples_add(&samples, 1, "throughput", "MB/s", "higher", 1.0 / 3));
	g_assert_true(bench_samples_write(&samples, -1));
	g_assert_true(bench_samples_write(&samples, fd));
	g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
	g_assert_cmpstr(text, ==,
		"{\"pass\":0,\"metric\":\"time\",\"unit\":\"ms\",\"better\":\"lower\",\"value\":22.899999999999999}\n"
		"{\"pass\":1,\"metric\":\"throughput\",\"unit\":\"MB/s\",\"better\":\"higher\",\"value\":0.33333333333333331}\n");
	close(fd);
	g_assert_false(bench_samples_write(&samples, fd));
	bench_samples_clear(&samples);
	g_unlink(path);
}

typedef struct {
	struct bench_gate *gate;
	_Atomic int *sum;	/* shared with the children */
	int die_in_round;	/* child 1 ends in it; 0: never */
} Work;

static int child(size_t index, void *argument)
{
	Work *work = argument;
	uint32_t round = 0;

	while (bench_gate_wait_open(work->gate, &round)) {
		if (index == 1 && (int)round == work->die_in_round)
			return 1;
		atomic_fetch_add(work->sum, 1);
		bench_gate_done(work->gate, true);
	}
	return 0;
}

static Work make_work(int die_in_round)
{
	Work work = { .gate = bench_gate_new(), .die_in_round = die_in_round };

	work.sum = mmap(NULL, sizeof(*work.sum), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	g_assert_true(work.gate != NULL && work.sum != MAP_FAILED);
	return work;
}

static void test_gate(void)
{
	Work work = make_work(0);
	int pids[5];

	g_assert_true(bench_fork(pids, 5, child, &work));
	for (int round = 1; round <= 20; round++) {
		bench_gate_open(work.gate, 5);
		g_assert_true(bench_gate_wait_done(work.gate));
		g_assert_cmpint(atomic_load(work.sum), ==, 5 * round);
	}
	bench_gate_close(work.gate);
	g_assert_true(bench_reap(pids, 5));
	g_assert_cmpint(pids[4], ==, 0);
}

/* the parent does not wait for ever for one that is gone */
static void test_gate_death(void)
{
	Work work = make_work(2);
	int pids[3];

	g_assert_true(bench_fork(pids, 3, child, &work));
	bench_gate_open(work.gate, 3);
	g_assert_true(bench_gate_wait_done(work.gate));
	bench_gate_open(work.gate, 3);
	g_assert_false(bench_gate_wait_done(work.gate));
	bench_gate_close(work.gate);
	bench_kill(pids, 3);
}

static int fail_or_wait(size_t index, void *argument)
{
	(void)argument;
	if (index == 1)
		return 3;
	for (;;)
		pause();
}

/* when one fails, the others are not waited for */
static void test_reap_failure(void)
{
	int pids[3];

	g_assert_true(bench_fork(pids, 3, fail_or_wait, NULL));
	g_assert_false(bench_reap(pids, 3));
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/guest/bench/options", test_options);
	g_test_add_func("/guest/bench/refused", test_refused);
	g_test_add_func("/guest/bench/help", test_help);
	g_test_add_func("/guest/bench/sizes", test_sizes);
	g_test_add_func("/guest/bench/samples", test_samples);
	g_test_add_func("/guest/bench/gate", test_gate);
	g_test_add_func("/guest/bench/gate-death", test_gate_death);
	g_test_add_func("/guest/bench/reap-failure", test_reap_failure);
	return g_test_run();
}
