/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a figure counts; figures of two clocks are never compared. */
#pragma once

#include <glib.h>

typedef enum {
	CLOCK_AUTO,	/* only asked for, never recorded: kvm if a guest runs on it, else icount */
	CLOCK_KVM,	/* wall time under hardware virtualization */
	CLOCK_TCG,	/* wall time under emulation */
	CLOCK_ICOUNT,	/* emulated instructions as virtual nanoseconds */
} JobClock;

const char *job_clock_name(JobClock clock);
gboolean job_clock_from_name(const char *name, JobClock *ret_clock);
