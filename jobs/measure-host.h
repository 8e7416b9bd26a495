/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The host around each boot of the measure stage. Before it: is the machine
 * as its policy wants it, and quiet? During it: steal, heat and frequency.
 * After it: was it disturbed?
 *
 * Policy strict refuses to measure, warn marks the boot. What passes by
 * itself (load, other guests, noise) is waited for first, for noise_wait_s.
 * A disturbed boot does not count and is replaced (reason "disturbed"), up to
 * max_disturbed_boots a job; further ones count and are marked.
 *
 * None of this judges figures of the clock icount: they count instructions,
 * which the state of the host does not change. It is recorded all the same.
 */
#pragma once

#include "jobs/host-agent.h"
#include "jobs/measure-boot.h"
#include "jobs/measure-history.h"

typedef struct MeasureHost MeasureHost;

/* qemu and libvirt: their versions as libvirt tells them. Everything is borrowed for the object's life. */
MeasureHost *measure_host_new(StageContext *stage, JobClock clock, const MeasureHistory *history, const char *qemu,
			      const char *libvirt);
void measure_host_free(MeasureHost *host);	/* NULL is fine */

/* FALSE: stage_fail() was called, or the stage is stopping. */
gboolean measure_host_before(MeasureHost *host);

/* May make the result one that does not count. Harmless without a call before. */
void measure_host_after(MeasureHost *host, BootResult *result);

/* The member `machine` of the boot event: {"state", "now", "noise", "warnings"}; the caller's. */
JsonObject *measure_host_machine(const MeasureHost *host);
