/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * readtwice: page cache that is used twice, under memory pressure (the case lru-file-readtwice of vm-scalability).
 *
 * Each of N tasks has a sparse file of its own; together the files are larger than memory. Every file is read from
 * start to end by two readers at the same time, block by block, so that a page is touched a second time soon after it
 * came in. Holes need no disk, so what is measured is page cache, LRU and reclaim. The file system must be one that
 * keeps holes as pages in the page cache: on tmpfs a hole costs no memory at all.
 *
 * Throughput is all bytes read by all readers, over the time from the common start to the end of the last reader.
 */
#include "lib/bench.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysinfo.h>
#include <sys/vfs.h>
#include <unistd.h>

enum { TASKS_MAX = 1024, READERS = 2 };

struct readtwice {
	uint64_t tasks, size_pct, size_mib, block;
	const char *directory;
	uint64_t file_size;             /* bytes of each file, a multiple of block */
	struct bench_gate *gate;
};

static int complain(int exit_code, const char *what, const char *which)
{
	fprintf(stderr, "readtwice: %s %s: %s\n", what, which, strerror(errno));
	return exit_code;
}

static void file_path(const struct readtwice *test, size_t task, char path[PATH_MAX])
{
	snprintf(path, PATH_MAX, "%s/readtwice-%zu", test->directory, task);
}

static void remove_files(const struct readtwice *test)
{
	char path[PATH_MAX];

	for (size_t i = 0; i < test->tasks; i++) {
		file_path(test, i, path);
		unlink(path);
	}
}

static int plan_sizes(struct readtwice *test)
{
	struct sysinfo info;
	uint64_t memory, total;
	struct statfs fs;

	if (strlen(test->directory) > PATH_MAX - 64 || statfs(test->directory, &fs) < 0)
		return complain(BENCH_FAILED, "cannot use the directory", test->directory);
	if (fs.f_type == TMPFS_MAGIC || fs.f_type == RAMFS_MAGIC) {
		fprintf(stderr, "readtwice: %s is on tmpfs or ramfs; it must be a file system on a block device\n",
			test->directory);
		return BENCH_NOT_APPLICABLE;
	}
	sysinfo(&info);
	memory = (uint64_t)info.totalram * info.mem_unit;
	total = test->size_mib != 0 ? test->size_mib << 20 : memory / 100 * test->size_pct;
	test->file_size = total / test->tasks / test->block * test->block;
	if (test->file_size == 0) {
		fprintf(stderr, "readtwice: the files would be smaller than one block\n");
		return BENCH_USAGE;
	}
	if (test->file_size * test->tasks <= memory)
		fprintf(stderr, "readtwice: note: the files (%" PRIu64 " MiB) are not larger than memory (%" PRIu64
				" MiB): there may be nothing to reclaim\n",
			test->file_size * test->tasks >> 20, memory >> 20);
	return BENCH_OK;
}

static int make_files(const struct readtwice *test)
{
	char path[PATH_MAX];

	for (size_t i = 0; i < test->tasks; i++) {
		int fd;
		bool ok;

		file_path(test, i, path);
		fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
		if (fd < 0)
			return complain(BENCH_FAILED, "cannot create", path);
		ok = ftruncate(fd, (off_t)test->file_size) == 0;
		close(fd);
		if (!ok)
			return complain(BENCH_FAILED, "cannot size", path);
	}
	return BENCH_OK;
}

static bool read_file(const struct readtwice *test, int fd, char *block)
{
	for (uint64_t left = test->file_size; left > 0; left -= test->block)
		if (read(fd, block, test->block) != (ssize_t)test->block)
			return false;
	return true;
}

