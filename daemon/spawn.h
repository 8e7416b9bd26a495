/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Starts a stage: its own process group, a minimal environment, no descriptor of ours. */
#pragma once

#include <glib.h>
#include <sched.h>

/* Runs on cpus (NULL: where the daemon runs); stdout and stderr are appended to log. The child is reaped by the caller. */
gboolean spawn_stage(const char *const *argv, const char *log, const cpu_set_t *cpus, GPid *ret_pid, GError **error);
