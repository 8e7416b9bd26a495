/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * Statistics and report as LibMicro gives them, so that a figure of ours and one of LibMicro mean the same and the
 * tools that read one read the other. The rules, as its documentation and output define them:
 *
 *  - median: element n/2 (integer division) of the sorted samples, never a mean of two;
 *  - stddev with n - 1; standard error stddev/sqrt(n); "99% confidence level" 2.326 standard errors;
 *  - skew and kurtosis: third and fourth central moments over n, by that stddev; kurtosis minus 3;
 *  - time correlation: slope of the least-squares line of the samples over their index;
 *  - outliers: with more than 40 samples, those more than 3 stddev from the mean are removed, again and again until
 *    none is or 40 are left. The figure reported is the median of what is left.
 *
 * Samples are in microseconds a call.
 */
#ifndef GUEST_LIBMICRO_H
#define GUEST_LIBMICRO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct libmicro_stats {
	double min, max, mean, median, stddev, standard_error, confidence_99, skew, kurtosis, time_correlation;
};

struct libmicro_result {
	struct libmicro_stats raw, corrected;
	double *kept;                   /* owned: the samples without outliers, in their order */
	size_t kept_count, outliers;
};

void libmicro_sort(double *values, size_t count);       /* ascending */
/* count >= 1. With one sample what needs two (stddev and after) is NaN. sorted: scratch for count values. */
void libmicro_stats_compute(const double *samples, size_t count, double *sorted, struct libmicro_stats *ret_stats);
/* False: out of memory. */
bool libmicro_result_compute(const double *samples, size_t count, struct libmicro_result *ret_result);
void libmicro_result_clear(struct libmicro_result *result);

/* What one execution was, for the report. */
struct libmicro_report {
	const char *name;
	char **argv;                    /* the command line of -L, NULL-terminated */
	uint64_t processes, threads, batch, errors, size;
	double elapsed_s;
	uint64_t overhead_ns;           /* of reading the clock, subtracted from each sample */
	uint64_t resolution_ns;
	bool quantized;                 /* a sample was too short for the clock's resolution */
	bool arguments, header, use_mean, statistics, warnings; /* -L, not -H, -M, -S, -W */
};

void libmicro_report_print(FILE *out, const struct libmicro_report *report, const struct libmicro_result *result);

#endif
