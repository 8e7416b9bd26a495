/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Noise of the measuring CPUs: before a boot by spinning on each of them, and
 * during it by counters read from another CPU, once a second. What it reads
 * then is what the kernel counts anyway; no measuring CPU is interrupted.
 */
#pragma once

#include "host/facts.h"

/*
 * Spins on all measuring CPUs at once. One line of JSON: {"jitter_pct",
 * "longest_us", "gaps"} of the worst CPU, "steal_pct" of all; null: not known.
 * The caller's.
 */
char *host_noise(const HostMachine *machine, int ms);

/*
 * Writes a line {"steal", "all": ticks, "mhz", "throttled"} at once and then
 * every interval, until nobody reads them any more. Moves to CPUs that do not
 * measure, where there are any.
 */
void host_watch(const HostMachine *machine, int interval_ms);
