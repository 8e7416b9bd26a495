/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What jobs of the past and calibrations tell of one that may come. For quote.c. */
#pragma once

#include "daemon/lab.h"
#include "db/store-trust.h"
#include "jobs/spec/spec.h"

#define PAST_JOBS 20	/* that are looked at */

/* Of one benchmark, parameter set and clock on a host: how much boot summaries vary, on the log scale. */
typedef struct {
	double sd;		/* NaN: not known */
	guint boots;		/* that tell it */
	gint64 job;		/* the calibration, or the newest of the past jobs */
	const char *source;	/* "calibration", "past jobs" or "unknown" */
} PastNoise;

typedef struct {
	GPtrArray *measured;	/* StoreJob, newest first: done, on the host, with the clock, with a benchmark of the job */
	GPtrArray *built;	/* StoreJob, newest first: of the tree, with a kernel */
	GPtrArray *calibrations;	/* StoreCalibration of the host */
	GPtrArray *results;	/* StatsResult of those measured */
} Past;

/* host, clock: where the job would be measured. */
gboolean past_load(Lab *lab, const JobSpec *spec, const char *host, const char *clock, Past *ret_past, GError **error);
void past_clear(Past *past);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Past, past_clear)

PastNoise past_noise(const Past *past, const JobSpec *spec, const char *benchmark, const char *params, const char *clock);

/* Mean seconds of a boot, of jobs with the very benchmarks and parameters, *ret_same TRUE, else of jobs with some of the
 * benchmarks. NaN without any. */
gboolean past_boot_s(Lab *lab, const Past *past, const JobSpec *spec, double *ret_s, gboolean *ret_same, GError **error);

/* What is known of building one arm's kernel. */
typedef struct {
	gboolean known;		/* whether it is cached */
	gboolean cached;
	double seconds;		/* 0 if cached; NaN: not known */
	gint64 job;		/* that built it; 0: none */
} PastBuild;

gboolean past_build(Lab *lab, const Past *past, const JobSpec *spec, const GString *series, int arm, PastBuild *ret_build,
		    GError **error);
