/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What pages and reports say of the lab's own reliability. */
#pragma once

#include "db/store-trust.h"
#include "web/html.h"

/* Why the verdicts of a job are not to be relied upon, in sentences; NULL: nothing is known against its host. The
 * caller's. */
char *trust_warning(const StoreJob *job);
/* The same for the page of the job; nothing where there is none. */
void trust_warning_paragraph(Html *html, const StoreJob *job);

/* What came of the job's control arm, in sentences; NULL: it has none, or not yet. The caller's. */
char *trust_control(const StoreJob *job);
/* The same for the page of the job, with how to recompute it; nothing where there is none. */
void trust_control_paragraph(Html *html, const StoreJob *job);

/* The part of /hosts about one host. Arrays of StoreLedger and StoreCalibration; NULL: none. */
void trust_section(Html *html, const char *host, const GPtrArray *ledger, const GPtrArray *calibrations);
