/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <json-glib/json-glib.h>

/* Prints the answer of POST /jobs?dry_run=1 for people. */
void quote_print(JsonObject *quote);
