/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "lru-gen.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

bool lru_gen_find(FILE *listing, const char *cgroup, unsigned node, struct lru_gen_place *ret_place)
{
	struct lru_gen_place place = { 0 };
	bool in_cgroup = false, in_node = false, found = false;
	char *line = NULL;
	size_t size = 0;

	while (getline(&line, &size, listing) > 0) {
		uint64_t number;
		unsigned nid;
		int used = 0;

		if (sscanf(line, " memcg %" SCNu64 " %n", &number, &used) == 1 && used > 0) {
			line[strcspn(line, "\n")] = '\0';
			if (found)
				break;
			in_cgroup = strcmp(line + used, cgroup) == 0;
			in_node = false;
			place.memcg_id = number;
		} else if (sscanf(line, " node %u", &nid) == 1) {
			in_node = in_cgroup && nid == node;
		} else if (in_node && sscanf(line, " %" SCNu64, &number) == 1) {
			place.max_seq = number;
			found = true;
			*ret_place = place;
		}
	}
	free(line);
	return found;
}

bool lru_gen_own_cgroup(FILE *listing, char *path, size_t size)
{
	char *line = NULL;
	size_t line_size = 0;
	bool found = false;

	while (!found && getline(&line, &line_size, listing) > 0) {
		line[strcspn(line, "\n")] = '\0';
		if (strncmp(line, "0::/", 4) != 0 || strlen(line + 3) >= size)
			continue;
		memcpy(path, line + 3, strlen(line + 3) + 1);
		found = true;
	}
	free(line);
	return found;
}
