/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a query asks for of the jobs: for the API, the page /jobs and the feed. */
#pragma once

#include "daemon/lab.h"

#define JOB_FILTER_LIMIT 50	/* if it does not say how many */

/*
 * Strings in it are the request's. A page's form sends what was left empty,
 * which means any there. FALSE: answered with 400.
 */
gboolean job_filter_read(HttpRequest *request, gboolean is_page, StoreFilter *ret_filter);
