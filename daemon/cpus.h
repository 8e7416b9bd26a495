/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * On which CPUs the daemon itself runs: those of the key cpus, else all but
 * those that a host on this machine measures on (vm_cpus, other_cpus; where
 * that leaves none, vm_cpus alone). Stages
 * may use all again, but for those that build.
 */
#pragma once

#include <sched.h>

#include "daemon/config.h"

/*
 * VALUE: the configured ones measure, too. *ret_cpus NULL: there is nothing to keep off,
 * or no other CPU is left; else of int, the caller's.
 */
gboolean cpus_of_daemon(const Config *config, GArray **ret_cpus, GError **error);

/* Moves this process there. ret_before: where it could run until now. */
gboolean cpus_apply(const Config *config, cpu_set_t *ret_before, GError **error);

/* Where stages that build run: on the CPUs for builds, from their first instruction on; all: where stages run else. */
cpu_set_t cpus_of_builds(const Config *config, const cpu_set_t *all);

/*
 * Whether a build disturbs a measurement on that host: the host is this
 * machine (no machine in its URI), and they share a CPU, or a core that
 * guests measure on.
 */
gboolean cpus_build_disturbs(const Config *config, const ConfigHost *host);
