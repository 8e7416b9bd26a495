/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "jobs/stats/components.h"

#include <math.h>

#include "jobs/stats/descriptive.h"

#define RUNS_MAX 1000u

/* The squares of `count` values around their mean. */
static double squares(const double *values, gsize count)
{
	double mean = stats_mean(values, count), sum = 0;

	for (gsize i = 0; i < count; i++)
		sum += (values[i] - mean) * (values[i] - mean);
	return sum;
}

/* Means of consecutive groups. */
static double *group_means(const double *values, gsize groups, gsize size)
{
	double *means = g_new(double, groups);

	for (gsize i = 0; i < groups; i++)
		means[i] = stats_mean(values + i * size, size);
	return means;
}

static double within(const double *values, gsize groups, gsize size)
{
	double sum = 0;

	for (gsize i = 0; i < groups; i++)
		sum += squares(values + i * size, size);
	return sum;
}

/* Squares of the boots' means around the mean of their arm; *ret_df its degrees of freedom. */
static double between_boots(const double *means, const SampleArm *arm, gsize boots, double *ret_df)
{
	g_autofree double *own = g_new(double, boots);
	double sum = 0;

	*ret_df = (double)boots;
	for (int a = 0; a < SAMPLE_ARM_COUNT; a++) {
		gsize count = 0;

		for (gsize i = 0; i < boots; i++)
			if ((arm ? arm[i] : SAMPLE_ARM_BASE) == (SampleArm)a)
				own[count++] = means[i];
		if (count) {
			sum += squares(own, count);
			*ret_df -= 1;
		}
	}
	return sum;
}

static double estimate(StatsComponents *components, double upper_ms, double lower_ms, double size)
{
	double variance = (upper_ms - lower_ms) / size;

	if (variance < 0) {
		components->truncated = TRUE;
		return 0;
	}
	return variance;
}

StatsComponents stats_components(const double *y, const SampleArm *arm, gsize boots, gsize runs, gsize passes)
{
	g_autofree double *run_means = group_means(y, boots * runs, passes);
	g_autofree double *boot_means = group_means(run_means, boots, runs);
	StatsComponents c = { .boot_var = NAN, .run_var = NAN, .pass_var = NAN };
	double between = between_boots(boot_means, arm, boots, &c.boot_df), lowest = 0;

	c.run_df = (double)(boots * (runs - 1));
	c.pass_df = (double)(boots * runs * (passes - 1));
	c.boot_ms = c.boot_df > 0 ? between * (double)(runs * passes) / c.boot_df : NAN;
	c.run_ms = c.run_df > 0 ? within(run_means, boots, runs) * (double)passes / c.run_df : NAN;
	c.pass_ms = c.pass_df > 0 ? within(y, boots * runs, passes) / c.pass_df : NAN;

	if (c.pass_df > 0)
		lowest = c.pass_var = c.pass_ms;
	if (c.run_df > 0) {
		c.run_var = estimate(&c, c.run_ms, lowest, (double)passes);
		lowest = c.run_ms;
	}
	if (c.boot_df > 0)
		c.boot_var = estimate(&c, c.boot_ms, lowest, (double)(runs * passes));
	return c;
}

guint stats_best_runs(double boot_cost, double run_cost, double boot_var, double run_var, double pass_var, gsize passes)
{
	double runs;

	if (!(boot_var > 0))
		return 0;
	runs = ceil(sqrt(boot_cost / run_cost * (run_var + pass_var / (double)passes) / boot_var));
	return runs < 1 ? 1 : (guint)MIN(runs, RUNS_MAX);
}
