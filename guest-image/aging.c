/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * aging: the time of one aging pass of the multi-generational LRU over a tmpfs file that many processes map.
 *
 * N processes map one file shared. In every round each of them reads a byte of every page, so that the accessed bit is
 * set in its own page tables; then the parent asks for one aging pass of the memory cgroup they all live in and times
 * the write() that does it. The pass walks N page tables, all of which lead to the same folios. Round 0 is a warm-up.
 */
#include "lib/bench.h"
#include "lib/lru-gen.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/vfs.h>
#include <unistd.h>

enum { CHUNK = 1 << 20, NPROC_MAX = 4096, TLB_PAGES = 64 };

struct aging {
	uint64_t nproc, size_mib, passes, node, swappiness;
	const char *path;
	char cgroup[PATH_MAX];
	int file, control;              /* -1: not open */
	uint64_t size, page;            /* bytes */
	struct bench_gate *gate;
};

static int complain(int exit_code, const char *what, const char *which)
{
	fprintf(stderr, "aging: %s %s: %s\n", what, which, strerror(errno));
	return exit_code;
}

/* What a person must know before anything is measured. */
static int check_machine(struct aging *aging)
{
	FILE *own = fopen("/proc/self/cgroup", "re");
	bool found = own != NULL && lru_gen_own_cgroup(own, aging->cgroup, sizeof aging->cgroup);

	if (own != NULL)
		fclose(own);
	aging->control = open(LRU_GEN_DEBUGFS, O_WRONLY | O_CLOEXEC);
	if (aging->control < 0) {
		fprintf(stderr, "aging: cannot open %s: %s. It needs a kernel with CONFIG_LRU_GEN and CONFIG_DEBUG_FS, "
				"debugfs mounted on /sys/kernel/debug, and root.\n", LRU_GEN_DEBUGFS, strerror(errno));
		return BENCH_NOT_APPLICABLE;
	}
	if (!found) {
		fprintf(stderr, "aging: this process is in no cgroup v2 (no line 0::/… in /proc/self/cgroup)\n");
		return BENCH_NOT_APPLICABLE;
	}
	return BENCH_OK;
}

