/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What is not as it should be on the host of a job, boot by boot, gathered
 * for the result: each thing once, with how many boots it was true of.
 */
#pragma once

#include <json-glib/json-glib.h>

typedef struct HostWarnings HostWarnings;

HostWarnings *host_warnings_new(void);
void host_warnings_free(HostWarnings *warnings);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(HostWarnings, host_warnings_free)

/* The member `machine` of a boot event; NULL: the boot has none. */
void host_warnings_add(HostWarnings *warnings, JsonObject *machine);

/* The result's `host_warnings`: sentences in the order in which they came up; the caller's. */
JsonArray *host_warnings_to_json(const HostWarnings *warnings);
