/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "jobs/stats/seed.h"

static guint64 scramble(guint64 x)
{
	x += G_GUINT64_CONSTANT(0x9e3779b97f4a7c15);
	x = (x ^ (x >> 30)) * G_GUINT64_CONSTANT(0xbf58476d1ce4e5b9);
	x = (x ^ (x >> 27)) * G_GUINT64_CONSTANT(0x94d049bb133111eb);
	return x ^ (x >> 31);
}

static guint64 scramble_text(guint64 seed, const char *text)
{
	for (; *text; text++)
		seed = scramble(seed ^ (guchar)*text);
	return scramble(seed ^ 0x100);
}

/* All of its bits are used by the generator. */
static gint64 to_seed(guint64 x)
{
	return (gint64)(x % 0x7fffffff) + 1;
}

gint64 stats_job_seed(gint64 job)
{
	return to_seed(scramble((guint64)job));
}

gint64 stats_comparison_seed(gint64 seed, const char *benchmark, const char *params, const char *metric)
{
	guint64 x = scramble_text((guint64)seed, benchmark);

	x = scramble_text(x, params);
	return to_seed(scramble_text(x, metric));
}

gint64 stats_boundary_seed(gint64 seed)
{
	return to_seed(scramble_text((guint64)seed, "boundary"));
}
