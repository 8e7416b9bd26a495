/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is asked for of the jobs, as addresses have it: daemon/job-filter reads it again. */
#pragma once

#include "db/store.h"

const char *job_query_state(const StoreFilter *filter);	/* NULL: any */

/* Empty, or "?tree=linux&state=done"; cursor 0: from the newest. The caller's. */
char *job_query(const StoreFilter *filter, gint64 cursor);
