/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What must hold on a host: words "FACT=VALUE", separated by blanks. The word
 * "auto" stands for what the table of facts wants of hardware, of a virtual
 * machine only that it were hardware; FACT=any takes a fact out again. The
 * last word on a fact counts. An empty text wants nothing.
 */
#pragma once

#include "host/facts.h"

#define HOST_POLICY_AUTO "auto"

/* Whether the text is a policy; else SPEC_ERROR_VALUE. */
gboolean host_policy_check(const char *text, GError **error);

typedef enum {
	HOST_HOLDS,
	HOST_FAILS,	/* also: unknown, where something is wanted */
	HOST_UNASKED,	/* nothing is wanted */
} HostHolds;

typedef struct {
	const HostFactRow *row;
	char *value;	/* NULL: unknown */
	char *reason;	/* why it is unknown; NULL if it is known */
	char *wanted;	/* NULL: nothing */
	HostHolds holds;
	char *advice;	/* exactly what to do; NULL unless it fails */
} HostFact;

/* Every fact of the table, read now; GArray of HostFact that owns them. policy: checked. */
GArray *host_facts_read(const HostMachine *machine, const char *policy);

/* Whether a known value is as wanted. */
gboolean host_rule_holds(HostRule rule, const char *value, const char *wanted, const GArray *cpus);
