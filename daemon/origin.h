/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a browser tells of where a request comes from. The lab can be reached
 * from its users' machines, and so by any page that is open in a browser
 * there: names that are made to point here are refused (Host), and so are
 * changes that another site's page asks for (Origin, Sec-Fetch-Site, Referer).
 * A client that is no browser sends none of the three.
 */
#pragma once

#include "daemon/lab.h"

/* FALSE: answered with 421 or 403. */
gboolean origin_check(HttpRequest *request, const Lab *lab);
