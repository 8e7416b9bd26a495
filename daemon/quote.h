/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A quote: what a job would be able to see, how long it would take and when it
 * would start, before it is submitted. Everything in it is from calibrations
 * and from jobs of the past; what they do not tell is null, with a reason.
 */
#pragma once

#include "daemon/lab.h"
#include "jobs/spec/spec.h"

/* spec: complete and checked. series: NULL if there is none. The answer of POST /jobs?dry_run=1; NULL on failure. */
JsonObject *quote_make(Lab *lab, const JobSpec *spec, const GString *series, GError **error);
