/* SPDX-License-Identifier: GPL-2.0-or-later */
/* /hosts/NAME: one host, and when it came and went. */
#pragma once

#include "db/store.h"
#include "web/page-hosts.h"

char *page_host(const HostRow *host, const GPtrArray *events, gsize *ret_size);	/* of StoreHostEvent; the result is the caller's */
