/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Lists of CPUs as the kernel writes them. */
#pragma once

#include <glib.h>

/*
 * "0-3,8" to CPU numbers (int), ascending, no doubles; NULL or empty: the
 * CPUs this process may run on. The array is the caller's. Numbers end at
 * 1023; an error is a SPEC_ERROR with the field "cpus".
 */
gboolean cpu_list_parse(const char *list, GArray **ret_cpus, GError **error);

/* The same the other way: "0-3,8" of CPU numbers (int), ascending, no doubles; empty: none. The caller's. */
char *cpu_list_format(const GArray *cpus);
