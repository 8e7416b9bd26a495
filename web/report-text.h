/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * /jobs/N/report.txt: opens with a table that an author can paste into a
 * changelog as it is, then says how it was measured. UTF-8, no line longer
 * than 72 columns but the table, links and words that cannot be broken.
 */
#pragma once

#include "web/job-view.h"

char *report_text(const JobView *view, gsize *ret_size);	/* the caller's */
