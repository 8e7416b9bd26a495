/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/http.h"

#include <errno.h>
#include <unistd.h>

#include "daemon/connections.h"
#include "daemon/request.h"
#include "daemon/worker.h"

#define LISTEN_BACKLOG 4096	/* the kernel takes no more than net.core.somaxconn */
#define SWEEP_S 2	/* how often requests that take too long are looked for */

struct Http {
	struct MHD_Daemon *daemon;
	HttpRules rules;
	gpointer rules_data;
	GSource *source;
	guint sweep_id;
	Connections *connections;
	gsize bodies_max, bodies;	/* bytes of requests that are in memory */
	Worker *worker;
	guint64 answers[HTTP_MAX_STATUS];
};

/* ---- the source ---- */

typedef struct {
	GSource source;
	Http *http;
} MhdSource;

/* libmicrohttpd's timeout is relative: it becomes a time of the main loop's clock here, once after each run. */
static void arm(MhdSource *source)
{
	MHD_UNSIGNED_LONG_LONG timeout_ms;

	if (MHD_get_timeout(source->http->daemon, &timeout_ms) == MHD_YES)
		g_source_set_ready_time(&source->source,
					g_get_monotonic_time() + (gint64)MIN(timeout_ms, G_MAXINT32) * 1000);
	else
		g_source_set_ready_time(&source->source, -1);
}

/*
 * While it has as many connections, or descriptors, as it can have, it does
 * not listen; it only begins to again in the run after the one that made room,
 * and nothing would wake it for that.
 */
static gboolean dispatch(GSource *source, GSourceFunc callback G_GNUC_UNUSED, gpointer data G_GNUC_UNUSED)
{
	MhdSource *mhd = (MhdSource *)source;
	guint64 closed;

	do {
		closed = connections_removed(mhd->http->connections);
		MHD_run(mhd->http->daemon);
	} while (connections_removed(mhd->http->connections) != closed);
	arm(mhd);
	return G_SOURCE_CONTINUE;
}

static GSourceFuncs source_funcs = { .dispatch = dispatch };

static GSource *source_new(Http *http)
{
	GSource *source = g_source_new(&source_funcs, sizeof(MhdSource));
	const union MHD_DaemonInfo *info = MHD_get_daemon_info(http->daemon, MHD_DAEMON_INFO_EPOLL_FD);

	((MhdSource *)source)->http = http;
	g_source_set_static_name(source, "http");
	g_source_add_unix_fd(source, info->epoll_fd, G_IO_IN);
	g_source_attach(source, NULL);
	return source;
}

/* ---- connections, and clients that take forever ---- */

static void on_connection(void *data, struct MHD_Connection *mhd, void **socket_data,
			  enum MHD_ConnectionNotificationCode code)
{
	Http *http = data;

	if (code == MHD_CONNECTION_NOTIFY_CLOSED) {
		connections_remove(http->connections, *socket_data);
		*socket_data = NULL;
		return;
	}
	*socket_data = connections_add(http->connections,
				       MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd,
				       g_get_monotonic_time());
}

static Connection *connection_of(struct MHD_Connection *mhd)
{
	return MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_SOCKET_CONTEXT)->socket_context;
}

static void set_state(Http *http, struct MHD_Connection *mhd, ConnectionState state)
{
	Connection *connection = connection_of(mhd);

	if (connection)
		connections_set(http->connections, connection, state, g_get_monotonic_time());
}

static gboolean sweep(gpointer data)
{
	Http *http = data;

	connections_sweep(http->connections, g_get_monotonic_time());
	return G_SOURCE_CONTINUE;
}

/* ---- requests ---- */

static enum MHD_Result answer_now(Http *http, HttpRequest *request, struct MHD_Connection *mhd)
{
	unsigned status;

	set_state(http, mhd, CONNECTION_ANSWERING);
	if (http_request_send(request, &status) != MHD_YES)
		return MHD_NO;
	http->answers[MIN(status, HTTP_MAX_STATUS - 1)]++;
	return MHD_YES;
}

/* The first call: only the headers are there. */
static enum MHD_Result begin(Http *http, HttpRequest *request, struct MHD_Connection *mhd)
{
	gint64 announced;
	gboolean waits = http_request_header(request, MHD_HTTP_HEADER_EXPECT) != NULL;

