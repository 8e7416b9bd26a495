/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where the threads of a QEMU process really may run, by the kernel's own account. */
#pragma once

#include <glib.h>
#include <sys/types.h>

#include "host/placement.h"
#include "jobs/spec/clock.h"

/*
 * Checks that every thread may run exactly where the placement wants it: those
 * named "CPU N/KVM" or "CPU N/TCG" on their vCPU's CPU, "IO iothreadN" on io's, all
 * others on emulator's; under icount all on the vCPUs'. A placement that pins
 * nothing (or NULL) wants nothing. *ret_report (the caller's, also on
 * failure): a line "TID NAME CPUS" a thread. FALSE: VM_ERROR_PINNING, or
 * ACCESS if the process cannot be looked at.
 */
gboolean vm_pinning_check(pid_t pid, const HostPlacement *placement, JobClock clock, char **ret_report, GError **error);
