/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * jobs/benchmarks/NAME.ini: what a benchmark needs and measures. The format
 * is in ARCHITECTURE.md, "Benchmark descriptions".
 */
#pragma once

#include <glib.h>

#include "jobs/spec/error.h"

#define BENCHMARK_MAX_SETS	64	/* parameter sets of one benchmark in one job */
#define BENCHMARK_MAX_RUNS	50

typedef struct {
	char *name;
	char *unit;
	gboolean higher_is_better;
	gboolean primary;	/* gets the verdict; others are exploration */
} BenchmarkMetric;

typedef struct {
	char *name;
	char *title;
	char *program;		/* in the guest, absolute */
	char *args;		/* words with {parameter} in them */
	char **needs;		/* "CONFIG_LRU_GEN=y", NULL-terminated */
	GPtrArray *metrics;	/* of BenchmarkMetric, owned */
	GKeyFile *file;		/* the profiles */
} Benchmark;

/* One parameter set of one benchmark, ready to be run. */
typedef struct {
	char *benchmark;
	char *params;		/* "nproc=8;lru=mglru": the set's name */
	char *lru;		/* mglru or classic */
	char **argv;		/* program and its words, NULL-terminated */
	int runs;
	int timeout_s;		/* of one run, guest's time */
} BenchmarkSet;

/* A benchmark with one profile and overrides applied. */
typedef struct {
	GPtrArray *sets;	/* of BenchmarkSet, owned */
	int memory_mib;		/* of the guest: the most that a benchmark asks for */
	int disk_mib;		/* 0: no disk */
} BenchmarkPlan;

Benchmark *benchmark_load(const char *dir, const char *name, GError **error);
void benchmark_free(Benchmark *benchmark);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Benchmark, benchmark_free)

const BenchmarkMetric *benchmark_metric(const Benchmark *benchmark, const char *name);	/* NULL: none such */

/* Names of the descriptions in dir, sorted, NULL-terminated; the caller's. */
char **benchmark_list(const char *dir, GError **error);

/*
 * The parameter sets of all named benchmarks: profile "quick" or "full",
 * overrides "BENCH.PARAM=V[,V...]" as in JobSpec. An override of a benchmark
 * that is not named, of an unknown parameter, or with a value that is not
 * [A-Za-z0-9._-]+ is an error with field "params".
 */
gboolean benchmark_plan(const char *dir, char **names, char **overrides, const char *profile,
			BenchmarkPlan **ret_plan, GError **error);
void benchmark_plan_free(BenchmarkPlan *plan);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(BenchmarkPlan, benchmark_plan_free)
