/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The CPUs of a machine, what they share, and its huge pages: what host/placement.h plans with. */
#pragma once

#include <glib.h>

#define HOST_NO_NODE (-1)	/* the kernel knows no nodes */

typedef struct {
	int cpu;
	int package;
	int node;	/* or HOST_NO_NODE */
	int core;	/* the lowest CPU of its core: SMT siblings have the same */
	int cache;	/* the lowest CPU of those that share its last level of cache */
} HostCpu;

/* Huge pages of one size on one node. */
typedef struct {
	int node;	/* or HOST_NO_NODE: of the whole machine */
	int kib;	/* a page's size */
	gint64 count, unused;
} HostPages;

typedef struct {
	GArray *cpus;	/* HostCpu, online, ascending */
	GArray *pages;	/* HostPages, only of sizes that are mounted (hugetlbfs): others cannot be used */
	int nodes;	/* that have CPUs; 0: the kernel knows none */
} HostTopology;

/*
 * Of the tree below root, as in HostMachine; "" leaves out the CPUs that this process may not use. FALSE: no file says which
 * CPUs there are (SPEC_ERROR_IO).
 */
gboolean host_topology_read(const char *root, HostTopology **ret_topology, GError **error);

/* Of a machine that cannot be looked at: CPUs (int) that share nothing. */
HostTopology *host_topology_unknown(const GArray *cpus);

void host_topology_free(HostTopology *topology);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(HostTopology, host_topology_free)

const HostCpu *host_topology_cpu(const HostTopology *topology, int cpu);	/* NULL: not online */
