/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a guest is told to do: the runs of one boot, the text of the plan
 * (ARCHITECTURE.md, "The guest") and the cpio archive that carries it.
 * Every boot of a job has the same runs in the same order; only the nonce
 * differs.
 */
#pragma once

#include <glib.h>

#include "jobs/spec/benchmark.h"
#include "jobs/spec/clock.h"

#define GUEST_NONCE_CHARS	32	/* lower-case hex digits */
#define GUEST_PLAN_MAX_RUNS	4096	/* these three: what init reads */
#define GUEST_PLAN_MAX_LINE	4096
#define GUEST_PLAN_MAX_BYTES	(1024 * 1024)

/*
 * A benchmark's timeout_s is meant for a machine, real or emulated. Emulation
 * does about 125 million instructions a second, and a second of a guest under
 * icount is 10^9 of them: such a guest is given an eighth of the time.
 */
#define GUEST_ICOUNT_COST	8

#define GUEST_PLAN_DISK	"/dev/vda"	/* where the disk is, if there is one */

/* One run: one execution of one benchmark. Borrows from the plan. */
typedef struct {
	const Benchmark *benchmark;
	const BenchmarkSet *set;
	int run;		/* 1, 2 ... within its set */
} GuestRun;

typedef struct {
	BenchmarkPlan *sets;
	GHashTable *benchmarks;	/* name to Benchmark */
	GArray *runs;		/* of GuestRun, in the order they are executed */
} GuestPlan;

/* As benchmark_plan(); a plan that init would refuse is an error with field "params". */
gboolean guest_plan_new(const char *benchmarks_dir, char **names, char **overrides, const char *profile,
			GuestPlan **ret_plan, GError **error);
GuestPlan *guest_plan_new_empty(void);	/* no runs: the guest says hello and ends */
void guest_plan_free(GuestPlan *plan);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(GuestPlan, guest_plan_free)

/*
 * The nonce of a boot: SHA-256 of the job's seed and the boot's number, so
 * that a boot done again has the same one. boot -1 is the probe.
 */
void guest_nonce(guint64 seed, int boot, char ret_nonce[GUEST_NONCE_CHARS + 1]);

/* What a run may take by the guest's own clock; at least 1. */
int guest_run_timeout_s(const GuestRun *run, JobClock clock);

char *guest_plan_text(const GuestPlan *plan, const char *nonce, JobClock clock);	/* the caller's */

/*
 * A newc archive with /plan in it, to be appended to an initramfs. Padded to
 * 512 bytes; the kernel wants an archive to begin at a multiple of 4, and
 * host_store_put_joined() sees to it.
 */
GBytes *guest_plan_cpio(const char *text);
