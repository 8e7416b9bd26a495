/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * On which CPUs the daemon itself runs: those of the key cpus, else all but
 * those that a host on this machine measures on (vm_cpus, other_cpus). Stages
 * may use all again: their CPUs are set where they work.
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
