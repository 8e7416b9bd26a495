/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where the threads of a QEMU process really may run, by the kernel's own account. */
#pragma once

#include <glib.h>
#include <sys/types.h>

/*
 * Checks every thread: those named "CPU N/KVM", "CPU N/TCG" or "ALL CPUs/TCG"
 * within vm_cpus, all others within other_cpus (list format; empty: anywhere).
 * *ret_report (the caller's, also on failure): a line "TID NAME CPUS" a thread.
 * FALSE: VM_ERROR_PINNING, or ACCESS if the process cannot be looked at.
 */
gboolean vm_pinning_check(pid_t pid, const char *vm_cpus, const char *other_cpus, char **ret_report, GError **error);
