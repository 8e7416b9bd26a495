/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A slot: a checkout of a tree and the objects built from it, kept from job
 * to job so that a build is incremental. One stage uses a slot at a time.
 *
 *	CACHE/worktrees/TREE-KEY.N/
 *		lock		flock held while in use
 *		src/		a repository that borrows the tree's objects; git alone writes it
 *		obj/		make O= of bases; patched kernels are built on a copy of it
 *		obj-patched/	the copy: of one job, then thrown away
 *		building	exists while make runs in obj/: left over means that it cannot be trusted
 *
 * The rest of the folder is the stage's alone: no program sees it. A build
 * does what a patch says, so nothing that a patched build wrote is ever used
 * by another job: what it left in obj-patched/ goes, and obj/ was never its.
 */
#pragma once

#include "jobs/slot-file.h"
#include "jobs/stage.h"

#define SLOT_POOL	2	/* slots of one tree and configuration, so that a job need not wait long for another */

typedef struct {
	char *dir, *src, *obj, *patched;	/* absolute */
	int lock_fd;
} Slot;

/* key: of the configuration, hex. Waits while all are in use, and a while before it makes a second one. FALSE: stage_fail() was called. */
gboolean slot_acquire(StageContext *stage, const char *key, Slot **ret_slot);
void slot_release(Slot *slot);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Slot, slot_release)

/* Around make. slot_build_end() only if make ended by itself. */
gboolean slot_build_begin(Slot *slot, GError **error);
void slot_build_end(Slot *slot);

/* obj-patched/ as a fresh copy of obj/; after it the copy may be dropped at any time. */
gboolean slot_copy_objects(StageContext *stage, Slot *slot, GError **error);
gboolean slot_drop_copy(StageContext *stage, Slot *slot, GError **error);

/* flock()s a file, creating it; waits unless the stage is stopped (CHILD_ERROR_STOPPED). -1 on failure; close it to unlock. */
int lock_wait(StageContext *stage, const char *path, const char *step, GError **error);