	set_state(http, mhd, CONNECTION_RECEIVING);
	http->rules.begin(request, http->rules_data);
	announced = http_request_announced(request);
	if (!http_answered(request) && announced > 0 && (guint64)announced > http_request_max_body(request))
		http->rules.too_large(request, http->rules_data);
	/* a body that nobody wants: not waited for if the client waits too, or if it is huge */
	if (http_answered(request) && announced != 0 && (waits || announced > HTTP_DISCARD_BYTES))
		return answer_now(http, request, mhd);
	return MHD_YES;
}

static void count_body(Http *http, HttpRequest *request)
{
	http->bodies += http_request_count(request);
}

/* Of bodies no more is kept than fits, whoever sends them: later ones are told to come again. */
static enum MHD_Result take(Http *http, HttpRequest *request, const char *data, size_t *size)
{
	gboolean fits = http->bodies + *size <= http->bodies_max;
	gboolean kept = fits && http_request_take(request, data, *size);

	if (!kept)
		http_request_drop(request, *size);
	*size = 0;
	count_body(http, request);
	if (kept)
		return MHD_YES;
	if (!http_answered(request) && !fits)
		http->rules.busy(request, http->rules_data);
	else if (!http_answered(request))
		http->rules.too_large(request, http->rules_data);
	return http_request_discarded(request) > HTTP_DISCARD_BYTES ? MHD_NO : MHD_YES;
}

/* ---- what a thread does before the answer ---- */

typedef struct {
	Http *http;
	HttpRequest *request;
	struct MHD_Connection *mhd;
} Work;

static void do_work(gpointer data)
{
	Work *work = data;

	work->http->rules.work(work->request);
}

/* libmicrohttpd calls on_request() once more. */
static void go_on(gpointer data)
{
	Work *work = data;

	count_body(work->http, work->request);
	MHD_resume_connection(work->mhd);
	g_source_set_ready_time(work->http->source, 0);
	g_free(work);
}

/* TRUE: the worker has the request, which is suspended until it is through. */
static gboolean works_first(Http *http, HttpRequest *request, struct MHD_Connection *mhd)
{
	Work *work;

	if (!http->rules.prepare || !http_request_begin_work(request) ||
	    !http->rules.prepare(request, http->rules_data))
		return FALSE;
	work = g_new(Work, 1);
	*work = (Work){ http, request, mhd };
	set_state(http, mhd, CONNECTION_ANSWERING);
	MHD_suspend_connection(mhd);
	worker_ask(http->worker, do_work, go_on, work);
	return TRUE;
}

static enum MHD_Result on_request(void *data, struct MHD_Connection *mhd, const char *url, const char *method,
				  const char *version G_GNUC_UNUSED, const char *upload, size_t *upload_size,
				  void **request_data)
{
	Http *http = data;
	HttpRequest *request = *request_data;

	if (!request) {
		request = http_request_new(mhd, method, url);
		*request_data = request;
		return begin(http, request, mhd);
	}
	if (*upload_size)
		return take(http, request, upload, upload_size);
	if (!http_answered(request) && works_first(http, request, mhd))
		return MHD_YES;
	if (!http_answered(request)) {
		http->rules.handle(request, http->rules_data);
		count_body(http, request);
	}
	return answer_now(http, request, mhd);
}

static void on_completed(void *data, struct MHD_Connection *mhd, void **request_data,
			 enum MHD_RequestTerminationCode code G_GNUC_UNUSED)
{
	Http *http = data;
	HttpRequest *request = *request_data;

	if (request) {
		http_request_forget_body(request);
		count_body(http, request);
	}
	http_request_free(request);
	*request_data = NULL;
	set_state(http, mhd, CONNECTION_IDLE);
}

/* ---- start and stop ---- */

static gboolean make_address(const HttpOptions *options, struct sockaddr_storage *ret_address, GError **error)
{
	g_autoptr(GInetAddress) inet = g_inet_address_new_from_string(options->listen);
	g_autoptr(GSocketAddress) address = NULL;

	if (!inet) {
		g_set_error(error, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT, "'%s' is no address to listen on", options->listen);
		return FALSE;
	}
	address = g_inet_socket_address_new(inet, (guint16)options->port);
	return g_socket_address_to_native(address, ret_address, sizeof(*ret_address), error);
}

