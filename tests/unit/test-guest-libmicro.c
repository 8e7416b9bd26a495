/* SPDX-License-Identifier: GPL-2.0-or-later */
/* LibMicro's statistics and report. The expected numbers are worked out by hand from the rules in libmicro.h. */
#include <glib.h>
#include <string.h>

#include "guest-image/lib/libmicro-report.c"
#include "guest-image/lib/libmicro-stats.c"

#define assert_near(value, expected) g_assert_cmpfloat_with_epsilon(value, expected, 1e-9)

/* 1 2 3 4: deviations -1.5 -.5 .5 1.5; squares sum to 5, fourth powers to 10.25 */
static void test_moments(void)
{
	static const double samples[] = { 4, 1, 3, 2 };
	double sorted[4];
	struct libmicro_stats stats;

	libmicro_stats_compute(samples, 4, sorted, &stats);
	assert_near(stats.min, 1);
	assert_near(stats.max, 4);
	assert_near(stats.mean, 2.5);
	assert_near(stats.median, 3);
	assert_near(stats.stddev, 1.2909944487358056);		/* sqrt(5/3) */
	assert_near(stats.standard_error, 0.6454972243679028);	/* sqrt(5/3)/2 */
	assert_near(stats.confidence_99, 1.5014265438797419);	/* 2.326 of them */
	assert_near(stats.skew, 0);
	assert_near(stats.kurtosis, -2.0775);			/* (10.25/4)/(5/3)^2 - 3 */
	/* x -1.5 -.5 .5 1.5: (-6 - .5 + 1.5 + 3)/5 */
	assert_near(stats.time_correlation, -0.4);
}

/* 1 1 1 5: deviations -1 -1 -1 3; squares 12, cubes 24, fourth powers 84; stddev 2 */
static void test_skewed(void)
{
	static const double samples[] = { 1, 1, 1, 5 };
	double sorted[4];
	struct libmicro_stats stats;

	libmicro_stats_compute(samples, 4, sorted, &stats);
	assert_near(stats.median, 1);
	assert_near(stats.stddev, 2);
	assert_near(stats.skew, 0.75);
	assert_near(stats.kurtosis, -1.6875);
	assert_near(stats.time_correlation, 1.2);
}

static void test_one_sample(void)
{
	const double sample = 7;
	double sorted;
	struct libmicro_stats stats;

	libmicro_stats_compute(&sample, 1, &sorted, &stats);
	assert_near(stats.mean, 7);
	assert_near(stats.median, 7);
	g_assert_true(isnan(stats.stddev));
}

/* 9 and 11 in turn, and what is far from them behind */
static void fill(double *samples, gsize near, const double *far, gsize n_far)
{
	for (gsize i = 0; i < near; i++)
		samples[i] = i % 2 == 0 ? 9 : 11;
	for (gsize i = 0; i < n_far; i++)
		samples[near + i] = far[i];
}

static void test_outlier(void)
{
	double samples[41];
	struct libmicro_result result;

	fill(samples, 40, (const double[]){ 1000 }, 1);
	g_assert_true(libmicro_result_compute(samples, 41, &result));
	g_assert_cmpuint(result.outliers, ==, 1);
	g_assert_cmpuint(result.kept_count, ==, 40);
	assert_near(result.raw.mean, 1400.0 / 41);
	assert_near(result.raw.max, 1000);
	assert_near(result.corrected.mean, 10);
	assert_near(result.corrected.median, 11);		/* element 20 of 20 nines and 20 elevens */
	assert_near(result.corrected.stddev, 1.0127393670836666);	/* sqrt(40/39) */
	libmicro_result_clear(&result);
	g_assert_null(result.kept);
}

/* with 40 samples nothing is removed, however far it is */
static void test_few_samples(void)
{
	double samples[40];
	struct libmicro_result result;

	fill(samples, 39, (const double[]){ 1000 }, 1);
	g_assert_true(libmicro_result_compute(samples, 40, &result));
	g_assert_cmpuint(result.outliers, ==, 0);
	assert_near(result.corrected.max, 1000);
	libmicro_result_clear(&result);
}

/* 100 is within 3 sigma while 100000 is there, and outside when it is gone */
static void test_outliers_again(void)
{
	double samples[60];
	struct libmicro_result result;

	fill(samples, 58, (const double[]){ 100, 100000 }, 2);
	g_assert_true(libmicro_result_compute(samples, 60, &result));
	g_assert_cmpuint(result.outliers, ==, 2);
	g_assert_cmpuint(result.kept_count, ==, 58);
	assert_near(result.corrected.mean, 10);
	assert_near(result.corrected.max, 11);
	libmicro_result_clear(&result);
}

