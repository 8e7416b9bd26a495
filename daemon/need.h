/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a job needs of a host. Jobs that need the same share one Need, so that
 * a pass over thousands of jobs asks each question once.
 */
#pragma once

#include <glib.h>

#include "jobs/spec/spec.h"

typedef struct {
	char *host;		/* the only one that will do; empty: any */
	char **labels;		/* that a host must have, sorted, NULL-terminated */
	int memory_mib[2];	/* of a guest: emulated, on KVM; 0: not known */
	gboolean counts;	/* instructions: a busy machine does not disturb it */

	/* dispatch()'s own: what it found in its present pass */
	guint64 pass;
	gboolean blocked;
} Need;

typedef struct Needs Needs;

/* benchmarks_dir says how much memory guests get; copied. */
Needs *needs_new(const char *benchmarks_dir);
void needs_free(Needs *needs);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Needs, needs_free)

/*
 * host: the only one that will do, or NULL: as the spec says. clock: known
 * better than the spec does, or auto. Owned by needs, the same pointer for
 * the same need.
 */
Need *needs_get(Needs *needs, const JobSpec *spec, const char *host, JobClock clock);
