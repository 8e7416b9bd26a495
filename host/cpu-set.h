/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Arrays of HostCpu that placement.c plans with. */
#pragma once

#include "host/topology.h"

GArray *cpu_set_new(void);	/* g_array_unref() */
const HostCpu *cpu_set_at(const GArray *cpus, guint i);
void cpu_set_add(GArray *cpus, const HostCpu *cpu);
void cpu_set_become(GArray *cpus, const GArray *others);
void cpu_set_sort(GArray *cpus);	/* by node, cache, core and number: what shares stands together */

gboolean cpu_set_has(const GArray *cpus, const HostCpu *cpu);
gboolean cpu_set_has_core(const GArray *cpus, const HostCpu *cpu);	/* it or an SMT sibling */
gboolean cpu_set_has_cache(const GArray *cpus, const HostCpu *cpu);	/* one that shares its last level of cache */
gboolean cpu_set_has_node(const GArray *cpus, const HostCpu *cpu);	/* one of its node */

GArray *cpu_set_cores(const GArray *cpus);	/* the first CPU of each core; the caller's */
char *cpu_set_format(const GArray *cpus);	/* list format; the caller's */
