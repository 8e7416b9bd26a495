/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "jobs/stats/agreement.h"

#include <gsl/gsl_cdf.h>
#include <math.h>

#include "jobs/stats/multiple.h"

static const char *const names[STATS_AGREEMENT_COUNT] = { "agree", "differ", "unknown" };

const char *stats_agreement_to_string(StatsAgreementKind kind)
{
	return names[kind];
}

void stats_agreement_free(StatsAgreement *agreement)
{
	g_free(agreement->benchmark);
	g_free(agreement->params);
	g_free(agreement->metric);
	g_free(agreement->reason);
	g_free(agreement);
}

double stats_welch_p(const double *estimate, const double *se, const double *df, gsize count)
{
	double k = (double)count, sum = 0, mean = 0, between = 0, lambda = 0;

	for (gsize i = 0; i < count; i++) {
		sum += 1 / (se[i] * se[i]);
		mean += estimate[i] / (se[i] * se[i]);
	}
	mean /= sum;
	for (gsize i = 0; i < count; i++) {
		double weight = 1 / (se[i] * se[i]);

		between += weight * pow(estimate[i] - mean, 2) / (k - 1);
		lambda += pow(1 - weight / sum, 2) / df[i];
	}
	double f = between / (1 + 2 * (k - 2) / (k * k - 1) * lambda);

	return fmax(gsl_cdf_fdist_Q(f, k - 1, (k * k - 1) / (3 * lambda)), G_MINDOUBLE);
}

static const StatsComparison *find(const StatsResult *result, const StatsComparison *like)
{
	for (guint i = 0; i < result->comparisons->len; i++) {
		const StatsComparison *comparison = g_ptr_array_index(result->comparisons, i);

		if (g_str_equal(comparison->benchmark, like->benchmark) && g_str_equal(comparison->params, like->params) &&
		    g_str_equal(comparison->metric, like->metric))
			return comparison;
	}
	return NULL;
}

/* What the hosts say of one comparison. */
typedef struct {
	guint count;
	double *estimate, *se, *df;	/* log scale */
	gboolean exact;		/* a host has no residual: no test */
	gboolean mixed;		/* clocks or units differ */
	gboolean worse, better;	/* verdicts */
} Evidence;

static void add_host(Evidence *evidence, const StatsComparison *comparison, const StatsComparison *first)
{
	double s = log1p(comparison->residual_sd_pct / 100);
	double n[] = { comparison->boots[SAMPLE_ARM_BASE], comparison->boots[SAMPLE_ARM_PATCHED] };
	double df = n[0] + n[1] - (comparison->drift_adjusted ? 3 : 2);

	evidence->mixed |= g_strcmp0(comparison->clock, first->clock) || g_strcmp0(comparison->unit, first->unit);
	evidence->worse |= comparison->verdict == STATS_VERDICT_REGRESSION;
	evidence->better |= comparison->verdict == STATS_VERDICT_IMPROVEMENT;
	if (!isfinite(comparison->change_pct) || !isfinite(s) || comparison->verdict == STATS_VERDICT_INVALID || df < 1)
		return;
	evidence->exact |= !(s > STATS_ZERO_RESIDUAL);
	evidence->estimate[evidence->count] = log1p(comparison->change_pct / 100);
	evidence->se[evidence->count] = s * sqrt(1 / n[0] + 1 / n[1]);
	evidence->df[evidence->count++] = df;
}

static void find_range(StatsAgreement *agreement, const Evidence *evidence)
{
	agreement->low_pct = agreement->high_pct = NAN;
	for (guint i = 0; i < evidence->count; i++) {
		double change_pct = 100 * expm1(evidence->estimate[i]);

		agreement->low_pct = fmin(agreement->low_pct, change_pct);
		agreement->high_pct = fmax(agreement->high_pct, change_pct);
	}
}

static void say(StatsAgreement *agreement, StatsAgreementKind kind, const char *reason)
{
	agreement->kind = kind;
	agreement->reason = g_strdup(reason);
}

