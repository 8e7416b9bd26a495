/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "jobs/stats/dip.h"

#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <math.h>

/* The staircase jumps at value i from i to i + 1 (in units of 1/n). Below it lies its greatest convex minorant, through
 * the feet of the jumps; above it its least concave majorant, through their heads. */
typedef struct {
	const double *x;
	double step; /* 0 = feet, 1 = heads */
	gsize *knots; /* in ascending order */
	gsize count;
} Hull;

static double height(const Hull *hull, gsize i)
{
	return (double)i + hull->step;
}

static void hull_build(Hull *hull, gsize low, gsize high)
{
	const double *x = hull->x;
	double sign = hull->step > 0 ? -1 : 1;

	hull->count = 0;
	for (gsize i = low; i <= high; i++) {
		while (hull->count >= 2) {
			gsize a = hull->knots[hull->count - 2], b = hull->knots[hull->count - 1];
			double turn = (double)(b - a) * (x[i] - x[a]) - (double)(i - a) * (x[b] - x[a]);

			if (sign * turn < 0)
				break;
			hull->count--;
		}
		hull->knots[hull->count++] = i;
	}
}

/* The hull's height at value i; *knot goes along, as the knot at or before it. */
static double hull_at(const Hull *hull, gsize i, gsize *knot)
{
	gsize a, b;
	double share;

	while (*knot + 1 < hull->count && hull->knots[*knot + 1] <= i)
		++*knot;
	a = hull->knots[*knot];
	if (a == i)
		return height(hull, i);
	b = hull->knots[*knot + 1];
	share = hull->x[b] > hull->x[a] ? (hull->x[i] - hull->x[a]) / (hull->x[b] - hull->x[a]) : (double)(i - a) / (double)(b - a);
	return height(hull, a) + share * (double)(b - a);
}

/* Where the two hulls are farthest apart; the mode lies between the knots around it. */
typedef struct {
	double distance;
	gsize low, high;
} Gap;

static Gap widest_gap(const Hull *feet, const Hull *heads)
{
	Gap gap = { .distance = -1 };

	for (gsize i = 0, knot = 0; i < feet->count; i++) {
		gsize at = feet->knots[i];
		double distance = hull_at(heads, at, &knot) - height(feet, at);

		if (distance > gap.distance)
			gap = (Gap){ distance, at, heads->knots[knot] == at ? at : heads->knots[knot + 1] };
	}
	for (gsize i = 0, knot = 0; i < heads->count; i++) {
		gsize at = heads->knots[i];
		double distance = height(heads, at) - hull_at(feet, at, &knot);

		if (distance >= gap.distance)
			gap = (Gap){ distance, feet->knots[knot], at };
	}
	return gap;
}

/* The farthest that the staircase is from the convex hull left of the mode, and from the concave one right of it. */
static double outside(const Hull *feet, const Hull *heads, gsize low, gsize high, const Gap *gap)
{
	double farthest = 0;

	for (gsize i = low, knot = 0; i <= gap->low; i++)
		farthest = MAX(farthest, height(heads, i) - hull_at(feet, i, &knot));
	for (gsize i = gap->high, knot = 0; i <= high; i++)
		farthest = MAX(farthest, hull_at(heads, i, &knot) - height(feet, i));
	return farthest;
}

/* knots: room for 2n. Twice the dip in units of 1/n; the iteration of section 4 of the paper. */
static double dip_in_steps(const double *x, gsize n, gsize *knots)
{
	Hull feet = { .x = x, .step = 0, .knots = knots }, heads = { .x = x, .step = 1, .knots = knots + n };
	gsize low = 0, high = n - 1;
	double dip = 1;

	for (;;) {
		Gap gap;

		hull_build(&feet, low, high);
		hull_build(&heads, low, high);
		gap = widest_gap(&feet, &heads);
		if (gap.distance <= dip)
			return dip;
		dip = MAX(dip, outside(&feet, &heads, low, high, &gap));
		if (gap.low == low && gap.high == high)
			return dip;
		low = gap.low;
		high = gap.high;
	}
}

double stats_dip(const double *sorted, gsize n)
{
	g_autofree gsize *knots = g_new(gsize, 2 * MAX(n, 1));

	return n < STATS_DIP_MIN ? NAN : dip_in_steps(sorted, n, knots) / (2 * (double)n);
}

double stats_dip_p(double dip, gsize n, gint64 seed)
{
	g_autofree gsize *knots = g_new(gsize, 2 * MAX(n, 1));
	g_autofree double *x = g_new(double, MAX(n, 1));
	gsl_rng *rng;
	guint extreme = 0;

	if (n < STATS_DIP_MIN || isnan(dip))
		return NAN;
	rng = gsl_rng_alloc(gsl_rng_mt19937);
	gsl_rng_set(rng, (unsigned long)seed);
	for (guint draw = 0; draw < STATS_DIP_DRAWS; draw++) {
		double sum = 0;

		/* sums of exponential steps are sorted uniform values on some scale, and the dip does not depend on it */
		for (gsize i = 0; i < n; i++)
			x[i] = sum += gsl_ran_exponential(rng, 1);
		extreme += dip_in_steps(x, n, knots) / (2 * (double)n) >= dip * (1 - 1e-12);
	}
	gsl_rng_free(rng);
	return (extreme + 1.0) / (STATS_DIP_DRAWS + 1.0);
}
