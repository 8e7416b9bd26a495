/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/turns.h"

static int compare(gconstpointer a, gconstpointer b)
{
	const LineJob *one = *(const LineJob *const *)a, *other = *(const LineJob *const *)b;

	if (one->spec->priority != other->spec->priority)
		return one->spec->priority > other->spec->priority ? -1 : 1;
	return one->id < other->id ? -1 : one->id > other->id;
}

void turns_sort(GPtrArray *jobs)
{
	g_ptr_array_sort(jobs, compare);
}
