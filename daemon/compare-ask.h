/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a query wants compared: kernels by their jobs, or the versions of a series. */
#pragma once

#include "daemon/lab.h"
#include "web/compare.h"

typedef struct {
	GPtrArray *jobs;	/* of StoreJob: owned records that the comparison points at */
	GPtrArray *results;	/* of StatsResult, likewise */
	Comparison *comparison;	/* NULL: nothing was asked for, or nothing is left */
	GPtrArray *left_out;	/* of char *: sentences on what is not in it */
	char *query;		/* as it was understood; never NULL */
} CompareAsk;

/* FALSE: answered. */
gboolean compare_ask(HttpRequest *request, Lab *lab, CompareAsk *ret_ask);
void compare_ask_clear(CompareAsk *ask);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(CompareAsk, compare_ask_clear)
