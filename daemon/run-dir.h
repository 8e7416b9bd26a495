/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The daemon's part of a run directory: spec.json, series.mbox, config, place.json. */
#pragma once

#include "daemon/lab.h"

/* Makes it, or what is missing of it; place.json is written each time. host NULL: no host yet. slot: which of its comparisons at once. */
gboolean run_dir_prepare(const Lab *lab, gint64 job, const char *dir, const ConfigHost *host, int slot, GError **error);

/* The same for a host without a job: empties the directory of what an earlier look found, and writes place.json. */
gboolean run_dir_prepare_host(const Lab *lab, const char *dir, const ConfigHost *host, GError **error);

/* The last words of the log, on one line, without control characters; the caller's, may be empty. */
char *run_dir_log_tail(const char *dir);
