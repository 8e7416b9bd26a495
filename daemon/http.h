/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * HTTP in the main loop: libmicrohttpd with its epoll descriptor as a source.
 *
 * A request goes to HttpRules twice: begin() sees its method, path and headers
 * and says how large a body it takes or answers at once; handle() has the
 * body and must answer. What takes long with a large body is done in between
 * by work(), in a thread, while the loop serves others. Answers are queued on libmicrohttpd's last call for a
 * request, or connections would not be kept alive.
 */
#pragma once

#include <gio/gio.h>

#define HTTP_MAX_HEADER_BYTES	(16 * 1024)	/* request line and headers; more is 431 or 414 */
#define HTTP_DISCARD_BYTES	(64 * 1024 * 1024)	/* of a body that is refused, read so that the client sees why */
#define HTTP_MAX_STATUS		600

typedef struct Http Http;
typedef struct HttpRequest HttpRequest;

typedef struct {
	/* Method, path and headers are there. May answer; else sets what http_request_set_max_body() takes. */
	void (*begin)(HttpRequest *request, gpointer data);
	/* All of it is there, and not answered yet. */
	void (*handle)(HttpRequest *request, gpointer data);
	/* A body larger than the limit: answers 413. */
	void (*too_large)(HttpRequest *request, gpointer data);
	/* No memory for the body beside those of others: answers 503. */
	void (*busy)(HttpRequest *request, gpointer data);
	/* All of it is there. TRUE: work() goes before handle(). May answer instead. NULL: nothing does. */
	gboolean (*prepare)(HttpRequest *request, gpointer data);
	/* In a thread: uses the request's body and its own data, and nothing else. */
	void (*work)(HttpRequest *request);
} HttpRules;

typedef struct {
	const char *listen;		/* an address, not a name */
	int port;
	int listening;			/* a socket that listens there already, which is taken; 0: none */
	int connections_max;		/* then one that does nothing makes room (daemon/connections.h) */
	gsize bodies_max_bytes;		/* of all requests that are coming in */
	int idle_timeout_s;
	int request_timeout_s;
} HttpOptions;

/* Listens and answers in the thread's default main context. data is the rules'. */
Http *http_start(const HttpOptions *options, const HttpRules *rules, gpointer data, GError **error);
void http_stop(Http *http);	/* closes every connection; NULL is fine */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Http, http_stop)

guint http_connections(const Http *http);
guint64 http_evicted(const Http *http);		/* connections, to make room, since the start */
guint64 http_answers(const Http *http, unsigned status);	/* since the start */

/* ---- the request ---- */

const char *http_request_method(const HttpRequest *request);
const char *http_request_path(const HttpRequest *request);	/* percent-decoded */
gboolean http_request_is_read(const HttpRequest *request);	/* GET or HEAD: changes nothing */
const char *http_request_header(const HttpRequest *request, const char *name);	/* NULL: none */
/* All headers of that name, joined by ", "; NULL: none. The caller's. */
char *http_request_headers(const HttpRequest *request, const char *name);
char *http_request_peer(const HttpRequest *request);	/* the connection's other end, as text; the caller's */
/* "name=value" of the query, decoded, in order; FALSE stops. Returns FALSE if one was not text. */
typedef gboolean (*HttpPairFunc)(const char *name, const char *value, gpointer data);
gboolean http_request_each_query(HttpRequest *request, HttpPairFunc func, gpointer data);
const char *http_request_query(const HttpRequest *request, const char *name);	/* NULL: none */
gboolean http_request_has_body(const HttpRequest *request);	/* Content-Length or chunks are announced */
void http_request_set_max_body(HttpRequest *request, gsize max_bytes);
const GByteArray *http_request_body(const HttpRequest *request);
void http_request_forget_body(HttpRequest *request);	/* nothing in it is needed any longer: it is empty from here on */
void http_request_set_data(HttpRequest *request, gpointer data, GDestroyNotify free_data);
gpointer http_request_data(const HttpRequest *request);

/* ---- the answer: one of these, once ---- */

/* Takes the text (g_malloc). */
void http_answer(HttpRequest *request, unsigned status, const char *content_type, char *text, gsize size);
/* Memory that outlives the daemon. */
void http_answer_static(HttpRequest *request, const char *content_type, const void *data, gsize size);
/* size bytes of fd from offset on; takes fd. */
void http_answer_file(HttpRequest *request, const char *content_type, int fd, guint64 offset, guint64 size);
/*
 * Appends the next piece to out; nothing appended is the end. FALSE breaks
 * the connection off, so that the client knows that something is missing.
 */
typedef gboolean (*HttpFill)(GString *out, gpointer data);
void http_answer_stream(HttpRequest *request, const char *content_type, HttpFill fill, gpointer data,
			GDestroyNotify free_data);
gboolean http_answered(const HttpRequest *request);
void http_answer_discard(HttpRequest *request);	/* it is not answered: for another answer */
unsigned http_answer_status(const HttpRequest *request);
/* After the answer. */
void http_answer_header(HttpRequest *request, const char *name, const char *value);
