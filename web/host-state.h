/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How a host is set, on pages and in the report: members of host-state events and of results, which are from outside. */
#pragma once

#include <json-glib/json-glib.h>

#include "web/html.h"

/* A table of facts with what is wanted and what to change. state: a host-state event; NULL: nothing is written. */
void host_state_table(Html *html, JsonObject *state);

/* One host of /hosts, with a heading. state NULL: nobody has looked yet. */
void host_state_section(Html *html, const char *name, JsonObject *state, gint64 seen_ns, gint64 boots_disturbed);

/* The result's host_warnings, a sentence each; nothing if there are none. */
void host_warnings_list(Html *html, JsonArray *warnings);

/* How many of them are shown, and one of them; borrowed. */
guint host_warnings_count(JsonArray *warnings);
const char *host_warning(JsonArray *warnings, guint i);
