/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The sweep: soon after the start and then daily, `regrlab-job sweep` removes
 * what no job owns and what the rules of [retention] do not keep. The daemon
 * says from its database what is owned; the program does what would block.
 * It waits until nothing is built or measured, but no longer than a day.
 */
#pragma once

#include "daemon/lab.h"

/* lab is kept. */
Sweeper *sweeper_new(Lab *lab);
void sweeper_free(Sweeper *sweeper);	/* kills what still runs; NULL is fine */

/* What a sweep would do, said on standard output. For a process of its own. */
gboolean sweep_dry_run(const Config *config, GError **error);
