/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a guest says of the machine that it found itself on. */
#pragma once

#include <json-glib/json-glib.h>

#include "jobs/vm-xml.h"

/*
 * The guest's own word against what it was given: hypervisor, clock source and
 * CPUs. FALSE: GUEST_ERROR_VALUE; a measurement on another machine than it
 * claims to be on is none.
 */
gboolean guest_hello_check(JsonObject *hello, VmAccelerator accelerator, int cpus, GError **error);
