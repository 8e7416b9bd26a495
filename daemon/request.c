/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/request.h"

#include <netinet/in.h>
#include <string.h>
#include <unistd.h>

#define STREAM_BLOCK_BYTES (64 * 1024)

struct HttpRequest {
	struct MHD_Connection *connection;
	char *method;
	char *path;
	GByteArray *body;
	gsize max_body;
	gsize counted;				/* of body */
	gboolean working;			/* what goes before the answer has begun */
	guint64 discarded;
	unsigned status;			/* 0: not answered */
	struct MHD_Response *response;
	gpointer data;
	GDestroyNotify free_data;
};

/*
 * What every answer carries. Pages use one script, which is a file of ours, and nothing from elsewhere; they tell nobody
 * elsewhere where they are linked from, but without a referrer here a browser would not say that a form is the lab's own (origin.h).
 */
static const struct {
	const char *name, *value;
} standard_headers[] = {
	{ "Content-Security-Policy", "default-src 'self'; object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'" },
	{ "X-Content-Type-Options", "nosniff" },
	{ "Referrer-Policy", "same-origin" },
	{ "Cross-Origin-Resource-Policy", "same-origin" },
};

HttpRequest *http_request_new(struct MHD_Connection *connection, const char *method, const char *path)
{
	HttpRequest *request = g_new0(HttpRequest, 1);

	request->connection = connection;
	request->method = g_strdup(method);
	request->path = g_strdup(path);
	request->body = g_byte_array_sized_new(256);	/* never NULL inside */
	return request;
}

void http_request_free(HttpRequest *request)
{
	if (!request)
		return;
	if (request->response)
		MHD_destroy_response(request->response);
	if (request->free_data)
		request->free_data(request->data);
	g_byte_array_unref(request->body);
	g_free(request->method);
	g_free(request->path);
	g_free(request);
}

/* ---- what came in ---- */

const char *http_request_method(const HttpRequest *request)
{
	return request->method;
}

const char *http_request_path(const HttpRequest *request)
{
	return request->path;
}

const char *http_request_header(const HttpRequest *request, const char *name)
{
	return MHD_lookup_connection_value(request->connection, MHD_HEADER_KIND, name);
}

gboolean http_request_is_read(const HttpRequest *request)
{
	return g_str_equal(request->method, MHD_HTTP_METHOD_GET) || g_str_equal(request->method, MHD_HTTP_METHOD_HEAD);
}

typedef struct {
	const char *name;
	GString *values;	/* NULL: none yet */
} EachHeader;

static enum MHD_Result take_header(void *data, enum MHD_ValueKind kind G_GNUC_UNUSED, const char *name, const char *value)
{
	EachHeader *each = data;

	if (!value || g_ascii_strcasecmp(name, each->name) != 0)
		return MHD_YES;
	if (!each->values)
		each->values = g_string_new(value);
	else
		g_string_append_printf(each->values, ", %s", value);
	return MHD_YES;
}

char *http_request_headers(const HttpRequest *request, const char *name)
{
	EachHeader each = { name, NULL };

	MHD_get_connection_values(request->connection, MHD_HEADER_KIND, take_header, &each);
	return each.values ? g_string_free(each.values, FALSE) : NULL;
}

char *http_request_peer(const HttpRequest *request)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(request->connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
	const struct sockaddr *address = info ? info->client_addr : NULL;
	gsize size = address && address->sa_family == AF_INET6 ? sizeof(struct sockaddr_in6) : sizeof(struct sockaddr_in);
	g_autoptr(GSocketAddress) socket = address ? g_socket_address_new_from_native((gpointer)address, size) : NULL;

	if (!G_IS_INET_SOCKET_ADDRESS(socket))
		return g_strdup("");
	return g_inet_address_to_string(g_inet_socket_address_get_address(G_INET_SOCKET_ADDRESS(socket)));
}

const char *http_request_query(const HttpRequest *request, const char *name)
{
	return MHD_lookup_connection_value(request->connection, MHD_GET_ARGUMENT_KIND, name);
}

typedef struct {
	HttpPairFunc func;
	gpointer data;
	gboolean good;
} EachPair;

static enum MHD_Result take_pair(void *data, enum MHD_ValueKind kind G_GNUC_UNUSED, const char *name,
				 size_t name_size, const char *value, size_t value_size)
{
	EachPair *each = data;

	if (!name || !value || strlen(name) != name_size || strlen(value) != value_size ||
	    !g_utf8_validate(name, -1, NULL) || !g_utf8_validate(value, -1, NULL)) {
		each->good = FALSE;
		return MHD_NO;
	}
	return each->func(name, value, each->data) ? MHD_YES : MHD_NO;
}

gboolean http_request_each_query(HttpRequest *request, HttpPairFunc func, gpointer data)
{
	EachPair each = { func, data, TRUE };

	MHD_get_connection_values_n(request->connection, MHD_GET_ARGUMENT_KIND, take_pair, &each);
	return each.good;
}

gint64 http_request_announced(const HttpRequest *request)
{
	const char *length = http_request_header(request, MHD_HTTP_HEADER_CONTENT_LENGTH);
	guint64 value;

	if (http_request_header(request, MHD_HTTP_HEADER_TRANSFER_ENCODING))
		return -1;
	if (!length)
		return 0;
	return g_ascii_string_to_unsigned(length, 10, 0, G_MAXINT64, &value, NULL) ? (gint64)value : G_MAXINT64;
}

