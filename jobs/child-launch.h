/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How child.c starts a program: the warden and what lies between fork and exec. Used by child.c alone. */
#pragma once

#include <sched.h>
#include <sys/types.h>

#include "jobs/child.h"

/* What the warden says on its pipe: exactly one of these. */
typedef struct {
	enum { REPORT_NOT_STARTED = 1, REPORT_ENDED } kind;
	int value;	/* errno, or the status of waitpid() */
} Report;

/* Everything that is prepared before the fork, because nothing may be allocated after it. */
typedef struct {
	char *path;
	char **argv;
	char **env;
	const char *cwd;
	int nice;
	cpu_set_t cpus;
	gboolean has_cpus;
	int in, out[2], err[2], report[2];	/* -1: closed */
	int keep_fd;
	pid_t parent;
} Launch;

#define LAUNCH_INIT { .in = -1, .out = { -1, -1 }, .err = { -1, -1 }, .report = { -1, -1 } }

gboolean launch_prepare(Launch *launch, const ChildSpec *spec, GError **error);
void launch_clear(Launch *launch);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Launch, launch_clear)

/* Forks the warden; -1 and errno on failure. */
pid_t launch_start(const Launch *launch);

void launch_close_fd(int *fd);

/* CHILD_ERROR_START for a program, of errno number; what may be empty. Always returns FALSE. */
gboolean launch_error(GError **error, const char *program, const char *what, int number);
