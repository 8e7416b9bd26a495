/* SPDX-License-Identifier: GPL-2.0-or-later */
/* /openapi.json, made of the route table: OpenAPI 3.0. */
#pragma once

#include <json-glib/json-glib.h>

JsonObject *openapi_document(void);	/* the caller's */
