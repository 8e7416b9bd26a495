/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How each fact is read and set: what the rows of facts.c point at. */
#pragma once

#include "host/facts.h"

#define HOST_CPU_DIR "/sys/devices/system/cpu"

typedef gboolean HostReader(const HostMachine *machine, char **ret_value, char **ret_reason);
typedef void HostPlanner(const HostMachine *machine, const char *wanted, GPtrArray *writes);

/* facts-cpu.c */
HostReader host_read_smt, host_read_turbo, host_read_governor, host_read_frequency, host_read_isolated, host_read_nohz_full;
HostPlanner host_plan_smt, host_plan_turbo, host_plan_governor, host_plan_frequency;

/* facts-memory.c */
HostReader host_read_numa, host_read_thp, host_read_ksm, host_read_swap;
HostPlanner host_plan_thp, host_plan_ksm;

/* facts-system.c */
HostReader host_read_machine, host_read_irqs, host_read_clocksource, host_read_microcode, host_read_mitigations,
	host_read_kernel, host_read_qemu, host_read_libvirt;
HostPlanner host_plan_irqs, host_plan_clocksource;

/* facts-now.c */
HostReader host_read_load, host_read_steal, host_read_temperature, host_read_throttled, host_read_guests;

/* ---- for these files ---- */

gboolean host_unknown(char **ret_reason, const char *format, ...) G_GNUC_PRINTF(2, 3);	/* always FALSE */

/* Adds the write unless the file has the value, or is not there. */
void host_plan_write(const HostMachine *machine, GPtrArray *writes, const char *path, const char *value);

gboolean host_cpus_have(const GArray *cpus, int cpu);
