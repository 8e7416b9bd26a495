/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * pwrite: the time of one pwrite() at offset 0 of a file, with the options, the sampling and the report of LibMicro's
 * benchmark of that name.
 *
 * A sample is a batch of calls; its value is the batch's time without the cost of reading the clock, by calls. Samples
 * are taken until the duration (-D) is over and more than -C of them were there before the last. All workers (-P processes with -T
 * threads each) start a batch together; a sample is from the first start to the last end, by calls of one worker.
 *
 * Where we differ from LibMicro: a file that does not exist is created, with FILE_BYTES written to it as LibMicro's own
 * suite does for its benchmarks, and removed at the end; and a failed call makes the exit code 1. What is in the file
 * matters: its first page is then an old one on the LRU, not one that waits to be added.
 */
#include "lib/bench.h"
#include "lib/libmicro.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { SAMPLES_MAX = 100000, CLOCK_SAMPLES = 1000, WORKERS_MAX = 1024, ALIGN_AFTER_NS = 75000000, ALIGN_MS = 10 };
enum { FILE_BYTES = 10 << 20, FILE_CHUNK = 1 << 20 };

static const char version[] = "regrlab pwrite 1 (options and report of LibMicro)";

struct worker {
	uint64_t start_ns, end_ns, errors;
};

/* Shared by all workers of all processes. */
struct shared {
	pthread_barrier_t barrier;
	bool stop;
	uint64_t samples, errors, deadline_ns;
	bool quantized;
	double sample_us[SAMPLES_MAX];
	struct worker workers[WORKERS_MAX];
};

struct pwrite_test {
	/* options, by LibMicro's letters */
	bool single, align, echo, no_header, arguments, use_mean, statistics, version, warnings, in_cache;
	uint64_t batch, samples_min, duration_ms, ns_per_op, processes, threads, size;
	const char *name, *path;

	int file;
	bool created;
	uint64_t overhead_ns, resolution_ns;
	struct shared *shared;
	pid_t parent;
};

static int complain(const char *what, const char *which)
{
	fprintf(stderr, "pwrite: %s %s: %s\n", what, which, strerror(errno));
	return BENCH_FAILED;
}

/* Mean cost of reading the clock, without outliers. */
static uint64_t clock_overhead_ns(void)
{
	double samples[CLOCK_SAMPLES], mean;
	struct libmicro_result result;

	bench_now_ns();
	for (int i = 0; i < CLOCK_SAMPLES; i++) {
		uint64_t start = bench_now_ns();

		samples[i] = (double)(bench_now_ns() - start);
	}
	if (!libmicro_result_compute(samples, CLOCK_SAMPLES, &result))
		return 0;
	mean = result.corrected.mean;
	libmicro_result_clear(&result);
	return (uint64_t)mean;
}

static uint64_t spin_ns(unsigned turns)
{
	uint64_t start = bench_now_ns();

	for (volatile unsigned i = 0; i < turns; i++)
		continue;
	return bench_now_ns() - start;
}

/* The smallest step by which the clock was seen to go on, from intervals that get longer and longer; at least 1. */
static uint64_t clock_resolution_ns(void)
{
	uint64_t last = spin_ns(0), resolution = last;

	for (unsigned i = 1; i < CLOCK_SAMPLES; i++) {
		uint64_t now = spin_ns(i);

		if (now > last && (resolution == 0 || now - last < resolution))
			resolution = now - last;
		last = now;
	}
	return resolution ? resolution : 1;
}

/* One thread, after all workers have ended their batch: makes their times a sample, and decides whether to go on. */
static void take_sample(struct pwrite_test *test, size_t workers)
{
	struct shared *shared = test->shared;
	uint64_t start = UINT64_MAX, end = 0;
	double ns;

	for (size_t i = 0; i < workers; i++) {
		const struct worker *worker = shared->workers + i;

		start = worker->start_ns < start ? worker->start_ns : start;
		end = worker->end_ns > end ? worker->end_ns : end;
		shared->errors += worker->errors;
	}
	ns = (double)(end - start) - (double)test->overhead_ns;
	shared->quantized |= ns < 100 * (double)test->resolution_ns;
	shared->sample_us[shared->samples++] = ns / (double)test->batch / 1000;
	shared->stop = shared->samples == SAMPLES_MAX ||
		       (end > shared->deadline_ns && shared->samples > test->samples_min + 1);
}

static void run_batch(const struct pwrite_test *test, const char *buffer, struct worker *worker)
{
	uint64_t errors = 0;

	worker->start_ns = bench_now_ns();
	for (uint64_t i = 0; i < test->batch; i++)
		if (pwrite(test->file, buffer, test->size, 0) != (ssize_t)test->size)
			errors++;
	worker->end_ns = bench_now_ns();
	worker->errors = errors;
}

