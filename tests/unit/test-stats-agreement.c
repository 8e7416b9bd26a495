/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether hosts agree. */
#include "jobs/stats/agreement.h"
#include "tests/unit/stats-fixture.h"

/* R: oneway.test() of groups with these means, standard errors and degrees of freedom. */
static void test_welch(void)
{
	static const double estimate[] = { -.2, .1, .15, .11 }, se[] = { .05, .02, .1, .03 }, df[] = { 6, 6, 4, 12 };

	g_assert_cmpfloat_with_epsilon(stats_welch_p((double[]){ .01, .013 }, (double[]){ .002, .003 }, (double[]){ 5, 9 }, 2),
				       .419493689937, 1e-11);
	g_assert_cmpfloat_with_epsilon(stats_welch_p((double[]){ .01, .013, .03 }, (double[]){ .002, .003, .004 },
						     (double[]){ 5, 9, 17 }, 3), .00118635119376, 1e-12);
	g_assert_cmpfloat_with_epsilon(stats_welch_p(estimate, se, df, 4), .00162947975281, 1e-12);
	/* far apart: never 0 */
	g_assert_cmpfloat(stats_welch_p((double[]){ 0, 1e6 }, (double[]){ 1e-9, 1e-9 }, (double[]){ 90, 90 }, 2), >, 0);
	g_assert_cmpfloat_with_epsilon(stats_welch_p((double[]){ 2, 2 }, (double[]){ 1, 3 }, (double[]){ 5, 6 }, 2), 1, 1e-15);
}

static StatsResult *measured(double factor, double sd, guint32 seed)
{
	Job job = JOB(.order = "ABBABAABABBABAAB", .factor = factor, .sd = sd, .seed = seed);

	return analyse_job(job);
}

/* What a few hosts with such changes and noise say of their one comparison. */
static StatsAgreementKind kind_of(const double *factors, gsize hosts, double sd, double *ret_p)
{
	const StatsResult *results[8];
	StatsAgreementKind kind;

	for (gsize i = 0; i < hosts; i++)
		results[i] = measured(factors[i], sd, (guint32)(i + 1));
	g_autoptr(GPtrArray) agreements = stats_agreement(results, hosts);
	g_assert_cmpuint(agreements->len, ==, 1);
	const StatsAgreement *agreement = g_ptr_array_index(agreements, 0);
	kind = agreement->kind;
	if (ret_p)
		*ret_p = agreement->p_holm;
	g_assert_cmpstr(agreement->reason, !=, "");
	g_assert_true(hosts < 2 || agreement->low_pct <= agreement->high_pct);
	for (gsize i = 0; i < hosts; i++)
		stats_result_free((StatsResult *)results[i]);
	return kind;
}

static void test_kinds(void)
{
	double p;

	g_assert_cmpint(kind_of((double[]){ 1.1, 1.1, 1.1 }, 3, .01, &p), ==, STATS_AGREEMENT_AGREE);
	/* one host says otherwise */
	g_assert_cmpint(kind_of((double[]){ 1.1, 1.2, 1.1 }, 3, .01, &p), ==, STATS_AGREEMENT_DIFFER);
	g_assert_cmpfloat(p, <, .001);
	g_assert_cmpint(kind_of((double[]){ 1.1, .9 }, 2, .01, NULL), ==, STATS_AGREEMENT_DIFFER);
	/* surely different, and too little to matter */
	g_assert_cmpint(kind_of((double[]){ 1.1, 1.104 }, 2, .0001, &p), ==, STATS_AGREEMENT_AGREE);
	g_assert_cmpfloat(p, <, .001);
	g_assert_cmpint(kind_of((double[]){ 1.1 }, 1, .01, NULL), ==, STATS_AGREEMENT_UNKNOWN);
	/* without a residual: the values themselves */
	g_assert_cmpint(kind_of((double[]){ 1.1, 1.1 }, 2, 0, &p), ==, STATS_AGREEMENT_AGREE);
	g_assert_true(isnan(p));
	g_assert_cmpint(kind_of((double[]){ 1.1, 1.12 }, 2, 0, NULL), ==, STATS_AGREEMENT_DIFFER);
}

/* Hosts of one truth are said to differ in 5 of 100 cases, of 400: 20, and hardly ever more than 33 (3 sd). */
static void test_rate(void)
{
	int differ = 0;

	for (guint32 i = 0; i < 400; i++) {
		StatsResult *results[3];

		for (guint32 host = 0; host < 3; host++)
			results[host] = measured(1, .1, 3 * i + host + 1);
		g_autoptr(GPtrArray) agreements = stats_agreement((const StatsResult *const *)results, 3);
		differ += ((const StatsAgreement *)g_ptr_array_index(agreements, 0))->kind == STATS_AGREEMENT_DIFFER;
		for (int host = 0; host < 3; host++)
			stats_result_free(results[host]);
	}
	g_assert_cmpint(differ, <=, 33);
	g_assert_cmpint(differ, >=, 8);
}

static void test_clocks(void)
{
	g_autoptr(StatsResult) here = measured(1, .01, 1), there = measured(1, .01, 2);
	StatsComparison *comparison = g_ptr_array_index(there->comparisons, 0);
	const StatsResult *results[] = { here, there };

	g_free(comparison->clock);
	comparison->clock = g_strdup("tcg");
	g_autoptr(GPtrArray) agreements = stats_agreement(results, 2);
	const StatsAgreement *agreement = g_ptr_array_index(agreements, 0);
	g_assert_cmpint(agreement->kind, ==, STATS_AGREEMENT_UNKNOWN);
	g_autofree char *summary = stats_agreement_summary(agreements, 2, 3);
	g_assert_cmpstr(summary, ==, "2 of 3 hosts have a result: whether they agree cannot be said yet.");
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/agreement/welch", test_welch);
	g_test_add_func("/agreement/kinds", test_kinds);
	g_test_add_func("/agreement/rate", test_rate);
	g_test_add_func("/agreement/clocks", test_clocks);
	return g_test_run();
}
