/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the sweep has to know: who is there, and what is in use. */
#pragma once

#include "db/db.h"

/*
 * *ret_last: the highest number that a job ever had. *ret_live: numbers of
 * the jobs that have not ended, *ret_kernels: paths of their kernels; both
 * NULL-terminated, the caller's.
 */
gboolean store_owned(Db *db, gint64 *ret_last, char ***ret_live, char ***ret_kernels, GError **error);
