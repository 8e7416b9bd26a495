/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Makes the boots that a measurement asks for: the host around them, progress, artifacts, samples, events. */
#pragma once

#include "jobs/measure-boot.h"
#include "jobs/measure-host.h"
#include "jobs/measure-loop.h"

typedef struct {
	BootSetup setup;
	MeasureHistory *history;
	const char *const *kernels;	/* on the host: base and patched */
	MeasureHost *around;		/* the host before, during and after a boot */

	/* its own */
	char *step;			/* of the boot that is going on */
	int left_at_most;
	gint64 boot_start_us, progress_us;
} MeasureBoots;

void measure_boots_clear(MeasureBoots *boots);

/* As MeasureLoop has it; user is the MeasureBoots. */
gboolean measure_boots_next(gpointer user, const MeasureNext *next);
