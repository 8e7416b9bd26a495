/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How often somebody may come: so many a minute, all at once if they like
 * (the generic cell rate algorithm, ITU-T I.371: one time for each key). Of
 * more than RATE_KEYS keys, those that came least lately are forgotten.
 */
#pragma once

#include <glib.h>

#define RATE_KEYS 4096

typedef struct Rate Rate;

Rate *rate_new(void);
void rate_free(Rate *rate);	/* NULL is fine */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Rate, rate_free)

/* Takes one of key's. FALSE: none is left, and *ret_wait_s is how long until there is (at least 1). per_min > 0. */
gboolean rate_take(Rate *rate, const char *key, int per_min, gint64 now_us, int *ret_wait_s);
guint rate_keys(const Rate *rate);
