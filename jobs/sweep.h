/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sweeping: what no job owns any longer, and what the rules of retention say
 * is not kept. One line of standard output for each thing: what is done (or,
 * in a dry run, would be), its kind, its bytes, why, its path.
 *
 * Nothing is touched that does not look exactly like ours, that a lock says
 * is in use, or that was used within the order's grace. Samples, events and
 * the database are never touched.
 */
#pragma once

#include "jobs/spec/sweep.h"

typedef struct {
	const SweepOrder *order;
	gint64 now_s;		/* CLOCK_REALTIME */
	GHashTable *live;	/* numbers of live jobs, as text */
	GHashTable *kernels;	/* folders of their kernels */
	guint done, failed;	/* things */
	gint64 bytes;
} Sweep;

/* `regrlab-job sweep FILE`: an exit status. */
int sweep_main(const char *path);

/* Parts of it: files of the lab; processes, virtual machines and links of this machine. */
void sweep_files(Sweep *sweep);
void sweep_machine(Sweep *sweep);

/* Says it, and unless in a dry run does it: removes a file, link or folder (what is named but in a folder stays: but may be NULL). */
void sweep_remove(Sweep *sweep, const char *kind, const char *path, const char *but, gint64 bytes, const char *why);
/* The same for what is no file. TRUE: it is to be done; sweep_failed() if it could not be. */
gboolean sweep_say(Sweep *sweep, const char *kind, const char *what, gint64 bytes, const char *why);
void sweep_failed(Sweep *sweep, const char *what, const char *words);

/* An open file with its lock, or -1: somebody is at work, or there is none. Close it. */
int sweep_lock(const char *path);
