/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Counters of the measuring CPUs, which a boot is judged by: two readings, and what came between. */
#pragma once

#include "host/facts.h"

/* Of /proc/stat, all measuring CPUs together, in ticks. */
typedef struct {
	guint64 steal;	/* the hypervisor ran something else */
	guint64 all;	/* whatever was done */
} HostTicks;

gboolean host_ticks_read(const HostMachine *machine, HostTicks *ret_ticks, char **ret_reason);

/* Steal between two readings in percent; 0 if no time went by. */
double host_ticks_steal_pct(const HostTicks *before, const HostTicks *after);

/* How often the measuring CPUs were throttled for heat since they were started. FALSE: nobody counts. */
gboolean host_throttle_count(const HostMachine *machine, guint64 *ret_count);

/* The mean frequency of the measuring CPUs, MHz, as the kernel last saw it, without asking them. FALSE: unknown. */
gboolean host_frequency_mhz(const HostMachine *machine, double *ret_mhz);
