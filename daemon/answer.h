/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Answers of the usual kinds: JSON, text and pages with an ETag, errors. */
#pragma once

#include <json-glib/json-glib.h>

#include "daemon/lab.h"

#define JSON_TYPE "application/json"
#define TEXT_TYPE "text/plain; charset=utf-8"
#define HTML_TYPE "text/html; charset=utf-8"

/* 200 with an ETag, or 304 if the client has it already. Takes the text. */
void answer_text(HttpRequest *request, const char *content_type, char *text, gsize size);
void answer_json(HttpRequest *request, unsigned status, JsonObject *object);	/* takes the object */

/*
 * {"error": {"code", "message", "field"}}, or for pages a page. code is short
 * and stable; field NULL: none.
 */
void answer_error(HttpRequest *request, unsigned status, const char *code, const char *field,
		  const char *format, ...) G_GNUC_PRINTF(5, 6);

/* What was sent is not right (SPEC_ERROR): 400 if it cannot be read, 422 if it says what cannot be. */
void answer_refusal(HttpRequest *request, const GError *problem);

/* An error of ours (database, files): logged once, answered with 500 or 503. Takes the error. */
void answer_trouble(HttpRequest *request, gint64 job, GError *error);

/* Whether the client's If-None-Match names it. */
gboolean answer_is_known(HttpRequest *request, const char *etag);
void answer_not_modified(HttpRequest *request, const char *etag);
