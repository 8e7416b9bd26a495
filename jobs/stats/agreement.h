/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* The same comparison made on several hosts: whether they say the same.
 *
 * Each host's change is an estimate of its own (its boots, its luck, its hardware); nothing is pooled into one verdict, and
 * no host's verdict changes by it. The question is only whether the estimates differ by more than their own uncertainty.
 */

#include "jobs/stats/result.h"

typedef enum {
	STATS_AGREEMENT_AGREE,   /* no two hosts contradict each other, as far as these boots can tell */
	STATS_AGREEMENT_DIFFER,  /* one host's change is another one's not */
	STATS_AGREEMENT_UNKNOWN, /* fewer than two hosts have an estimate that can be compared */
	STATS_AGREEMENT_COUNT,
} StatsAgreementKind;

const char *stats_agreement_to_string(StatsAgreementKind kind);

/* One comparison of the job, over the hosts. Changes in percent, as in StatsComparison. */
typedef struct {
	char *benchmark, *params, *metric;
	guint hosts;	/* that have an estimate with a standard error, or without residual */
	double low_pct, high_pct;	/* the smallest and the largest change of any host; NaN: none has one */
	double p;	/* that the true changes are equal (below); NaN: not testable */
	double p_holm;	/* adjusted over the job's primary comparisons */
	StatsAgreementKind kind;
	char *reason;	/* plain words, never empty */
} StatsAgreement;

void stats_agreement_free(StatsAgreement *agreement);

/* Welch's test (B. L. Welch, On the comparison of several mean values, Biometrika 38, 1951) of count >= 2 estimates with
 * standard errors se > 0 of df > 0 degrees of freedom. In (0, 1]. */
double stats_welch_p(const double *estimate, const double *se, const double *df, gsize count);

/*
 * The primary comparisons that the first result has. A host's standard error is s·√(1/nA + 1/nB) of its residual standard
 * deviation s, with the degrees of freedom of its fit: in ABBA order arms and drift are all but orthogonal. Decided, the
 * first that holds:
 *   unknown  clocks or units differ; or fewer than two estimates;
 *   differ   a REGRESSION here and an IMPROVEMENT there;
 *   agree    all changes are within min_effect of each other: what they differ by is too small to matter;
 *   differ   p_holm <= alpha; or, without a residual to test by, by more than min_effect;
 *   agree    else.
 * alpha and min_effect are the first result's. An array of StatsAgreement that owns them.
 */
GPtrArray *stats_agreement(const StatsResult *const *results, gsize count);

/* In a sentence, of that many hosts of which so many have a result. The caller's. */
char *stats_agreement_summary(const GPtrArray *agreements, guint results, guint hosts);