static int run_worker(struct pwrite_test *test, size_t index)
{
	struct shared *shared = test->shared;
	size_t workers = test->processes * test->threads;
	char *buffer = malloc(test->size);
	uint64_t last_sleep = 0, now;

	if (buffer == NULL)
		return complain("no memory for", "the buffer");
	memset(buffer, 0, test->size);
	while (!shared->stop) {
		if (test->align && (now = bench_now_ns()) - last_sleep > ALIGN_AFTER_NS) {
			poll(NULL, 0, ALIGN_MS);
			last_sleep = now;
		}
		pthread_barrier_wait(&shared->barrier);
		run_batch(test, buffer, shared->workers + index);
		if (pthread_barrier_wait(&shared->barrier) == PTHREAD_BARRIER_SERIAL_THREAD)
			take_sample(test, workers);
		pthread_barrier_wait(&shared->barrier);
	}
	free(buffer);
	return BENCH_OK;
}

struct thread_start {
	struct pwrite_test *test;
	size_t index;
};

static void *run_thread(void *argument)
{
	struct thread_start *start = argument;

	return run_worker(start->test, start->index) == BENCH_OK ? start : NULL;
}

/* All threads of one process. A thread that cannot start would leave the others waiting at the barrier for ever:
 * the process ends instead, and the parent, seeing that, ends the others. */
static int run_process(size_t process, void *argument)
{
	struct pwrite_test *test = argument;
	pthread_t *threads = calloc(test->threads, sizeof *threads);
	struct thread_start *starts = calloc(test->threads, sizeof *starts);
	int result;

	if (threads == NULL || starts == NULL)
		_exit(complain("no memory for", "threads"));
	for (size_t i = 0; i < test->threads; i++) {
		starts[i] = (struct thread_start){ test, process * test->threads + i };
		if (i > 0 && (errno = pthread_create(threads + i, NULL, run_thread, starts + i)) != 0)
			_exit(complain("cannot start", "a thread"));
	}
	result = run_worker(test, process * test->threads);
	for (size_t i = 1; i < test->threads; i++)
		pthread_join(threads[i], NULL);
	free(threads);
	free(starts);
	return result;
}

