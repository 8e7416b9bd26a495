/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Members of a JSON object that came from elsewhere (a stage, a guest, a lab)
 * and is only shown, not trusted: what is missing or of another type is
 * empty, the standard value, FALSE or NULL. The object may be NULL. What is
 * returned belongs to the object.
 */
#pragma once

#include <json-glib/json-glib.h>

const char *peek_string(JsonObject *object, const char *member);
gint64 peek_int(JsonObject *object, const char *member, gint64 standard);
double peek_double(JsonObject *object, const char *member, double standard);	/* an integer is fine, too */
gboolean peek_bool(JsonObject *object, const char *member);
JsonObject *peek_object(JsonObject *object, const char *member);
JsonArray *peek_array(JsonObject *object, const char *member);
guint peek_length(JsonArray *array);	/* NULL: 0 */
JsonObject *peek_element(JsonArray *array, guint i);	/* NULL: no object */
