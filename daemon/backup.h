/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * `regrlabd --backup DIR`: all that a lab cannot make again, while it runs.
 * DIR is then a state directory: give it to a daemon, and the lab goes on.
 */
#pragma once

#include "daemon/config.h"

/*
 * dir must not exist, or be empty. The database first, then keys and run
 * directories, each with its events before its samples: so the copy of a run
 * directory has at least what the copy of the database has taken in. Caches
 * and the embedded driver's folders are not part of it.
 */
gboolean backup_make(const Config *config, const char *dir, GError **error);
