/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Kernels of different jobs side by side: what may be compared of them, and how. For /compare and the API.
 *
 * Each is compared with the first of the list, the reference. Only kernels measured on one host, by one clock and in one
 * environment are, and only by way of boots that alternated:
 *
 *   itself    it is the reference, or the very same image
 *   direct    a job has both: its own result says what came of them
 *   shared    two jobs have one with the same third kernel: the difference of the two changes (jobs/stats/indirect.h)
 *   apart     nothing connects them: no change is given, and the reason is
 */
#pragma once

#include "db/store.h"
#include "jobs/stats/result.h"

#define COMPARE_MAX 8		/* kernels */
#define COMPARE_ALPHA .05	/* of all differences by way of a shared kernel together */

/* A job that is done; the caller's, and kept as long as the comparison. */
typedef struct {
	const StoreJob *job;
	const StatsResult *result;	/* stats_result_latest() */
} CompareJob;

typedef enum {
	COMPARE_ITSELF,
	COMPARE_DIRECT,
	COMPARE_SHARED,
	COMPARE_APART,
} CompareRelation;

typedef struct {
	CompareJob of;
	SampleArm arm;
	CompareRelation relation;	/* to the reference */
	gboolean reversed;		/* direct: it is the base of that job, and the reference its patched kernel */
	const CompareJob *job;		/* direct: that has both */
	SampleArm third[2];		/* shared: which arm of the reference's job, and of its own, is the third kernel */
	char *why;			/* a sentence on the relation, never NULL */
} CompareKernel;

/* What is known of one kernel under one parameter set. */
typedef struct {
	const StatsComparison *comparison;	/* of its own job; NULL: not measured there */
	double value;				/* geometric mean over its boots */
	double change_pct, low_pct, high_pct, p;	/* against the reference; NaN: not known. shared: p is adjusted */
	const StatsComparison *direct;		/* the one that says so; NULL: it is not direct */
} CompareCell;

typedef struct {
	const StatsComparison *measured;	/* benchmark, params, metric, unit, better */
	CompareCell cells[COMPARE_MAX];		/* in the order of the kernels */
} CompareRow;

typedef struct {
	GArray *kernels;	/* of CompareKernel, the reference first */
	GArray *rows;		/* of CompareRow: primary metrics, in the order of the first job that has them */
	guint shared;		/* differences by way of a shared kernel: what p and intervals are adjusted for */
} Comparison;

/* kernels: of CompareKernel with .of and .arm, 1 .. COMPARE_MAX; taken. */
Comparison *comparison_new(GArray *kernels);
void comparison_free(Comparison *comparison);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Comparison, comparison_free)

/* "itself", "direct", "shared", "apart" */
const char *compare_relation_name(CompareRelation relation);
/* What a kernel's image is known by: its SHA-256, else empty. Borrowed. */
const char *compare_kernel_image(const CompareJob *job, SampleArm arm);
