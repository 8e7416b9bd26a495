/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "host/spin.h"

#include <stdlib.h>

static int by_size(const void *a, const void *b)
{
	gint64 left = *(const gint64 *)a, right = *(const gint64 *)b;

	return (left > right) - (left < right);
}

/* The median of the first steps: a gap among them does not move it. */
static gint64 usual_step(const HostClock *clock)
{
	static const guint n = HOST_SPIN_CALIBRATION;
	g_autofree gint64 *steps = g_new(gint64, n);
	gint64 last = clock->now_ns(clock->user);

	for (guint i = 0; i < n; i++) {
		gint64 now = clock->now_ns(clock->user);
		steps[i] = now - last;
		last = now;
	}
	qsort(steps, n, sizeof(*steps), by_size);
	return steps[n / 2];
}

HostSpin host_spin(const HostClock *clock, gint64 duration_ns)
{
	gint64 usual = usual_step(clock), start = clock->now_ns(clock->user), last = start;
	gint64 limit = MAX(usual * HOST_SPIN_GAP_STEPS, HOST_SPIN_GAP_NS);
	HostSpin spin = { 0 };

	while (last - start < duration_ns) {
		gint64 now = clock->now_ns(clock->user), step = now - last;
		last = now;
		if (step <= limit)
			continue;
		spin.gaps++;
		spin.lost_ns += step - usual;
		spin.longest_ns = MAX(spin.longest_ns, step);
	}
	spin.spun_ns = last - start;
	return spin;
}

double host_spin_jitter_pct(const HostSpin *spin)
{
	return spin->spun_ns > 0 ? 100.0 * (double)spin->lost_ns / (double)spin->spun_ns : 0;
}
