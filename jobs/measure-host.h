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
 * The CPUs and the memory of guests are planned before the first boot. What
 * the plan lacks is judged as what the machine lacks is.
 *
 * None of this judges figures of the clock icount: they count instructions,
 * which the state of the host does not change. It is recorded all the same.
 */
#pragma once

#include "jobs/host-agent.h"
#include "jobs/measure-boot.h"
#include "jobs/measure-history.h"
#include "jobs/placement.h"

typedef struct MeasureHost MeasureHost;

/*
 * memory_mib: of a guest. qemu and libvirt: their versions as libvirt tells them. Everything is borrowed for the
 * object's life.
 */
MeasureHost *measure_host_new(StageContext *stage, JobClock clock, const MeasureHistory *history, int memory_mib, const char *qemu,
			      const char *libvirt);
void measure_host_free(MeasureHost *host);	/* NULL is fine */

/* FALSE: stage_fail() was called, or the stage is stopping. */
gboolean measure_host_before(MeasureHost *host);

/* May make the result one that does not count. Harmless without a call before. */
void measure_host_after(MeasureHost *host, BootResult *result);

/* Where guests belong, the same for all boots of the stage; the object's. After measure_host_before(). */
const HostPlacement *measure_host_placement(const MeasureHost *host);

/* The member `machine` of the boot event: {"state", "now", "noise", "placement", "warnings"}; the caller's. */
JsonObject *measure_host_machine(const MeasureHost *host);