gboolean http_request_has_body(const HttpRequest *request)
{
	return http_request_header(request, MHD_HTTP_HEADER_CONTENT_LENGTH) ||
	       http_request_header(request, MHD_HTTP_HEADER_TRANSFER_ENCODING);
}

void http_request_set_max_body(HttpRequest *request, gsize max_bytes)
{
	request->max_body = max_bytes;
}

gsize http_request_max_body(const HttpRequest *request)
{
	return request->max_body;
}

gboolean http_request_take(HttpRequest *request, const char *data, gsize size)
{
	gint64 announced = http_request_announced(request);

	if (request->status || size > request->max_body - request->body->len)
		return FALSE;
	/* memory for all of it at once: growing step by step would need it twice */
	if (!request->body->len && announced > (gint64)size) {
		g_byte_array_unref(request->body);
		request->body = g_byte_array_sized_new((guint)MIN((gsize)announced, request->max_body));
	}
	g_byte_array_append(request->body, (const guint8 *)data, (guint)size);
	return TRUE;
}

void http_request_forget_body(HttpRequest *request)
{
	g_byte_array_unref(request->body);
	request->body = g_byte_array_new();
}

void http_request_drop(HttpRequest *request, gsize size)
{
	http_request_forget_body(request);
	request->max_body = 0;
	request->discarded += size;
}

gsize http_request_count(HttpRequest *request)
{
	gsize more = request->body->len - request->counted;

	request->counted = request->body->len;
	return more;
}

gboolean http_request_begin_work(HttpRequest *request)
{
	if (request->working)
		return FALSE;
	request->working = TRUE;
	return TRUE;
}

guint64 http_request_discarded(const HttpRequest *request)
{
	return request->discarded;
}

const GByteArray *http_request_body(const HttpRequest *request)
{
	return request->body;
}

void http_request_set_data(HttpRequest *request, gpointer data, GDestroyNotify free_data)
{
	g_assert(!request->free_data);
	request->data = data;
	request->free_data = free_data;
}

gpointer http_request_data(const HttpRequest *request)
{
	return request->data;
}

/* ---- what goes out ---- */

static void set_answer(HttpRequest *request, unsigned status, const char *content_type, struct MHD_Response *response)
{
	g_assert(!request->status && response);
	request->status = status;
	request->response = response;
	for (gsize i = 0; i < G_N_ELEMENTS(standard_headers); i++)
		http_answer_header(request, standard_headers[i].name, standard_headers[i].value);
	if (content_type)
		http_answer_header(request, MHD_HTTP_HEADER_CONTENT_TYPE, content_type);
}

void http_answer(HttpRequest *request, unsigned status, const char *content_type, char *text, gsize size)
{
	set_answer(request, status, content_type,
		   MHD_create_response_from_buffer_with_free_callback(size, text, g_free));
}

void http_answer_static(HttpRequest *request, const char *content_type, const void *data, gsize size)
{
	set_answer(request, MHD_HTTP_OK, content_type,
		   MHD_create_response_from_buffer(size, (void *)data, MHD_RESPMEM_PERSISTENT));
}

void http_answer_file(HttpRequest *request, const char *content_type, int fd, guint64 offset, guint64 size)
{
	set_answer(request, MHD_HTTP_OK, content_type, MHD_create_response_from_fd_at_offset64(size, fd, offset));
}

typedef struct {
	HttpFill fill;
	gpointer data;
	GDestroyNotify free_data;
	GString *piece;
	gsize given;		/* of piece */
} Stream;

static ssize_t read_stream(void *cls, uint64_t position G_GNUC_UNUSED, char *buffer, size_t max)
{
	Stream *stream = cls;
	gsize size;

	if (stream->given == stream->piece->len) {
		g_string_truncate(stream->piece, 0);
		stream->given = 0;
		if (!stream->fill(stream->piece, stream->data))
			return MHD_CONTENT_READER_END_WITH_ERROR;
		if (!stream->piece->len)
			return MHD_CONTENT_READER_END_OF_STREAM;
	}
	size = MIN(max, stream->piece->len - stream->given);
	memcpy(buffer, stream->piece->str + stream->given, size);
	stream->given += size;
	return (ssize_t)size;
}

static void free_stream(void *cls)
{
	Stream *stream = cls;

	if (stream->free_data)
		stream->free_data(stream->data);
	g_string_free(stream->piece, TRUE);
	g_free(stream);
}

void http_answer_stream(HttpRequest *request, const char *content_type, HttpFill fill, gpointer data,
			GDestroyNotify free_data)
{
	Stream *stream = g_new0(Stream, 1);

	stream->fill = fill;
	stream->data = data;
	stream->free_data = free_data;
	stream->piece = g_string_sized_new(STREAM_BLOCK_BYTES);
	set_answer(request, MHD_HTTP_OK, content_type,
		   MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, STREAM_BLOCK_BYTES, read_stream, stream,
						     free_stream));
}

gboolean http_answered(const HttpRequest *request)
{
	return request->status != 0;
}

void http_answer_discard(HttpRequest *request)
{
	g_clear_pointer(&request->response, MHD_destroy_response);
	request->status = 0;
}

unsigned http_answer_status(const HttpRequest *request)
{
	return request->status;
}

void http_answer_header(HttpRequest *request, const char *name, const char *value)
{
	MHD_add_response_header(request->response, name, value);
}

enum MHD_Result http_request_send(HttpRequest *request, unsigned *ret_status)
{
	g_assert(request->status);
	*ret_status = request->status;
	return MHD_queue_response(request->connection, request->status, request->response);
}
