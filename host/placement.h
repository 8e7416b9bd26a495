/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which CPUs and which memory a guest gets. Pure: from what the machine is
 * like to a plan.
 *
 * Wanted: each vCPU a core of its own whose SMT siblings stay idle, the
 * emulator and the I/O threads other cores, all of one node, the vCPUs of one
 * cache domain if one has enough, memory of that node. What cannot be had is
 * named (shortfalls), and the next best is planned; only what nobody can have
 * asked for is an error.
 */
#pragma once

#include "host/topology.h"

typedef struct {
	const char *vm_cpus;	/* for vCPUs, list format; empty: the plan chooses */
	const char *other_cpus;	/* for emulator and I/O threads; empty: what the vCPUs leave of vm_cpus */
	int guest_cpus, memory_mib;
	int slots, slot;	/* so many guests at once (1: this one alone), and which of them this is, from 0 on */
} HostPlacementAsk;

typedef struct {
	GArray *vcpus;		/* int: the CPU of each vCPU; empty: nothing is pinned */
	char *vcpu_list;	/* the same CPUs, list format; empty likewise */
	char *emulator, *io;	/* of the emulator and the I/O threads, list format; empty likewise */
	char *idle;		/* SMT siblings of the vCPUs' CPUs: nothing of the lab runs there */
	int node;		/* that memory is bound to; HOST_NO_NODE: there are no two to choose from */
	int page_kib;		/* of the huge pages that memory is made of; 0: of ordinary ones */
	int sockets, cores, threads;	/* of the guest; their product is its number of CPUs */
	char **shortfalls;	/* sentences, without full stop: what is not as wanted above */
} HostPlacement;

/* FALSE: SPEC_ERROR_VALUE, with a message that a person can act on. */
gboolean host_placement_plan(const HostTopology *topology, const HostPlacementAsk *ask, HostPlacement **ret_placement, GError **error);

void host_placement_free(HostPlacement *placement);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(HostPlacement, host_placement_free)
