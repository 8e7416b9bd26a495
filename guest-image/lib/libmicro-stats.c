/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "libmicro.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { OUTLIER_SAMPLES_MIN = 40, OUTLIER_SIGMAS = 3 };

static int compare(const void *left, const void *right)
{
	const double *a = left, *b = right;

	return (*a > *b) - (*a < *b);
}

void libmicro_sort(double *values, size_t count)
{
	qsort(values, count, sizeof *values, compare);
}

/* Slope of y over 0, 1, 2 …: sum of (i - mean i)·y over the sum of (i - mean i)². */
static double slope(const double *y, size_t count)
{
	double middle = ((double)count - 1) / 2, top = 0, bottom = 0;

	for (size_t i = 0; i < count; i++) {
		double x = (double)i - middle;

		top += x * y[i];
		bottom += x * x;
	}
	return top / bottom;
}

void libmicro_stats_compute(const double *samples, size_t count, double *sorted, struct libmicro_stats *ret_stats)
{
	double n = (double)count, sum = 0, square = 0, cube = 0, fourth = 0;
	struct libmicro_stats stats = { 0 };

	for (size_t i = 0; i < count; i++)
		sum += samples[i];
	stats.mean = sum / n;
	for (size_t i = 0; i < count; i++) {
		double d = samples[i] - stats.mean;

		square += d * d;
		cube += d * d * d;
		fourth += d * d * d * d;
	}
	memcpy(sorted, samples, count * sizeof *sorted);
	libmicro_sort(sorted, count);
	stats.min = sorted[0];
	stats.max = sorted[count - 1];
	stats.median = sorted[count / 2];
	stats.stddev = sqrt(square / (n - 1));
	stats.standard_error = stats.stddev / sqrt(n);
	stats.confidence_99 = 2.326 * stats.standard_error;
	stats.skew = cube / n / pow(stats.stddev, 3);
	stats.kurtosis = fourth / n / pow(stats.stddev, 4) - 3;
	stats.time_correlation = slope(samples, count);
	*ret_stats = stats;
}

/* Takes out what is more than 3 sigma from the mean; returns how many. */
static size_t remove_outliers(double *samples, size_t count, const struct libmicro_stats *stats)
{
	double low = stats->mean - OUTLIER_SIGMAS * stats->stddev, high = stats->mean + OUTLIER_SIGMAS * stats->stddev;
	size_t kept = 0;

	for (size_t i = 0; i < count; i++)
		if (samples[i] >= low && samples[i] <= high)
			samples[kept++] = samples[i];
	return count - kept;
}

bool libmicro_result_compute(const double *samples, size_t count, struct libmicro_result *ret_result)
{
	struct libmicro_result result = { .kept = malloc(count * sizeof *samples), .kept_count = count };
	double *scratch = malloc(count * sizeof *scratch);
	size_t removed = 1;

	if (result.kept == NULL || scratch == NULL) {
		free(result.kept);
		free(scratch);
		return false;
	}
	memcpy(result.kept, samples, count * sizeof *samples);
	libmicro_stats_compute(samples, count, scratch, &result.raw);
	result.corrected = result.raw;
	while (removed != 0 && result.kept_count > OUTLIER_SAMPLES_MIN) {
		removed = remove_outliers(result.kept, result.kept_count, &result.corrected);
		result.kept_count -= removed;
		result.outliers += removed;
		libmicro_stats_compute(result.kept, result.kept_count, scratch, &result.corrected);
	}
	free(scratch);
	*ret_result = result;
	return true;
}

void libmicro_result_clear(struct libmicro_result *result)
{
	free(result->kept);
	*result = (struct libmicro_result){ 0 };
}
