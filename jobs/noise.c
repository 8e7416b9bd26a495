/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "jobs/noise.h"

#include "jobs/spec/peek.h"

#define UNKNOWN (-1.0)	/* all that is counted here is 0 at least */

gboolean noise_matters(const NoiseLimits *limits, JobClock clock)
{
	return clock != CLOCK_ICOUNT && (limits->jitter_pct < 100 || limits->steal_pct < 100);
}

char *noise_before(const NoiseLimits *limits, JsonObject *spin)
{
	double steal_pct = peek_double(spin, "steal_pct", UNKNOWN), jitter_pct = peek_double(spin, "jitter_pct", UNKNOWN);

	if (steal_pct > limits->steal_pct)
		return g_strdup_printf("the hypervisor took %.1f %% of the measuring CPUs' time before the boot (limit %d %%)", steal_pct,
				       limits->steal_pct);
	if (jitter_pct > limits->jitter_pct)
		return g_strdup_printf("a measuring CPU did something else for %.1f %% of its time before the boot (limit %d %%)",
				       jitter_pct, limits->jitter_pct);
	return NULL;
}

void noise_take_line(NoiseRecord *record, JsonObject *line)
{
	double steal = peek_double(line, "steal", UNKNOWN), all = peek_double(line, "all", UNKNOWN);
	double mhz = peek_double(line, "mhz", UNKNOWN), throttled = peek_double(line, "throttled", UNKNOWN);

	if (steal >= 0 && all >= 0) {
		if (!record->lines++) {
			record->first_steal = steal;
			record->first_all = all;
		}
		record->last_steal = steal;
		record->last_all = all;
	}
	if (mhz > 0) {
		record->mhz_min = record->frequencies ? MIN(record->mhz_min, mhz) : mhz;
		record->mhz_max = MAX(record->mhz_max, mhz);
		record->mhz_sum += mhz;
		record->frequencies++;
	}
	if (throttled >= 0) {
		if (!record->throttles++)
			record->first_throttled = throttled;
		record->last_throttled = throttled;
	}
}

/* UNKNOWN if no time went by between two lines. */
static double steal_pct(const NoiseRecord *record)
{
	double all = record->last_all - record->first_all, steal = record->last_steal - record->first_steal;

	return record->lines > 1 && all > 0 ? MAX(100.0 * steal / all, 0) : UNKNOWN;
}

static double throttled(const NoiseRecord *record)
{
	return record->throttles > 1 ? MAX(record->last_throttled - record->first_throttled, 0) : UNKNOWN;
}

char *noise_during(const NoiseLimits *limits, const NoiseRecord *record)
{
	if (steal_pct(record) > limits->steal_pct)
		return g_strdup_printf("the hypervisor took %.1f %% of the measuring CPUs' time during the boot (limit %d %%)",
				       steal_pct(record), limits->steal_pct);
	if (throttled(record) > 0)
		return g_strdup_printf("the measuring CPUs were throttled for heat %.0f times during the boot", throttled(record));
	return NULL;
}

static void set_number(JsonObject *object, const char *name, double value)
{
	if (value >= 0)
		json_object_set_double_member(object, name, value);
	else
		json_object_set_null_member(object, name);
}

JsonObject *noise_record_to_json(const NoiseRecord *record)
{
	JsonObject *object = json_object_new();
	gboolean known = record->frequencies > 0;

	json_object_set_int_member(object, "samples", record->lines);
	set_number(object, "steal_pct", steal_pct(record));
	set_number(object, "mhz_min", known ? record->mhz_min : UNKNOWN);
	set_number(object, "mhz_mean", known ? record->mhz_sum / record->frequencies : UNKNOWN);
	set_number(object, "mhz_max", known ? record->mhz_max : UNKNOWN);
	set_number(object, "throttled", throttled(record));
	return object;
}
