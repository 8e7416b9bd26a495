/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * What every benchmark program shares: options from one table, the clock, samples, and a gate that parent and children
 * pass together. With it the body of a benchmark is short.
 *
 * A benchmark run by hand prints for people on standard output. With --samples-fd N it also writes its samples as JSON
 * lines to descriptor N, all of them at its end: whoever reads them must not run while something is being timed.
 */
#ifndef GUEST_BENCH_H
#define GUEST_BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Exit codes of all benchmark programs. */
enum {
	BENCH_OK = 0,
	BENCH_FAILED = 1,               /* it was tried and something went wrong; the message says what */
	BENCH_USAGE = 2,                /* wrong options */
	BENCH_NOT_APPLICABLE = 77,      /* this kernel or machine lacks what is needed; the message says what */
};

enum bench_kind {
	BENCH_FLAG,                     /* bool *: set to true */
	BENCH_NUMBER,                   /* uint64_t *: decimal */
	BENCH_SIZE,                     /* uint64_t *: decimal with k, m or g for 2^10, 2^20, 2^30 */
	BENCH_TEXT,                     /* const char **: borrowed from argv */
};

struct bench_option {
	const char *name;               /* long name, or NULL */
	char letter;                    /* short name, or 0 */
	enum bench_kind kind;
	void *target;
	uint64_t min, max;              /* of numbers and sizes */
	const char *help;               /* with the unit and the default */
};

struct bench_program {
	const char *name;
	const char *operand;            /* "DIR", or NULL if it takes none */
	const char *summary;            /* a few sentences for --help */
	const struct bench_option *options;
	size_t option_count;
};

/* Reads the options into their targets; --help and --samples-fd are added to the table. Returns true to go on;
 * false to return *ret_exit from main (help was printed, or what is wrong was said on standard error).
 * *ret_operand is argv's only operand, or NULL where the program takes none. */
bool bench_parse(const struct bench_program *program, int argc, char **argv, const char **ret_operand,
		 int *ret_samples_fd, int *ret_exit);

/* A decimal with optional k, m, g if sizes are allowed; false if it is none, or outside min … max. */
bool bench_parse_size(const char *text, bool size, uint64_t min, uint64_t max, uint64_t *ret_value);

/* Nanoseconds of CLOCK_MONOTONIC. */
uint64_t bench_now_ns(void);

struct bench_samples {
	struct bench_sample *items;     /* owned */
	size_t count, capacity;
};

/* metric, unit: borrowed, plain words. better: "lower" or "higher". Pass 0 is a warm-up: stored, never counted. */
bool bench_samples_add(struct bench_samples *samples, unsigned pass, const char *metric, const char *unit,
		       const char *better, double value);
/* Writes all samples to fd; fd -1: nothing. False (errno) if they could not be written. */
bool bench_samples_write(const struct bench_samples *samples, int fd);
void bench_samples_clear(struct bench_samples *samples);

/* A gate in memory shared with children. The parent opens it round after round; a child runs
 *
 *	while (bench_gate_wait_open(gate, &round)) { …work…; bench_gate_done(gate, ok); }
 *
 * and so lives until the parent closes the gate. Waiting is by futex: it costs nothing while it lasts, which matters
 * where the clock counts instructions. A child that dies before the gate is closed makes the round a failure. */
struct bench_gate;

struct bench_gate *bench_gate_new(void);        /* NULL: errno. One a process; lives until the process ends */
void bench_gate_open(struct bench_gate *gate, uint32_t children);
/* Parent: waits until all children of this round are done. False if one failed or died. */
bool bench_gate_wait_done(struct bench_gate *gate);
void bench_gate_close(struct bench_gate *gate);
/* Child: waits for the round after *round (0 at first) and counts it there. False: the gate is closed. */
bool bench_gate_wait_open(struct bench_gate *gate, uint32_t *round);
void bench_gate_done(struct bench_gate *gate, bool ok);

/* Forks count children; each calls body(index, argument) and ends with what it returns. False (errno): none is left.
 * Children die with their parent. */
bool bench_fork(int *pids, size_t count, int (*body)(size_t index, void *argument), void *argument);
/* Waits for all children; true if each ended with 0. When one fails, the others are killed: they may be waiting for
 * it. pids are 0 afterwards. */
bool bench_reap(int *pids, size_t count);
/* Kills and reaps all children. */
void bench_kill(int *pids, size_t count);

#endif
