/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How quiet a CPU is: reads a clock over and over for a while. What lies
 * between two readings is always about the same, unless the CPU did something
 * else meanwhile: another program, an interrupt, the hypervisor. The loop
 * calibrates itself on its first readings.
 */
#pragma once

#include <glib.h>

#define HOST_SPIN_CALIBRATION	1000	/* readings whose median is the usual step */
#define HOST_SPIN_GAP_STEPS	20	/* a gap is a step longer than so many usual ones, */
#define HOST_SPIN_GAP_NS	1000	/* and than this */

typedef struct {
	gint64 (*now_ns)(gpointer user);
	gpointer user;
} HostClock;

typedef struct {
	gint64 spun_ns;		/* after the calibration */
	gint64 lost_ns;		/* in gaps, less a usual step each */
	gint64 longest_ns;	/* of the gaps; 0: there was none */
	guint gaps;
} HostSpin;

HostSpin host_spin(const HostClock *clock, gint64 duration_ns);
double host_spin_jitter_pct(const HostSpin *spin);	/* time lost, percent of the time spun */
