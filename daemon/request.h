/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Between http.c and request.c: a request as libmicrohttpd drives it. */
#pragma once

#include <microhttpd.h>

#include "daemon/http.h"

HttpRequest *http_request_new(struct MHD_Connection *connection, const char *method, const char *path);
void http_request_free(HttpRequest *request);

/* The announced size; -1: not known before the end (chunks). */
gint64 http_request_announced(const HttpRequest *request);
gsize http_request_max_body(const HttpRequest *request);
/* Takes a piece; FALSE: more than the limit. */
gboolean http_request_take(HttpRequest *request, const char *data, gsize size);
/* A piece that is not taken: nothing of the body is kept any longer. */
void http_request_drop(HttpRequest *request, gsize size);
/* How many bytes came in that were not kept. */
guint64 http_request_discarded(const HttpRequest *request);
/* How much more of its body is in memory than when this was asked last (modulo 2^64). */
gsize http_request_count(HttpRequest *request);
/* FALSE: that was asked already. */
gboolean http_request_begin_work(HttpRequest *request);
/* Gives the answer to libmicrohttpd; its status is *ret_status. */
enum MHD_Result http_request_send(HttpRequest *request, unsigned *ret_status);