/* Creates the file and fills it, so that every page of it is there and charged to our cgroup. */
static int make_file(struct aging *aging)
{
	struct statfs fs;
	char *chunk;
	bool ok = true;

	aging->file = open(aging->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (aging->file < 0)
		return complain(BENCH_FAILED, "cannot create", aging->path);
	if (fstatfs(aging->file, &fs) < 0)
		return complain(BENCH_FAILED, "cannot look at the file system of", aging->path);
	if (fs.f_type != TMPFS_MAGIC)
		fprintf(stderr, "aging: note: %s is not on tmpfs; the figures are not those of the described test\n",
			aging->path);
	chunk = malloc(CHUNK);
	if (chunk == NULL)
		return complain(BENCH_FAILED, "no memory to fill", aging->path);
	memset(chunk, 'a', CHUNK);
	for (uint64_t at = 0; ok && at < aging->size; at += CHUNK)
		ok = pwrite(aging->file, chunk, CHUNK, (off_t)at) == CHUNK;
	free(chunk);
	return ok ? BENCH_OK : complain(BENCH_FAILED, "cannot fill", aging->path);
}

/* Empties the translation cache (TLB) of this process. A page that is still in it is read without a look at the page
 * table, and its accessed bit stays clear: on a machine that caches all of a small file, which an emulated one does, the
 * aging pass would meet old pages or young ones by chance. Write access taken from more pages than the kernel flushes
 * one by one (33) flushes all. scratch: TLB_PAGES of our own. */
static bool flush_tlb(char *scratch, uint64_t page)
{
	for (uint64_t i = 0; i < TLB_PAGES; i++)
		scratch[i * page] = 1;
	return mprotect(scratch, TLB_PAGES * page, PROT_READ) == 0 &&
	       mprotect(scratch, TLB_PAGES * page, PROT_READ | PROT_WRITE) == 0;
}

/* A child: reads a byte a page in every round. */
static int reader(size_t index, void *argument)
{
	struct aging *aging = argument;
	const volatile char *map = mmap(NULL, aging->size, PROT_READ, MAP_SHARED, aging->file, 0);
	char *scratch = mmap(NULL, TLB_PAGES * aging->page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	uint32_t round = 0;

	(void)index;
	if (map == MAP_FAILED || scratch == MAP_FAILED)
		return complain(BENCH_FAILED, "cannot map", aging->path);
	while (bench_gate_wait_open(aging->gate, &round)) {
		if (!flush_tlb(scratch, aging->page))
			return complain(BENCH_FAILED, "cannot protect", "pages");
		for (uint64_t at = 0; at < aging->size; at += aging->page)
			(void)map[at];
		bench_gate_done(aging->gate, true);
	}
	return BENCH_OK;
}

static int find_place(const struct aging *aging, struct lru_gen_place *ret_place)
{
	FILE *listing = fopen(LRU_GEN_DEBUGFS, "re");
	bool found;

	if (listing == NULL)
		return complain(BENCH_FAILED, "cannot read", LRU_GEN_DEBUGFS);
	found = lru_gen_find(listing, aging->cgroup, (unsigned)aging->node, ret_place);
	fclose(listing);
	if (found)
		return BENCH_OK;
	fprintf(stderr, "aging: %s lists no cgroup %s with node %" PRIu64 "\n", LRU_GEN_DEBUGFS, aging->cgroup, aging->node);
	return BENCH_FAILED;
}

/* Asks for one aging pass. The last word forces a full scan: no generation is skipped for being young. */
static int age(const struct aging *aging, const struct lru_gen_place *place, uint64_t *ret_ns)
{
	char command[128];
	int length = snprintf(command, sizeof command, "+ %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " 1\n",
			      place->memcg_id, aging->node, place->max_seq, aging->swappiness);
	uint64_t start = bench_now_ns();

	if (write(aging->control, command, (size_t)length) != length)
		return complain(BENCH_FAILED, "no aging pass from", LRU_GEN_DEBUGFS);
	*ret_ns = bench_now_ns() - start;
	return BENCH_OK;
}

/* One round. *ret_ns is the time of the aging pass. */
static int run_pass(const struct aging *aging, uint64_t *ret_ns)
{
	struct lru_gen_place before = { 0 }, after = { 0 };
	int result;

	bench_gate_open(aging->gate, (uint32_t)aging->nproc);
	if (!bench_gate_wait_done(aging->gate)) {
		fprintf(stderr, "aging: a reader failed or was killed (out of memory?)\n");
		return BENCH_FAILED;
	}
	result = find_place(aging, &before);
	if (result == BENCH_OK)
		result = age(aging, &before, ret_ns);
	if (result == BENCH_OK)
		result = find_place(aging, &after);
	/* the kernel accepts a pass that it has no reason to make */
	if (result == BENCH_OK && after.max_seq == before.max_seq) {
		fprintf(stderr, "aging: the kernel made no aging pass (generation %" PRIu64 " is still the youngest)\n",
			after.max_seq);
		return BENCH_FAILED;
	}
	return result;
}

static int run_passes(struct aging *aging, struct bench_samples *samples)
{
	double sum = 0, low = 0, high = 0;

	for (uint64_t pass = 0; pass <= aging->passes; pass++) {
		uint64_t ns = 0;
		int result = run_pass(aging, &ns);
		double ms = (double)ns / 1e6;

		if (result != BENCH_OK)
			return result;
		printf("pass %" PRIu64 ": %.3f ms%s\n", pass, ms, pass == 0 ? " (warm-up, not counted)" : "");
		if (!bench_samples_add(samples, (unsigned)pass, "time", "ms", "lower", ms))
			return complain(BENCH_FAILED, "no memory for", "samples");
		if (pass == 0)
			continue;
		sum += ms;
		low = pass == 1 || ms < low ? ms : low;
		high = pass == 1 || ms > high ? ms : high;
	}
	printf("aging: %" PRIu64 " processes, %" PRIu64 " MiB, %" PRIu64 " passes: mean %.3f ms, min %.3f, max %.3f\n",
	       aging->nproc, aging->size_mib, aging->passes, sum / (double)aging->passes, low, high);
	return BENCH_OK;
}

static int measure(struct aging *aging, struct bench_samples *samples)
{
	int *pids = calloc(aging->nproc, sizeof *pids);
	int result;

	aging->gate = bench_gate_new();
	if (pids == NULL || aging->gate == NULL || !bench_fork(pids, aging->nproc, reader, aging)) {
		free(pids);
		return complain(BENCH_FAILED, "cannot start", "the readers");
	}
	result = run_passes(aging, samples);
	bench_gate_close(aging->gate);
	if (result == BENCH_OK)
		bench_reap(pids, aging->nproc);
	else
		bench_kill(pids, aging->nproc);
	free(pids);
	return result;
}

int main(int argc, char **argv)
{
	struct aging aging = { .nproc = 8, .size_mib = 2048, .passes = 10, .swappiness = 200, .file = -1, .control = -1,
			       .page = (uint64_t)sysconf(_SC_PAGESIZE) };
	const struct bench_option options[] = {
		{ "nproc", 'n', BENCH_NUMBER, &aging.nproc, 1, NPROC_MAX, "processes that map the file (default 8)" },
		{ "size-mib", 's', BENCH_NUMBER, &aging.size_mib, 1, 1 << 20, "size of the file in MiB (default 2048)" },
		{ "passes", 'p', BENCH_NUMBER, &aging.passes, 1, 100000, "timed passes after the warm-up (default 10)" },
		{ "node", 0, BENCH_NUMBER, &aging.node, 0, 1023, "NUMA node whose pages are aged (default 0)" },
		{ "swappiness", 0, BENCH_NUMBER, &aging.swappiness, 0, 200,
		  "of the pass; tmpfs pages are anonymous to the LRU (default 200)" },
	};
	const struct bench_program program = { "aging", "FILE",
		"Times aging passes of the multi-generational LRU over FILE, which is created, mapped and read by many\n"
		"processes, and removed. Run it as root, with FILE on a tmpfs mounted with huge=never, in a memory cgroup\n"
		"of its own, for example:\n"
		"  mount -t tmpfs -o huge=never tmpfs /mnt && systemd-run --scope aging --nproc 8 /mnt/file",
		options, sizeof options / sizeof *options };
	struct bench_samples samples = { 0 };
	int samples_fd, result;

	if (!bench_parse(&program, argc, argv, &aging.path, &samples_fd, &result))
		return result;
	aging.size = aging.size_mib << 20;
	result = check_machine(&aging);
	if (result == BENCH_OK)
		result = make_file(&aging);
	if (result == BENCH_OK)
		result = measure(&aging, &samples);
	if (result == BENCH_OK && !bench_samples_write(&samples, samples_fd))
		result = complain(BENCH_FAILED, "cannot write", "samples");
	bench_samples_clear(&samples);
	if (aging.file >= 0)
		unlink(aging.path);
	return result;
}
