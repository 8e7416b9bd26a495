/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A configuration that was read again while the daemon runs. */
#pragma once

#include "daemon/config.h"

typedef struct {
	guint changed;		/* keys that have another value now */
	char **restart;		/* NULL-terminated: what differs, and takes effect when the daemon is started again */
} Reload;

void reload_clear(Reload *reload);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Reload, reload_clear)

/*
 * Sets the keys of now that may change while the daemon runs (ConfigKey.live) to what fresh has, in the records that are
 * there: pointers to these stay good, those to their strings do not.
 */
void reload_apply(Config *now, const Config *fresh, Reload *ret_reload);