static bool make_shared(struct pwrite_test *test)
{
	pthread_barrierattr_t attributes;

	test->shared = mmap(NULL, sizeof *test->shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (test->shared == MAP_FAILED)
		return false;
	pthread_barrierattr_init(&attributes);
	pthread_barrierattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
	errno = pthread_barrier_init(&test->shared->barrier, &attributes, (unsigned)(test->processes * test->threads));
	pthread_barrierattr_destroy(&attributes);
	return errno == 0;
}

static int run_all(struct pwrite_test *test)
{
	int pids[WORKERS_MAX];

	if (test->single)
		return run_process(0, test);
	if (!bench_fork(pids, test->processes, run_process, test))
		return complain("cannot start", "the processes");
	return bench_reap(pids, test->processes) ? BENCH_OK : BENCH_FAILED;
}

static bool add_samples(const struct pwrite_test *test, const struct libmicro_result *result,
			struct bench_samples *samples)
{
	/* the first batch meets a cold file: it is the warm-up, pass 0 */
	for (size_t i = 0; i < test->shared->samples; i++)
		if (!bench_samples_add(samples, (unsigned)i, "time", "usecs/call", "lower", test->shared->sample_us[i]))
			return false;
	return bench_samples_add(samples, 1, "median", "usecs/call", "lower", result->corrected.median);
}

static int report(const struct pwrite_test *test, char **argv, double elapsed_s, int samples_fd)
{
	const struct shared *shared = test->shared;
	struct bench_samples samples = { 0 };
	struct libmicro_result result;
	const struct libmicro_report text = {
		.name = test->name, .argv = argv, .processes = test->processes, .threads = test->threads,
		.batch = test->batch, .errors = shared->errors, .size = test->size, .elapsed_s = elapsed_s,
		.overhead_ns = test->overhead_ns, .resolution_ns = test->resolution_ns,
		.quantized = shared->quantized, .arguments = test->arguments, .header = !test->no_header,
		.use_mean = test->use_mean, .statistics = test->statistics || test->warnings, .warnings = test->warnings,
	};
	bool ok;

	if (!libmicro_result_compute(shared->sample_us, shared->samples, &result))
		return complain("no memory for", "statistics");
	libmicro_report_print(stdout, &text, &result);
	ok = add_samples(test, &result, &samples) && bench_samples_write(&samples, samples_fd);
	libmicro_result_clear(&result);
	bench_samples_clear(&samples);
	if (!ok)
		return complain("cannot write", "samples");
	if (shared->errors != 0) {
		fprintf(stderr, "pwrite: %" PRIu64 " calls failed or wrote less than asked\n", shared->errors);
		return BENCH_FAILED;
	}
	return BENCH_OK;
}

static int fill_file(const struct pwrite_test *test)
{
	char *zeros = calloc(1, FILE_CHUNK);
	int result = BENCH_OK;

	if (zeros == NULL)
		return complain("no memory for", "the file");
	for (off_t at = 0; at < FILE_BYTES && result == BENCH_OK; at += FILE_CHUNK)
		if (pwrite(test->file, zeros, FILE_CHUNK, at) != FILE_CHUNK)
			result = complain("cannot fill", test->path);
	free(zeros);
	return result;
}

static int open_file(struct pwrite_test *test)
{
	test->file = open(test->path, O_WRONLY | O_CLOEXEC);
	if (test->file < 0 && errno == ENOENT) {
		test->file = open(test->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
		test->created = test->file >= 0;
		if (test->created && fill_file(test) != BENCH_OK)
			return BENCH_FAILED;
	}
	return test->file < 0 ? complain("cannot open", test->path) : BENCH_OK;
}

static int measure(struct pwrite_test *test, char **argv, int samples_fd)
{
	uint64_t start_ns = bench_now_ns();
	int result;

	if (test->echo)
		fprintf(stderr, "Running:%20s", test->name);
	test->overhead_ns = clock_overhead_ns();
	test->resolution_ns = clock_resolution_ns();
	if (test->batch == 0)
		test->batch = test->resolution_ns * 100 / test->ns_per_op;
	if (test->batch == 0)
		test->batch = 1;
	if (!make_shared(test))
		return complain("no memory for", "the workers");
	test->shared->deadline_ns = bench_now_ns() + test->duration_ms * 1000000;
	result = run_all(test);
	if (result == BENCH_OK)
		result = report(test, argv, (double)(bench_now_ns() - start_ns) / 1e9, samples_fd);
	if (test->echo)
		fprintf(stderr, " for %12.5f seconds\n", (double)(bench_now_ns() - start_ns) / 1e9);
	return result;
}

int main(int argc, char **argv)
{
	struct pwrite_test test = { .samples_min = 100, .duration_ms = 10, .ns_per_op = 5, .processes = 1, .threads = 1,
				    .size = 1024, .name = "pwrite", .path = "/dev/null" };
	const struct bench_option options[] = {
		{ NULL, '1', BENCH_FLAG, &test.single, 0, 0, "one process, without fork; overrides -P" },
		{ NULL, 'A', BENCH_FLAG, &test.align, 0, 0, "align with the clock: sleep 10 ms now and then" },
		{ NULL, 'B', BENCH_SIZE, &test.batch, 0, 1 << 30, "calls a sample; 0: from the clock and -I (default)" },
		{ NULL, 'C', BENCH_SIZE, &test.samples_min, 0, SAMPLES_MAX - 1, "least number of samples (default 100)" },
		{ NULL, 'D', BENCH_SIZE, &test.duration_ms, 0, 86400000, "least duration in ms (default 10)" },
		{ NULL, 'E', BENCH_FLAG, &test.echo, 0, 0, "say the name and the time taken on standard error" },
		{ NULL, 'H', BENCH_FLAG, &test.no_header, 0, 0, "no header line" },
		{ NULL, 'I', BENCH_SIZE, &test.ns_per_op, 1, 1 << 30, "ns a call, to compute the batch size (default 5)" },
		{ NULL, 'L', BENCH_FLAG, &test.arguments, 0, 0, "print the command line" },
		{ NULL, 'M', BENCH_FLAG, &test.use_mean, 0, 0, "report the mean, not the median" },
		{ NULL, 'N', BENCH_TEXT, &test.name, 0, 0, "name of the test in the report (default pwrite)" },
		{ NULL, 'P', BENCH_SIZE, &test.processes, 1, WORKERS_MAX, "processes (default 1)" },
		{ NULL, 'S', BENCH_FLAG, &test.statistics, 0, 0, "print detailed statistics" },
		{ NULL, 'T', BENCH_SIZE, &test.threads, 1, WORKERS_MAX, "threads a process (default 1)" },
		{ NULL, 'V', BENCH_FLAG, &test.version, 0, 0, "print the version and exit" },
		{ NULL, 'W', BENCH_FLAG, &test.warnings, 0, 0, "-S, and warn of likely problems" },
		{ NULL, 'c', BENCH_FLAG, &test.in_cache, 0, 0, "buffer in the cache (it always is)" },
		{ NULL, 'f', BENCH_TEXT, &test.path, 0, 0, "file to write (default /dev/null)" },
		{ NULL, 's', BENCH_SIZE, &test.size, 1, 1 << 30, "bytes of each write (default 1024)" },
	};
	const struct bench_program program = { "pwrite", NULL,
		"Times pwrite() at offset 0 of a file as LibMicro's pwrite does, for example\n"
		"  pwrite -E -C 200 -L -S -W -N pwrite_t1k -s 1k -I 500 -f FILE\n"
		"Numbers may end in k, m or g. FILE is created, 10 MiB, if it is not there, and then removed at the end.",
		options, sizeof options / sizeof *options };
	int samples_fd, result;

	if (!bench_parse(&program, argc, argv, NULL, &samples_fd, &result))
		return result;
	if (test.version) {
		puts(version);
		return BENCH_OK;
	}
	if (test.single && test.processes > 1) {
		fprintf(stderr, "pwrite: note: -1 overrides -P\n");
		test.processes = 1;
	}
	if (test.processes * test.threads > WORKERS_MAX) {
		fprintf(stderr, "pwrite: more than %d workers\n", WORKERS_MAX);
		return BENCH_USAGE;
	}
	result = open_file(&test);
	if (result == BENCH_OK)
		result = measure(&test, argv, samples_fd);
	if (test.created)
		unlink(test.path);
	return result;
}