static int reader(size_t index, void *argument)
{
	const struct readtwice *test = argument;
	char path[PATH_MAX];
	char *block = malloc(test->block);
	uint32_t round = 0;
	int fd;

	file_path(test, index / READERS, path);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || block == NULL)
		return complain(BENCH_FAILED, "cannot open", path);
	memset(block, 0, test->block);
	/* the first round is for getting here: its end means that every reader has its file open */
	for (bool ready = false; bench_gate_wait_open(test->gate, &round); ready = true) {
		bool ok = !ready || read_file(test, fd, block);

		if (!ok)
			complain(BENCH_FAILED, "cannot read", path);
		bench_gate_done(test->gate, ok);
	}
	return BENCH_OK;
}

static bool run_round(const struct readtwice *test, uint64_t *ret_ns)
{
	uint64_t start = bench_now_ns();

	bench_gate_open(test->gate, (uint32_t)test->tasks * READERS);
	if (!bench_gate_wait_done(test->gate))
		return false;
	*ret_ns = bench_now_ns() - start;
	return true;
}

static int measure(struct readtwice *test, struct bench_samples *samples)
{
	size_t readers = test->tasks * READERS;
	int *pids = calloc(readers, sizeof *pids);
	uint64_t ns = 0;
	bool ok;
	double megabytes = (double)test->file_size * (double)readers / 1e6;

	test->gate = bench_gate_new();
	if (pids == NULL || test->gate == NULL || !bench_fork(pids, readers, reader, test)) {
		free(pids);
		return complain(BENCH_FAILED, "cannot start", "the readers");
	}
	ok = true;
	for (int round = 0; ok && round < 2; round++)
		ok = run_round(test, &ns);
	bench_gate_close(test->gate);
	if (ok)
		bench_reap(pids, readers);
	else
		bench_kill(pids, readers);
	free(pids);
	if (!ok) {
		fprintf(stderr, "readtwice: a reader failed or was killed\n");
		return BENCH_FAILED;
	}
	printf("readtwice: %" PRIu64 " files of %" PRIu64 " MiB, each read twice: %.3f MB in %.6f s: %.3f MB/s\n", test->tasks,
	       test->file_size >> 20, megabytes, (double)ns / 1e9, megabytes / ((double)ns / 1e9));
	ok = bench_samples_add(samples, 1, "throughput", "MB/s", "higher", megabytes / ((double)ns / 1e9)) &&
	     bench_samples_add(samples, 1, "time", "ms", "lower", (double)ns / 1e6);
	return ok ? BENCH_OK : complain(BENCH_FAILED, "no memory for", "samples");
}

int main(int argc, char **argv)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	struct readtwice test = { .tasks = cpus > 0 ? (uint64_t)cpus : 1, .size_pct = 150, .block = 4096 };
	const struct bench_option options[] = {
		{ "tasks", 't', BENCH_NUMBER, &test.tasks, 1, TASKS_MAX, "files, each with two readers (default: CPUs)" },
		{ "size-pct", 'p', BENCH_NUMBER, &test.size_pct, 1, 100000,
		  "size of all files together in percent of memory (default 150)" },
		{ "size-mib", 's', BENCH_NUMBER, &test.size_mib, 0, 1 << 24, "the same in MiB; 0: use --size-pct (default)" },
		{ "block", 'b', BENCH_SIZE, &test.block, 1, 1 << 30, "bytes of each read (default 4k)" },
	};
	const struct bench_program program = { "readtwice", "DIR",
		"Reads sparse files in DIR, together larger than memory, each twice at the same time, and prints the\n"
		"throughput. DIR must be on a file system on a block device. The files are removed at the end.",
		options, sizeof options / sizeof *options };
	struct bench_samples samples = { 0 };
	int samples_fd, result;

	if (!bench_parse(&program, argc, argv, &test.directory, &samples_fd, &result))
		return result;
	result = plan_sizes(&test);
	if (result != BENCH_OK)
		return result;
	result = make_files(&test);
	if (result == BENCH_OK)
		result = measure(&test, &samples);
	if (result == BENCH_OK && !bench_samples_write(&samples, samples_fd))
		result = complain(BENCH_FAILED, "cannot write", "samples");
	bench_samples_clear(&samples);
	remove_files(&test);
	return result;
}
