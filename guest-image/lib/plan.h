/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The plan of a boot: what init is asked to run. The format is in ARCHITECTURE.md ("The guest"); jobs/guest-plan.h
 * writes it. Pure: no input or output, so that it is tested on any machine.
 */
#ifndef GUEST_PLAN_H
#define GUEST_PLAN_H

#include <stdbool.h>
#include <stddef.h>

enum { PLAN_BYTES_MAX = 1 << 20, PLAN_LINE_MAX = 4096, PLAN_RUNS_MAX = 4096, PLAN_ARGS_MAX = 64, PLAN_NONCE = 32 };

enum plan_lru { PLAN_LRU_MGLRU, PLAN_LRU_CLASSIC };

/* One run. All strings lie in the text that was parsed. */
struct plan_run {
	const char *benchmark;
	const char *params;
	unsigned run;
	unsigned timeout_s;             /* 1 … 86400 */
	enum plan_lru lru;
	char *argv[PLAN_ARGS_MAX + 1];  /* argv[0] is an absolute path; ends with NULL */
	size_t argc;
};

struct plan {
	const char *nonce;              /* PLAN_NONCE lower-case hex digits */
	const char *disk;               /* NULL: none */
	struct plan_run *runs;          /* owned */
	size_t run_count;
};

/* Parses length bytes of text, which is changed in place and must outlive the plan; text[length] must be writable.
 * False: error holds a sentence with the line's number, and plan is empty. */
bool plan_parse(struct plan *plan, char *text, size_t length, char *error, size_t error_size);
void plan_clear(struct plan *plan);

const char *plan_lru_name(enum plan_lru lru);

#endif
