/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The last resort against a call that never comes back: libvirt gives up a
 * connection that is silent (keepalive), but not every call can be given up.
 * A thread of the guard's watches the time; every function takes NULL.
 */
#pragma once

#include <glib.h>

typedef struct Guard Guard;

/* Called in the guard's thread, with the what of guard_set(): it had not been cleared in time. */
typedef void (*GuardFunc)(const char *what, gpointer data);

Guard *guard_new(GuardFunc func, gpointer data);
void guard_free(Guard *guard);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Guard, guard_free)

/* From now on what has so many seconds; replaces what was set. what is a literal. */
void guard_set(Guard *guard, const char *what, int seconds);
void guard_clear(Guard *guard);
