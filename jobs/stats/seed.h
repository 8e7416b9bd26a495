/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Where the seeds of random steps come from: all from one number a job. Each has 31 bits and is not 0. */

#include <glib.h>

gint64 stats_job_seed(gint64 job);

/* Does not depend on which other comparisons there are. */
gint64 stats_comparison_seed(gint64 seed, const char *benchmark, const char *params, const char *metric);

gint64 stats_boundary_seed(gint64 seed);
