/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The kernel's multi-generational LRU as its debugfs file shows and takes it
 * (Documentation/admin-guide/mm/multigen_lru.rst in the kernel): per memcg a line "memcg ID PATH", per node "node NID",
 * then one line a generation, oldest first, which begins with its number.
 */
#ifndef GUEST_LRU_GEN_H
#define GUEST_LRU_GEN_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#define LRU_GEN_DEBUGFS "/sys/kernel/debug/lru_gen"

struct lru_gen_place {
	uint64_t memcg_id;
	uint64_t max_seq;               /* the youngest generation */
};

/* Looks the cgroup (path as in /proc/self/cgroup, "/" for the root) and node up in a listing. False: not there. */
bool lru_gen_find(FILE *listing, const char *cgroup, unsigned node, struct lru_gen_place *ret_place);

/* The path from the text of /proc/self/cgroup (its line "0::PATH"), written to path. False: no cgroup v2 there. */
bool lru_gen_own_cgroup(FILE *listing, char *path, size_t size);

#endif
