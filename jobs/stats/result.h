/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* The result of an analysis, and its JSON form (the result object of ARCHITECTURE.md).
 *
 * A number that could not be computed is NaN here and null there, never 0. Doubles survive the way to JSON and back
 * bit for bit. Percentages are 100·(e^β − 1) of a difference β on the log scale, patched against base; positive means
 * that the figure grew, which is worse or better depending on `better`.
 */

#include "jobs/spec/sample.h"
#include "jobs/stats/verdict.h"

#include <glib.h>
#include <json-glib/json-glib.h>

#define STATS_METHOD "regrlab-stats 2"
#define STATS_COMPARISONS_MAX 4096u /* in one result */

#define STATS_RESULT_ERROR (stats_result_error_quark())
GQuark stats_result_error_quark(void);
typedef enum {
	STATS_RESULT_ERROR_SYNTAX, /* not a result object: the message names the member */
} StatsResultError;

/* How it is decided when there are boots enough; one a result, chosen before the first boot. */
typedef enum {
	STATS_RULE_AUTO,       /* of options: sequential where there may be more than STATS_MIN_BOOTS boots an arm, else fixed */
	STATS_RULE_FIXED,      /* all boots, looked at once */
	STATS_RULE_SEQUENTIAL, /* sequential.h */
	STATS_RULE_OPEN_ENDED, /* eprocess.h */
	STATS_RULE_COUNT,
} StatsRule;

const char *stats_rule_to_string(StatsRule rule);
gboolean stats_rule_from_string(const char *text, StatsRule *ret_rule);

/* Why a sequential measurement stops, a comparison or all of it. */
typedef enum {
	STATS_STOP_NOT,        /* it goes on; not sequential */
	STATS_STOP_FOUND,      /* the repeated interval excludes 0 */
	STATS_STOP_EQUIVALENT, /* it lies within ±min_effect */
	STATS_STOP_FUTILE,     /* neither is likely to come */
	STATS_STOP_END,        /* the last look */
	STATS_STOP_INVALID,    /* more boots cannot help */
	STATS_STOP_COUNT,
} StatsStop;

const char *stats_stop_to_string(StatsStop stop); /* NULL for STATS_STOP_NOT */
gboolean stats_stop_from_string(const char *text, StatsStop *ret_stop);

/* A boot that lies more than 5 MAD (scaled to a standard deviation) from the median of its arm. Counted all the same. */
typedef struct {
	SampleArm arm;
	int boot;
	double value; /* its summary, in the metric's unit */
} StatsOutlier;

typedef struct {
	char *benchmark;
	char *params;
	char *metric;
	char *unit;
	SampleBetter better;
	gboolean primary; /* FALSE: exploration */
	char *clock;      /* NULL where clocks are mixed */

	guint boots[SAMPLE_ARM_COUNT];          /* that counted */
	guint boots_rejected[SAMPLE_ARM_COUNT]; /* of valid boots: too few of their runs could be used */
	guint runs;                             /* runs a boot */
	guint runs_rejected;                    /* in all: a pass missing or without a value */
	guint passes;                           /* counted passes a run */

	double mean[SAMPLE_ARM_COUNT]; /* `base`, `patched`: geometric means of the boot summaries, in the unit */
	double change_pct;             /* adjusted for a linear drift of the host where `drift_adjusted` */
	double ci_low_pct, ci_high_pct;
	double ci_level; /* .95 for 95 %: the level at which the comparison was decided, see verdict.h */
	double p;        /* of the t-test of the change; open-ended: the p that holds at any time */
	double p_holm;   /* adjusted; primary comparisons only. Sequential: p in units of its nominal level, times alpha */
	double p_bh;     /* adjusted; exploration only */
	double p_permutation;
	gboolean permutation_exact; /* else Monte Carlo with `seed` */
	gboolean drift_adjusted;    /* FALSE: the boots' start times were no use (all equal) or too few boots */
	double drift_p;
	double hl_shift_pct, hl_low_pct, hl_high_pct; /* Hodges-Lehmann, distribution-free, at `alpha` */
	double residual_sd_pct;                       /* from boot to boot, 100·(e^s − 1) */

	char *method;    /* STATS_METHOD and the rule */
	guint look;      /* sequential: at which it was decided, or the last; all numbers are as of then. 0 = null */
	StatsStop stop;
	gboolean early;  /* found before the last look: the point estimate leans away from 0 */

	StatsVerdict verdict;
	char *reason;       /* plain words, never NULL, may be empty */
	guint boots_needed; /* an arm, in all; 0 = null: decided, or no number of boots can help */
	gint64 seed;        /* of this comparison's random steps */

	GArray *boot_values[SAMPLE_ARM_COUNT]; /* double: boot summaries in the order of the boots' start */
	GArray *outliers;                      /* StatsOutlier */
	double without_change_pct;             /* the same estimate without the outlying boots; NaN if none */
	double without_ci_low_pct, without_ci_high_pct;

	/* Variance components on the log scale, as standard deviations in percent; NaN unless the data are balanced. */
	double boot_sd_pct, run_sd_pct, pass_sd_pct;
	gboolean components_truncated; /* an estimate was negative and is given as 0 */
} StatsComparison;

/* Boots that failed, a finding of its own about the patch: Fisher's exact test. */
typedef struct {
	guint boots[SAMPLE_ARM_COUNT]; /* started */
	guint failed[SAMPLE_ARM_COUNT];
	double p; /* NaN if an arm has no boots */
	StatsVerdict verdict;
	char *reason;
} StatsFailures;

typedef struct StatsResult StatsResult;

struct StatsResult {
	char *method;
	char *clock; /* NULL where clocks are mixed, or without samples */
	double alpha;
	double min_effect_pct;
	guint max_boots; /* an arm, that there may be */
	gint64 seed;
	StatsRule rule;  /* never AUTO */
	GArray *looks;   /* guint: pairs of boots at each look planned; empty unless sequential */
	guint look;      /* looks made; 0 = null */
	guint pairs;     /* of boots that the result rests on; 0 = null: not told by pairs */
	StatsStop stop;  /* why measuring stopped */
	char *arguments; /* of `regrlab analyze`, that give this result again from the samples */
	GPtrArray *comparisons; /* StatsComparison, by benchmark, primary first, metric, then parameter set */
	StatsFailures failures;
	char *summary; /* one sentence for people, see sentence.h */
	StatsResult *continuation; /* of all boots, once some were added to a job that was done; NULL = none were */
};

/* The last word: the continuation if there is one. */
const StatsResult *stats_result_latest(const StatsResult *result);

/* Whether more boots may tell more: a primary comparison is INCONCLUSIVE or INSUFFICIENT. */
gboolean stats_result_is_open(const StatsResult *result);

StatsComparison *stats_comparison_new(void); /* numbers NaN, strings NULL, arrays empty */
void stats_comparison_free(StatsComparison *comparison);
StatsResult *stats_result_new(void);
void stats_result_free(StatsResult *result);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(StatsComparison, stats_comparison_free)
G_DEFINE_AUTOPTR_CLEANUP_FUNC(StatsResult, stats_result_free)

JsonNode *stats_result_to_json(const StatsResult *result);       /* transfer full */
char *stats_result_to_json_text(const StatsResult *result);      /* indented, with a newline at the end */
StatsResult *stats_result_from_json(JsonNode *node, GError **error); /* NULL on failure */