static void test_equal_samples(void)
{
	double samples[50];
	struct libmicro_result result;

	for (gsize i = 0; i < G_N_ELEMENTS(samples); i++)
		samples[i] = 2;
	g_assert_true(libmicro_result_compute(samples, 50, &result));
	g_assert_cmpuint(result.outliers, ==, 0);
	assert_near(result.corrected.median, 2);
	assert_near(result.corrected.stddev, 0);
	libmicro_result_clear(&result);
}

static char *print(const struct libmicro_report *report, const double *samples, gsize count)
{
	g_autofree char *text = NULL;
	char *buffer = NULL;
	gsize size = 0;
	FILE *out = open_memstream(&buffer, &size);
	struct libmicro_result result;

	g_assert_true(libmicro_result_compute(samples, count, &result));
	libmicro_report_print(out, report, &result);
	fclose(out);
	libmicro_result_clear(&result);
	text = g_strdup(buffer);
	free(buffer);
	return g_steal_pointer(&text);
}

static const struct libmicro_report report = {
	.name = "pwrite_t1k", .argv = (char *[]){ (char[]){ "pwrite" }, (char[]){ "-L" }, NULL }, .processes = 1,
	.threads = 1, .batch = 40, .size = 1024, .elapsed_s = 0.5, .overhead_ns = 20, .resolution_ns = 1,
	.arguments = true, .header = true,
};

static void test_result_line(void)
{
	static const double samples[] = { 4, 1, 3, 2 };
	g_autofree char *text = print(&report, samples, 4);
	struct libmicro_report bare = report;

	g_assert_cmpstr(text, ==,
		"# pwrite -L \n"
		"             prc thr   usecs/call      samples   errors cnt/samp     size\n"
		"pwrite_t1k     1   1      3.00000            4        0       40     1024\n");
	bare.arguments = bare.header = false;
	bare.use_mean = true;
	g_autofree char *mean = print(&bare, samples, 4);
	g_assert_cmpstr(mean, ==, "pwrite_t1k     1   1      2.50000            4        0       40     1024\n");
}

static void test_statistics(void)
{
	double samples[41];
	struct libmicro_report full = report;

	fill(samples, 40, (const double[]){ 1000 }, 1);
	full.arguments = full.header = false;
	full.statistics = full.warnings = full.quantized = true;
	full.errors = 3;
	g_autofree char *text = print(&full, samples, 41);
	/* 38 samples are the lower 95 %: 20 nines and 18 elevens; buckets are 1 wide from 9 */
	g_assert_cmpstr(text, ==,
		"pwrite_t1k     1   1     11.00000           40        3       40     1024\n"
		"#\n"
		"# STATISTICS         usecs/call (raw)          usecs/call (outliers removed)\n"
		"#                    min      9.00000                 9.00000\n"
		"#                    max   1000.00000                11.00000\n"
		"#                   mean     34.14634                10.00000\n"
		"#                 median     11.00000                11.00000\n"
		"#                 stddev    154.61526                 1.01274\n"
		"#         standard error     24.14685                 0.16013\n"
		"#   99% confidence level     56.16556                 0.37246\n"
		"#                   skew      5.94183                 0.00000\n"
		"#               kurtosis     34.14146                -2.04937\n"
		"#       time correlation      3.45296                 0.00375\n"
		"#\n"
		"#           elasped time      0.50000\n"
		"#      number of samples           40\n"
		"#     number of outliers            1\n"
		"#      getnsecs overhead           20\n"
		"#\n"
		"# DISTRIBUTION\n"
		"#	      counts   usecs/call                                         means\n"
		"#                 20      9.00000 |********************************     9.00000\n"
		"#                  0     10.00000 |                                           -\n"
		"#                 18     11.00000 |****************************        11.00000\n"
		"#\n"
		"#                  2        > 95% |***                                 11.00000\n"
		"#\n"
		"#        mean of 95%      9.94737\n"
		"#          95th %ile     11.00000\n"
		"#\n"
		"# WARNINGS\n"
		"#     Quantization error likely;increase batch size (-B option) 1X to avoid.\n"
		"#     Errors occured during benchmark.\n");
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/guest/libmicro/moments", test_moments);
	g_test_add_func("/guest/libmicro/skewed", test_skewed);
	g_test_add_func("/guest/libmicro/one-sample", test_one_sample);
	g_test_add_func("/guest/libmicro/outlier", test_outlier);
	g_test_add_func("/guest/libmicro/few-samples", test_few_samples);
	g_test_add_func("/guest/libmicro/outliers-again", test_outliers_again);
	g_test_add_func("/guest/libmicro/equal-samples", test_equal_samples);
	g_test_add_func("/guest/libmicro/result-line", test_result_line);
	g_test_add_func("/guest/libmicro/statistics", test_statistics);
	return g_test_run();
}
