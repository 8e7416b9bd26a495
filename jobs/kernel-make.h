/* SPDX-License-Identifier: GPL-2.0-or-later */
/* make in a slot: the kernel's own, with everything fixed that would make two builds of one source differ. */
#pragma once

#include "jobs/build-error.h"
#include "jobs/source-slot.h"

#define KERNEL_IMAGE "arch/x86/boot/bzImage"	/* below obj/ */

/* Whose objects: of bases, which are as trusted as the tree, or of a patched kernel. */
typedef enum {
	MAKE_BASE,
	MAKE_PATCHED,
} MakeArm;

/* The folder that lies behind O= . */
const char *kernel_objects(const Slot *slot, MakeArm arm);

/*
 * "make -C src O=obj TARGETS", where obj is the folder of the arm. The source
 * is read-only. The shared ccache is written by builds that have nothing in
 * them but a base and a profile, and read by all: what a patch or an uploaded
 * configuration makes of a compiler is not for others.
 *
 * step names what is shown as progress; guess is how many lines it may print,
 * 0 if nobody knows: what an earlier run of the same kind printed counts
 * more. kind: "full", "incremental", "config".
 *
 * ret_status: make's exit status. ret_errors (the caller's): what went wrong
 * if it is not 0. FALSE: it did not run to its end (CHILD_ERROR).
 */
gboolean kernel_make(StageContext *stage, Slot *slot, MakeArm arm, const char *const *targets, const char *step,
		     const char *kind, gint64 guess, int *ret_status, BuildErrors **ret_errors, GError **error);

/* The first line of gcc --version, which names the compiler in results and in the cache. */
gboolean kernel_compiler(StageContext *stage, char **ret_compiler, GError **error);
