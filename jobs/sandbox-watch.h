/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a program in the sandbox uses while it runs: processes, memory, disk.
 * Resource limits of the kernel are of one process or one user; these are of
 * the program and all it started. Looked at twice a second (ChildWatch).
 */
#pragma once

#include <sys/types.h>

#include "jobs/sandbox.h"

/* What is free on the file system of the writable folders. */
typedef struct {
	gint64 free_bytes, free_files;
} SandboxDisk;

/* The limits, and what the watch remembers. */
typedef struct {
	const SandboxView *view;
	int processes;		/* most at once */
	gint64 memory_bytes;	/* resident, of all together */
	gint64 disk_bytes;	/* of the writable folders */
	SandboxDisk start, walked;	/* when it was looked at first; when the folders were last walked */
	gint64 walked_us;	/* monotonic; 0: not looked at yet */
} SandboxWatch;

/* user: a SandboxWatch. */
char *sandbox_watch(pid_t pid, gpointer user);
