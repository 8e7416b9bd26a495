/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Files of run directories, as they are served. A stage may have written
 * anything there: no link is followed, nothing but regular files is opened,
 * and names are looked at before.
 */
#pragma once

#include "daemon/lab.h"

#define ARTIFACTS_MAX 2000	/* of one job, listed */

/* Letters, digits, '.', '_', '-', '+'; no '.' first; at most 128. */
gboolean artifact_name_is_good(const char *name);

/* The names in artifacts/, sorted, NULL-terminated; the caller's. No directory yet: none. */
char **artifacts_list(const Lab *lab, gint64 job);

/* A descriptor, -1: no such file. folder NULL: of the run directory itself. */
int artifact_open(const Lab *lab, gint64 job, const char *folder, const char *name, guint64 *ret_size);

/* What a browser may take it for: text, JSON, or a download. */
const char *artifact_type(const char *name);
