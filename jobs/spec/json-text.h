/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <json-glib/json-glib.h>

/* The text of a JSON node, as json_to_string() gives it but always JSON: json-glib 1.6 writes a double such as 1e22 as
 * "1e+22.0", which nothing can read. Doubles read back bit for bit. The caller frees. */
char *json_text(JsonNode *node, gboolean indented);

/* A member that is null where value is not finite: JSON has no such numbers. */
void json_set_double(JsonObject *object, const char *name, double value);
