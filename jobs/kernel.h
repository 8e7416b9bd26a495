/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kernel of one arm, from the cache or built. Functions that return FALSE
 * have called stage_fail().
 *
 *	CACHE/kernels/KEY/	bzImage, config, System.map, meta.json; appears whole or not at all
 *	CACHE/kernels/KEY.lock	flock held while it is built
 *	CACHE/configs/KEY	a composed configuration
 *
 * KEY is the SHA-256 of everything that the content depends on.
 */
#pragma once

#include "jobs/source.h"

typedef struct {
	const char *arm;	/* base or patched */
	char *commit, *tree_hash;
	char *config;		/* its text */
	char *config_sha256;
	char *path;		/* of the bzImage, absolute */
	char *release, *sha256;	/* of the kernel, of the bzImage */
	gint64 bytes;
	double build_s;		/* in this job; 0 if cached */
	gboolean cached;
	gboolean incremental;	/* on objects of another build */
} Kernel;

/* What both arms are made with. */
typedef struct {
	StageContext *stage;
	Slot *slot;
	const Source *source;
	char *compiler;
	char **base_targets;	/* make targets of the profile's base; NULL: config_text is whole */
	char *config_text;	/* the profile or the uploaded configuration */
	GPtrArray *needs;	/* of ConfigNeed */
	char *checked_out;	/* the commit that slot->src is at; NULL: unknown */
	gboolean copied;	/* the patched kernel's objects are there: a copy of the base's */
} KernelBuild;

/* The profile or uploaded configuration and what the benchmarks need. slot and source are set by the caller. */
gboolean kernel_build_init(KernelBuild *build, StageContext *stage);
void kernel_build_clear(KernelBuild *build);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(KernelBuild, kernel_build_clear)

/* Of the slot: the same for every job with this configuration, hex. The caller's. */
char *kernel_build_key(const KernelBuild *build);

/* before: NULL for the base arm, whose configuration is composed; else the base's kernel, whose configuration is taken on. */
gboolean kernel_get(KernelBuild *build, const char *arm, const Kernel *before, Kernel **ret_kernel);
void kernel_free(Kernel *kernel);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Kernel, kernel_free)

/* The members of an 'arm' event; the caller's. */
JsonObject *kernel_event(const KernelBuild *build, const Kernel *kernel);
