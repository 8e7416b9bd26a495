/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The plan of a guest's CPUs and memory (host/placement.h), as regrlab-host on the host gives it. */
#pragma once

#include "host/placement.h"
#include "jobs/host-agent.h"

/*
 * Asks the host. FALSE with *ret_refused (the caller's): what is configured cannot be placed there, and why. A host that cannot
 * be asked gets a plan from the lists of place.json alone. FALSE with neither: the stage is stopping.
 */
gboolean placement_ask(HostAgent *agent, const JobPlace *place, int memory_mib, HostPlacement **ret_placement, char **ret_refused);

/* This process keeps off the CPUs that measure and their siblings from now on, if there are others. */
void placement_keep_off(const HostPlacement *placement, const char *vm_cpus);

/* As host/print.h writes it; FALSE: it is not so, or not of that many CPUs. */
gboolean placement_from_json(JsonObject *object, int guest_cpus, HostPlacement **ret_placement);
JsonObject *placement_to_json(const HostPlacement *placement);	/* the caller's */
