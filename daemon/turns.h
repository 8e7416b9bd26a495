/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whose turn it is: the order of those who wait for the same thing. */
#pragma once

#include "daemon/dispatch.h"

/* Sorts jobs (of LineJob): by priority, then by age. */
void turns_sort(GPtrArray *jobs);
