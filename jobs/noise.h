/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whether a boot was disturbed, from what regrlab-host noise and watch said.
 * Pure. The rule sees only the host's counters, never a sample and not which
 * kernel was booted, so that replacing disturbed boots cannot favour one.
 */
#pragma once

#include <json-glib/json-glib.h>

#include "jobs/spec/clock.h"

/* Percent of the time of the measuring CPUs; 100: no limit. */
typedef struct {
	int jitter_pct, steal_pct;
} NoiseLimits;

/*
 * icount counts instructions: what else the host does makes a boot longer and
 * its figures no different. And without limits there is nothing to look for.
 */
gboolean noise_matters(const NoiseLimits *limits, JobClock clock);

/* A sentence why the host is not quiet, or NULL: it is, or nobody knows. spin: of regrlab-host noise. The caller's. */
char *noise_before(const NoiseLimits *limits, JsonObject *spin);

/* The lines of regrlab-host watch during a boot. */
typedef struct {
	guint lines;
	double first_steal, first_all, last_steal, last_all;	/* ticks */
	guint frequencies;
	double mhz_min, mhz_max, mhz_sum;
	guint throttles;	/* lines that count them */
	double first_throttled, last_throttled;
} NoiseRecord;

void noise_take_line(NoiseRecord *record, JsonObject *line);

/* Likewise: a sentence, or NULL. */
char *noise_during(const NoiseLimits *limits, const NoiseRecord *record);

/* {"samples", "steal_pct", "mhz_min", "mhz_mean", "mhz_max", "throttled"}; null: not known. The caller's. */
JsonObject *noise_record_to_json(const NoiseRecord *record);