/* Who passes a socket must mean what the configuration says: that is what was checked. */
static gboolean check_listening(const HttpOptions *options, GError **error)
{
	g_autoptr(GSocket) opened = g_socket_new_from_fd(dup(options->listening), error);
	g_autoptr(GSocketAddress) address = opened ? g_socket_get_local_address(opened, error) : NULL;
	g_autoptr(GInetAddress) wanted = g_inet_address_new_from_string(options->listen);
	g_autofree char *there = NULL;

	if (!address)
		return FALSE;
	g_socket_set_blocking(opened, FALSE);	/* of both descriptors: it is one socket */
	if (!G_IS_INET_SOCKET_ADDRESS(address))
		there = g_strdup("no address of IP");
	else if (g_inet_address_equal(g_inet_socket_address_get_address(G_INET_SOCKET_ADDRESS(address)), wanted) &&
		 g_inet_socket_address_get_port(G_INET_SOCKET_ADDRESS(address)) == options->port)
		return TRUE;
	else
		there = g_socket_connectable_to_string(G_SOCKET_CONNECTABLE(address));
	g_set_error(error, G_IO_ERROR, G_IO_ERROR_INVALID_ARGUMENT,
		    "the socket that was passed (regrlabd.socket) listens on %s, and the configuration says %s port %d: make both the same",
		    there, options->listen, options->port);
	return FALSE;
}

G_GNUC_PRINTF(2, 0)
static void on_log(void *data G_GNUC_UNUSED, const char *format, va_list args)
{
	g_autofree char *text = g_strdup_vprintf(format, args);

	g_debug("http: %s", g_strchomp(text));
}

Http *http_start(const HttpOptions *options, const HttpRules *rules, gpointer data, GError **error)
{
	g_autofree Http *http = g_new0(Http, 1);
	struct sockaddr_storage address;
	unsigned flags = MHD_USE_EPOLL | MHD_USE_ERROR_LOG | MHD_ALLOW_SUSPEND_RESUME;

	if (!make_address(options, &address, error) || (options->listening && !check_listening(options, error)))
		return NULL;
	if (address.ss_family == AF_INET6)
		flags |= MHD_USE_IPv6;
	http->rules = *rules;
	http->rules_data = data;
	http->bodies_max = options->bodies_max_bytes;
	http->connections = connections_new((guint)options->connections_max,
					    (gint64)options->request_timeout_s * G_USEC_PER_SEC);
	http->daemon = MHD_start_daemon(
		flags, (uint16_t)options->port, NULL, NULL, on_request, http,
		MHD_OPTION_EXTERNAL_LOGGER, on_log, NULL,
		MHD_OPTION_SOCK_ADDR, &address,
		MHD_OPTION_CONNECTION_LIMIT, (unsigned)options->connections_max + CONNECTIONS_SPARE,
		MHD_OPTION_LISTEN_BACKLOG_SIZE, (unsigned)LISTEN_BACKLOG,
		MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)options->idle_timeout_s,
		MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)HTTP_MAX_HEADER_BYTES * 2,
		MHD_OPTION_NOTIFY_CONNECTION, on_connection, http,
		MHD_OPTION_NOTIFY_COMPLETED, on_completed, http,
		MHD_OPTION_STRICT_FOR_CLIENT, 1,
		options->listening ? MHD_OPTION_LISTEN_SOCKET : MHD_OPTION_END, options->listening,
		MHD_OPTION_END);
	if (!http->daemon) {
		connections_free(http->connections);
		g_set_error(error, G_IO_ERROR, G_IO_ERROR_ADDRESS_IN_USE, "cannot listen on %s port %d: %s",
			    options->listen, options->port, g_strerror(errno));
		return NULL;
	}
	http->worker = worker_new();
	http->source = source_new(http);
	http->sweep_id = g_timeout_add_seconds(SWEEP_S, sweep, http);
	return g_steal_pointer(&http);
}

void http_stop(Http *http)
{
	if (!http)
		return;
	g_source_remove(http->sweep_id);
	worker_free(http->worker);
	g_source_destroy(http->source);
	g_source_unref(http->source);
	MHD_stop_daemon(http->daemon);
	connections_free(http->connections);
	g_free(http);
}

guint http_connections(const Http *http)
{
	return connections_count(http->connections);
}

guint64 http_evicted(const Http *http)
{
	return connections_evicted(http->connections);
}

guint64 http_answers(const Http *http, unsigned status)
{
	return http->answers[MIN(status, HTTP_MAX_STATUS - 1)];
}
