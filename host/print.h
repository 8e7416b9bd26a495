/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Facts for people and for programs. */
#pragma once

#include "host/placement.h"
#include "host/policy.h"

/* A table: what is, what is wanted, whether it holds; below it what to do, a line each. The caller's. */
char *host_facts_table(const GArray *facts);

/*
 * {"cpus": [2, 3], "virtual": bool, "facts": [{"name", "title", "value", "reason", "wanted", "holds", "advice", "moves"}]},
 * one line without a newline. What is not there is null; holds is null where nothing is wanted. The caller's.
 */
char *host_facts_json(const HostMachine *machine, const GArray *facts);

int host_facts_failing(const GArray *facts);	/* how many */

/*
 * {"vcpus": [2, 3], "vcpu_list": "2-3", "emulator": "0", "io": "1", "idle": "6-7", "node": 0, "page_kib": 0, "sockets": 1, "cores": 2,
 * "threads": 1, "shortfalls": [...]}, one line without a newline; node is null if memory is bound to none. The caller's.
 */
char *host_placement_json(const HostPlacement *placement);

char *host_refusal_json(const char *message);	/* {"refused": "..."}. The caller's */
