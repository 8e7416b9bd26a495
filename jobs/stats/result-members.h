/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* The members of a result's JSON form: one row each, for its writer and its reader. */

#include "jobs/stats/result.h"

typedef enum {
	STATS_MEMBER_DOUBLE,	/* NaN = null */
	STATS_MEMBER_TEXT,	/* NULL = null */
	STATS_MEMBER_COUNT,	/* guint */
	STATS_MEMBER_MAYBE,	/* guint, 0 = null */
	STATS_MEMBER_INT64,
	STATS_MEMBER_BOOL,
	STATS_MEMBER_ARMS,	/* guint[2] as {base, patched} */
	STATS_MEMBER_BETTER,
	STATS_MEMBER_VERDICT,
	STATS_MEMBER_VALUES,	/* GArray *[2] of double as {base, patched} */
	STATS_MEMBER_OUTLIERS,
	STATS_MEMBER_COUNTS,	/* GArray of guint */
	STATS_MEMBER_RULE,
	STATS_MEMBER_STOP,	/* STATS_STOP_NOT = null */
} StatsMemberKind;

typedef struct {
	const char *name;
	StatsMemberKind kind;
	gsize offset;
	gboolean required; /* when read; the others may be missing or null */
} StatsMember;

/* A table of them. */
typedef struct {
	const StatsMember *members;
	gsize count;
} StatsMembers;

extern const StatsMembers stats_result_members, stats_comparison_members, stats_failures_members;
