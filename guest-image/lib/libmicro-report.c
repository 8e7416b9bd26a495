/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "libmicro.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

enum { BUCKETS = 32, BAR = 32 };

static void print_pair(FILE *out, const char *name, double raw, double corrected)
{
	fprintf(out, "# %22s %12.5f            %12.5f\n", name, raw, corrected);
}

static void print_moments(FILE *out, const struct libmicro_stats *raw, const struct libmicro_stats *corrected)
{
	print_pair(out, "min", raw->min, corrected->min);
	print_pair(out, "max", raw->max, corrected->max);
	print_pair(out, "mean", raw->mean, corrected->mean);
	print_pair(out, "median", raw->median, corrected->median);
	print_pair(out, "stddev", raw->stddev, corrected->stddev);
	print_pair(out, "standard error", raw->standard_error, corrected->standard_error);
	print_pair(out, "99% confidence level", raw->confidence_99, corrected->confidence_99);
	print_pair(out, "skew", raw->skew, corrected->skew);
	print_pair(out, "kurtosis", raw->kurtosis, corrected->kurtosis);
	print_pair(out, "time correlation", raw->time_correlation, corrected->time_correlation);
}

struct bucket {
	size_t count;
	double sum;
};

static void print_bar(FILE *out, const struct bucket *bucket, size_t longest)
{
	int stars = longest ? (int)(BAR * bucket->count / longest) : 0;

	if (bucket->count > 0 && stars == 0)
		stars = 1;
	for (int i = 0; i < BAR; i++)
		fputc(i < stars ? '*' : ' ', out);
	if (bucket->count > 0)
		fprintf(out, "%12.5f\n", bucket->sum / (double)bucket->count);
	else
		fprintf(out, "%12s\n", "-");
}

/* Width of all buckets together: the smallest d·10^k (d a whole number up to 10) that makes BUCKETS - 1 steps reach
 * over range; whole microseconds, at least one a bucket. */
static double histogram_scale(double range)
{
	double step = range / (BUCKETS - 1), power = 1;

	while (step / power >= 10)
		power *= 10;
	return fmax(1, floor(step / power + 0.9999999999)) * power * (BUCKETS - 1);
}

/* The lower 95 % of the samples in buckets, the rest in one line. */
static void print_histogram(FILE *out, const struct libmicro_result *result, double *sorted)
{
	size_t n = result->kept_count, n95 = n * 95 / 100, longest = 0, last = 0;
	struct bucket buckets[BUCKETS] = { 0 }, beyond = { 0 };
	double low, scale, step, sum = 0;

	for (size_t i = 0; i < n; i++)
		sorted[i] = result->kept[i];
	libmicro_sort(sorted, n);
	low = floor(sorted[0] + 0.000001);
	scale = histogram_scale(sorted[n95] - low + 1);
	step = scale / (BUCKETS - 1);
	low = floor(low / step) * step;
	for (size_t i = 0; i < n95; i++) {
		size_t at = (size_t)fmin(fmax((sorted[i] - low) / step, 0), BUCKETS - 1);

		buckets[at].count++;
		buckets[at].sum += sorted[i];
		sum += sorted[i];
		longest = buckets[at].count > longest ? buckets[at].count : longest;
		last = at > last ? at : last;
	}
	for (size_t i = n95; i < n; i++) {
		beyond.count++;
		beyond.sum += sorted[i];
	}
	fprintf(out, "#\t%12s %12s %32s %12s\n", "counts", "usecs/call", "", "means");
	for (size_t i = 0; i <= last; i++) {
		fprintf(out, "#       %12zu %12.5f |", buckets[i].count, low + step * (double)i);
		print_bar(out, buckets + i, longest);
	}
	fprintf(out, "#\n#       %12zu %12s |", beyond.count, "> 95%");
	print_bar(out, &beyond, longest);
	fprintf(out, "#\n#       %12s %12.5f\n", "mean of 95%", sum / (double)n95);
	fprintf(out, "#       %12s %12.5f\n", "95th %ile", sorted[n95]);
}

static void print_warnings(FILE *out, const struct libmicro_report *report, const struct libmicro_result *result)
{
	if (!report->quantized && report->errors == 0)
		return;
	fprintf(out, "#\n# WARNINGS\n");
	if (report->quantized)
		fprintf(out, "#     Quantization error likely;increase batch size (-B option) %.0fX to avoid.\n",
			floor((double)report->resolution_ns * 100 /
			      ((double)report->batch * result->corrected.median * 1000)) + 1);
	if (report->errors != 0)
		fprintf(out, "#     Errors occured during benchmark.\n");
}

static void print_statistics(FILE *out, const struct libmicro_report *report, const struct libmicro_result *result)
{
	double *sorted = malloc(result->kept_count * sizeof *sorted);

	fprintf(out, "#\n# STATISTICS         %12s          %12s\n", "usecs/call (raw)", "usecs/call (outliers removed)");
	print_moments(out, &result->raw, &result->corrected);
	/* the spellings are LibMicro's: whatever reads its reports looks for them */
	fprintf(out, "#\n#           elasped time %12.5f\n", report->elapsed_s);
	fprintf(out, "#      number of samples %12zu\n", result->kept_count);
	fprintf(out, "#     number of outliers %12zu\n", result->outliers);
	fprintf(out, "#      getnsecs overhead %12" PRIu64 "\n", report->overhead_ns);
	fprintf(out, "#\n# DISTRIBUTION\n");
	if (sorted != NULL)
		print_histogram(out, result, sorted);
	free(sorted);
	if (report->warnings)
		print_warnings(out, report, result);
}

void libmicro_report_print(FILE *out, const struct libmicro_report *report, const struct libmicro_result *result)
{
	if (report->arguments) {
		fprintf(out, "# ");
		for (char **argument = report->argv; *argument != NULL; argument++)
			fprintf(out, "%s ", *argument);
		fputc('\n', out);
	}
	if (report->header)
		fprintf(out, "%12s %3s %3s %12s %12s %8s %8s %8s\n", "", "prc", "thr", "usecs/call", "samples", "errors",
			"cnt/samp", "size");
	fprintf(out, "%-12s %3" PRIu64 " %3" PRIu64 " %12.5f %12zu %8" PRIu64 " %8" PRIu64 " %8" PRIu64 "\n", report->name,
		report->processes, report->threads,
		report->use_mean ? result->corrected.mean : result->corrected.median, result->kept_count, report->errors,
		report->batch, report->size);
	if (report->statistics)
		print_statistics(out, report, result);
}