/* What needs no test; FALSE: it does. */
static gboolean decide_plainly(StatsAgreement *agreement, const Evidence *evidence, double min_effect_pct)
{
	double apart = agreement->high_pct - agreement->low_pct;

	if (evidence->mixed)
		say(agreement, STATS_AGREEMENT_UNKNOWN, "figures of different clocks or units are not compared");
	else if (evidence->count < 2)
		say(agreement, STATS_AGREEMENT_UNKNOWN, "fewer than two hosts have measured it");
	else if (evidence->worse && evidence->better)
		say(agreement, STATS_AGREEMENT_DIFFER, "worse on one host, better on another");
	else if (apart < min_effect_pct)
		say(agreement, STATS_AGREEMENT_AGREE, "the changes are within the smallest one that matters of each other");
	else if (evidence->exact)
		say(agreement, STATS_AGREEMENT_DIFFER, "the values repeat exactly on a host, and another one's change is another");
	return agreement->reason != NULL;
}

static StatsAgreement *look_at(const StatsComparison *first, const StatsResult *const *results, gsize count,
			       double min_effect_pct)
{
	StatsAgreement *agreement = g_new0(StatsAgreement, 1);
	g_autofree double *numbers = g_new0(double, 3 * count);
	Evidence evidence = { .estimate = numbers, .se = numbers + count, .df = numbers + 2 * count };

	agreement->benchmark = g_strdup(first->benchmark);
	agreement->params = g_strdup(first->params);
	agreement->metric = g_strdup(first->metric);
	for (gsize i = 0; i < count; i++) {
		const StatsComparison *comparison = find(results[i], first);

		if (comparison)
			add_host(&evidence, comparison, first);
	}
	agreement->hosts = evidence.count;
	agreement->p = agreement->p_holm = NAN;
	find_range(agreement, &evidence);
	if (evidence.count >= 2 && !evidence.exact && !evidence.mixed)
		agreement->p = stats_welch_p(evidence.estimate, evidence.se, evidence.df, evidence.count);
	decide_plainly(agreement, &evidence, min_effect_pct);
	return agreement;
}

/* Those that have a p, all together. */
static void decide_by_test(const GPtrArray *agreements, double alpha)
{
	g_autofree double *p = g_new0(double, agreements->len + 1), *adjusted = g_new0(double, agreements->len + 1);
	g_autofree double *level = g_new0(double, agreements->len + 1);
	gsize tests = 0;

	for (guint i = 0; i < agreements->len; i++) {
		const StatsAgreement *agreement = g_ptr_array_index(agreements, i);

		if (!isnan(agreement->p))
			p[tests++] = agreement->p;
	}
	stats_holm(p, tests, alpha, adjusted, level);
	for (guint i = 0, test = 0; i < agreements->len; i++) {
		StatsAgreement *agreement = g_ptr_array_index(agreements, i);

		if (isnan(agreement->p))
			continue;
		agreement->p_holm = adjusted[test++];
		if (agreement->reason)
			continue;
		if (agreement->p_holm <= alpha)
			say(agreement, STATS_AGREEMENT_DIFFER, "the changes differ by more than the boots of each host do");
		else
			say(agreement, STATS_AGREEMENT_AGREE, "the changes differ by no more than the boots of each host do");
	}
}

GPtrArray *stats_agreement(const StatsResult *const *results, gsize count)
{
	GPtrArray *agreements = g_ptr_array_new_with_free_func((GDestroyNotify)stats_agreement_free);

	for (guint i = 0; count && i < results[0]->comparisons->len; i++) {
		const StatsComparison *first = g_ptr_array_index(results[0]->comparisons, i);

		if (first->primary)
			g_ptr_array_add(agreements, look_at(first, results, count, results[0]->min_effect_pct));
	}
	if (agreements->len)
		decide_by_test(agreements, results[0]->alpha);
	return agreements;
}

char *stats_agreement_summary(const GPtrArray *agreements, guint results, guint hosts)
{
	guint counts[STATS_AGREEMENT_COUNT] = { 0 };

	for (guint i = 0; i < agreements->len; i++)
		counts[((const StatsAgreement *)g_ptr_array_index(agreements, i))->kind]++;
	if (counts[STATS_AGREEMENT_UNKNOWN] == agreements->len)
		return g_strdup_printf("%u of %u hosts have a result: whether they agree cannot be said yet.", results, hosts);
	if (counts[STATS_AGREEMENT_DIFFER])
		return g_strdup_printf("%u of %u hosts have a result. They differ in %u of %u comparisons.", results, hosts,
				       counts[STATS_AGREEMENT_DIFFER], agreements->len);
	return g_strdup_printf("%u of %u hosts have a result. They agree in %u of %u comparisons.", results, hosts,
			       counts[STATS_AGREEMENT_AGREE], agreements->len);
}
