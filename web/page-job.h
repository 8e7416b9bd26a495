/* SPDX-License-Identifier: GPL-2.0-or-later */
/* /jobs/N: the answer first, then everything for the one who doubts it. */
#pragma once

#include "web/job-view.h"

char *page_job(const JobView *view, gsize *ret_size);	/* the caller's */
