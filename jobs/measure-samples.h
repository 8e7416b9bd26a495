/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * samples.jsonl as the measure stage writes it. A boot's samples are written
 * when the boot is over, so that each line says whether its boot counts, and
 * are on disk before the boot event that counts them; lines that no event
 * counts are those of a stage that died in between.
 */
#pragma once

#include "jobs/measure-boot.h"
#include "jobs/spec/sample.h"

/* Cuts what lies behind the first lines lines. Fewer lines are an error. */
gboolean measure_samples_cut(const char *dir, gint64 lines, GError **error);

/* Appends the samples of a boot and syncs them. */
gboolean measure_samples_append(const char *dir, const JobSpec *spec, const char *host, JobClock clock, int boot, int pair,
				SampleArm arm, const BootResult *result, GError **error);

/* All of them but the first skip. NULL on failure. */
SampleTable *measure_samples_load(const char *dir, gint64 skip, GError **error);
