/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The words that pages and the plain-text report share. */
#pragma once

#include "db/store.h"
#include "jobs/spec/peek.h"
#include "jobs/spec/text.h"
#include "jobs/stats/result.h"

/* "waits for a host"; what a person reads instead of a state's name. */
const char *words_state(JobState state);

/* "slower", "faster" for a primary metric, "worse", "better" for others; empty where there is no change to speak of. */
const char *words_direction(const StatsComparison *comparison);

/* A word and a mark that does not need colour: "slower", "▲". */
typedef struct {
	const char *name;	/* as in the API: REGRESSION */
	const char *mark;
	const char *css;	/* class */
	const char *help;	/* a sentence */
} WordsVerdict;
const WordsVerdict *words_verdict(StatsVerdict verdict);

/* How a job ended that has no result, in a sentence without its full stop. */
const char *words_end(JobState state, const char *failed_arm, const char *reason);

/* The answer in a sentence: of the result, of a failure, or that there is none yet. The caller's. */
char *words_headline(const StoreJob *job, const StatsResult *result);

/* "2026-11-30 22:05:01 UTC"; the caller's, empty for 0. */
char *words_time(gint64 time_ns);

/* p with three decimals or as a bound: "0.029", "<0.001", "-" for NaN; the caller's. */
char *words_p(double p);
/* "[+3.1%, +5.2%]"; "-" where there is no interval; the caller's. */
char *words_interval(double low_pct, double high_pct);
