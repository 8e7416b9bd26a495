/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The cache of built kernels: CACHE/kernels. Used by kernel.c alone. */
#pragma once

#include "jobs/kernel.h"

/* SHA-256 of the texts (NULL-terminated), hex. No two lists of texts share one. The caller's. */
char *cache_key(const char *const *texts);

/*
 * Takes the lock of a key (close *ret_lock to give it back), waiting for
 * whoever builds it, and fills path, release, sha256 and bytes of the kernel
 * if it is there and whole. *ret_found tells.
 */
gboolean cache_lookup(StageContext *stage, const char *key, Kernel *kernel, gboolean *ret_found, int *ret_lock, GError **error);

/* What make left in obj, into the cache and into kernel. The lock is held. */
gboolean cache_store(StageContext *stage, const char *key, const char *obj, const char *compiler, Kernel *kernel,
		     GError **error);
