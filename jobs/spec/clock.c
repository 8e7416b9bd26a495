/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "jobs/spec/clock.h"

static const char *const names[] = {
	[CLOCK_AUTO] = "auto",
	[CLOCK_KVM] = "kvm",
	[CLOCK_TCG] = "tcg",
	[CLOCK_ICOUNT] = "icount",
};

const char *job_clock_name(JobClock clock)
{
	g_assert((guint)clock < G_N_ELEMENTS(names));
	return names[clock];
}

gboolean job_clock_from_name(const char *name, JobClock *ret_clock)
{
	for (guint i = 0; i < G_N_ELEMENTS(names); i++)
		if (g_str_equal(name, names[i])) {
			*ret_clock = i;
			return TRUE;
		}
	return FALSE;
}
