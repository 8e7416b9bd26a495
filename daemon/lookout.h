/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Looks after one host from the outside: runs `regrlab-job look` now and then,
 * which says whether its libvirt answers and ends what dead stages left there.
 * Its directory is STATE/hosts/NAME.
 */
#pragma once

#include <json-glib/json-glib.h>

#include "daemon/lab.h"

#define LOOKOUT_EVERY_S		60	/* while all is well */
#define LOOKOUT_BACKOFF_S	2	/* after the first failure; doubled with each more */
#define LOOKOUT_BACKOFF_MAX_S	300
#define LOOKOUT_KILL_S		90	/* a look that takes longer is killed */

typedef struct Lookout Lookout;

/* message: empty if the host is up. facts: host.json, valid during the call; NULL if there is none. */
typedef void (*LookoutFunc)(const char *message, JsonObject *facts, gpointer data);

/* The first look is soon. lab and host are kept. */
Lookout *lookout_new(Lab *lab, const ConfigHost *host, LookoutFunc func, gpointer data);
void lookout_free(Lookout *lookout);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Lookout, lookout_free)

/* Somebody else found the host down: the next look is when the back-off says. */
void lookout_note_failure(Lookout *lookout);
