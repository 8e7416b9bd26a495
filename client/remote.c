/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "client/remote.h"

#include <curl/curl.h>
#include <gio/gio.h>
#include <string.h>

#include "jobs/spec/file.h"
#include "jobs/spec/text.h"

#define CONNECT_TIMEOUT_S 10L
#define STALL_TIMEOUT_S 60L	/* less than a byte a second for so long */
#define API "/api/v1"

G_DEFINE_QUARK(regrlab-remote-error, remote_error)

struct Remote {
	CURL *curl;
	char *server;
	char *authorization;	/* header line, or NULL */
	struct curl_slist *headers;	/* of the next request; NULL: none */
};

typedef struct {
	GString *body;
	FILE *out;	/* good answers go there; NULL: into body */
	CURL *curl;
	gboolean too_large, write_failed;
	gint64 next_offset;	/* of a log, -1: not said */
	char *state;		/* of the job whose log it is */
} Answer;

static void answer_clear(Answer *answer)
{
	g_string_free(answer->body, TRUE);
	g_free(answer->state);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Answer, answer_clear)

Remote *remote_new(const char *server, GError **error)
{
	g_autofree char *address = NULL;
	gsize length;

	if (!server)
		server = g_getenv("REGRLAB_SERVER");
	address = g_strdup(server && *server ? server : REMOTE_DEFAULT);
	for (length = strlen(address); length > 0 && address[length - 1] == '/'; length--)
		address[length - 1] = '\0';
	if (!g_str_has_prefix(address, "http://") && !g_str_has_prefix(address, "https://")) {
		g_set_error(error, REMOTE_ERROR, REMOTE_ERROR_ADDRESS, "'%s' is no address of a lab, which is like %s", address,
			    REMOTE_DEFAULT);
		return NULL;
	}

	Remote *remote = g_new0(Remote, 1);
	remote->curl = curl_easy_init();
	g_assert(remote->curl);
	remote->server = g_steal_pointer(&address);
	return remote;
}

void remote_free(Remote *remote)
{
	if (!remote)
		return;
	curl_easy_cleanup(remote->curl);
	g_free(remote->server);
	g_free(remote->authorization);
	g_free(remote);
}

const char *remote_server(const Remote *remote)
{
	return remote->server;
}

static gboolean is_this_machine(const char *host)
{
	g_autoptr(GInetAddress) address = g_inet_address_new_from_string(host);

	return g_str_equal(host, "localhost") || (address && g_inet_address_get_is_loopback(address));
}

gboolean remote_set_token(Remote *remote, const char *token, GError **error)
{
	g_autoptr(GUri) uri = g_uri_parse(remote->server, G_URI_FLAGS_NONE, NULL);
	const char *host = uri ? g_uri_get_host(uri) : NULL;

	if (!g_str_has_prefix(remote->server, "https://") && !(host && is_this_machine(host))) {
		g_set_error(error, REMOTE_ERROR, REMOTE_ERROR_ADDRESS,
			    "a token is not sent to %s: without https, others could read it", remote->server);
		return FALSE;
	}
	g_free(remote->authorization);
	remote->authorization = g_strconcat("Authorization: Bearer ", token, NULL);
	return TRUE;
}

static void add_header(Remote *remote, const char *line)
{
	struct curl_slist *longer = curl_slist_append(remote->headers, line);

	g_assert(longer);
	remote->headers = longer;
}

static size_t take_body(char *data, size_t one, size_t count, void *context)
{
	Answer *answer = context;
	long status = 0;

	curl_easy_getinfo(answer->curl, CURLINFO_RESPONSE_CODE, &status);
	if (answer->out && status == 200) {
		answer->write_failed = fwrite(data, one, count, answer->out) != count;
		return answer->write_failed ? 0 : one * count;
	}
	answer->too_large = answer->body->len + count > REMOTE_MAX_BYTES;
	if (answer->too_large)
		return 0;
	g_string_append_len(answer->body, data, (gssize)count);
	return one * count;
}

static size_t take_header(char *data, size_t one, size_t count, void *context)
{
	Answer *answer = context;
	g_autofree char *line = g_strndup(data, count);
	char *value = strchr(line, ':');

	if (!value)
		return one * count;
	*value++ = '\0';
	g_strstrip(value);
	if (g_ascii_strcasecmp(line, "X-Next-Offset") == 0) {
		answer->next_offset = g_ascii_strtoll(value, NULL, 10);
	} else if (g_ascii_strcasecmp(line, "X-Job-State") == 0) {
		g_free(answer->state);
		answer->state = g_strdup(value);
	}
	return one * count;
}

/* {"error": {"message"}} if it is that, else what the status says. */
static void set_refusal(GError **error, long status, const GString *body)
{
	g_autoptr(JsonNode) node = json_from_string(body->str, NULL);
	JsonObject *object = node && JSON_NODE_HOLDS_OBJECT(node) ? json_node_get_object(node) : NULL;
	JsonNode *member = object ? json_object_get_member(object, "error") : NULL;
	const char *message = NULL;

	if (member && JSON_NODE_HOLDS_OBJECT(member))
		message = json_object_get_string_member_with_default(json_node_get_object(member), "message", NULL);
	g_autofree char *text = message ? text_plain(message) : g_strdup_printf("the lab answers with status %ld", status);
	g_set_error_literal(error, REMOTE_ERROR, message || status >= 400 ? REMOTE_ERROR_REFUSED : REMOTE_ERROR_PROTOCOL,
			    text);
}

static gboolean perform(Remote *remote, const char *path, Answer *answer, GError **error)
{
	g_autofree char *url = g_strconcat(remote->server, API, path, NULL);
	char words[CURL_ERROR_SIZE] = "";
	CURLcode code;
	long status = 0;

	answer->curl = remote->curl;
	answer->next_offset = -1;
	if (remote->authorization)
		add_header(remote, remote->authorization);
	curl_easy_setopt(remote->curl, CURLOPT_HTTPHEADER, remote->headers);
	curl_easy_setopt(remote->curl, CURLOPT_URL, url);
	curl_easy_setopt(remote->curl, CURLOPT_PROTOCOLS_STR, "http,https");
	curl_easy_setopt(remote->curl, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(remote->curl, CURLOPT_USERAGENT, "regrlab");
	curl_easy_setopt(remote->curl, CURLOPT_CONNECTTIMEOUT, CONNECT_TIMEOUT_S);
	curl_easy_setopt(remote->curl, CURLOPT_LOW_SPEED_LIMIT, 1L);
	curl_easy_setopt(remote->curl, CURLOPT_LOW_SPEED_TIME, STALL_TIMEOUT_S);
	curl_easy_setopt(remote->curl, CURLOPT_ERRORBUFFER, words);
	curl_easy_setopt(remote->curl, CURLOPT_WRITEFUNCTION, take_body);
	curl_easy_setopt(remote->curl, CURLOPT_WRITEDATA, answer);
	curl_easy_setopt(remote->curl, CURLOPT_HEADERFUNCTION, take_header);
	curl_easy_setopt(remote->curl, CURLOPT_HEADERDATA, answer);
	code = curl_easy_perform(remote->curl);
	curl_easy_getinfo(remote->curl, CURLINFO_RESPONSE_CODE, &status);
	curl_easy_reset(remote->curl);
	g_clear_pointer(&remote->headers, curl_slist_free_all);

	if (answer->write_failed)
		g_set_error(error, REMOTE_ERROR, REMOTE_ERROR_FILE, "cannot write the answer: %s", g_strerror(errno));
	else if (answer->too_large)
		g_set_error(error, REMOTE_ERROR, REMOTE_ERROR_PROTOCOL, "the answer has more than %u bytes", REMOTE_MAX_BYTES);
	else if (code != CURLE_OK)
		g_set_error(error, REMOTE_ERROR, REMOTE_ERROR_UNREACHABLE, "no answer from %s: %s; does the lab run there? --server URL or $REGRLAB_SERVER names another one",
			    remote->server, *words ? words : curl_easy_strerror(code));
	else if (status < 200 || status > 299)
		set_refusal(error, status, answer->body);
	else
		return TRUE;
	return FALSE;
}

static JsonObject *perform_json(Remote *remote, const char *path, GError **error)
{
	g_auto(Answer) answer = { .body = g_string_new(NULL) };
	g_autoptr(JsonNode) node = NULL;

	if (!perform(remote, path, &answer, error))
		return NULL;
	node = json_from_string(answer.body->str, NULL);
	if (!node || !JSON_NODE_HOLDS_OBJECT(node)) {
		g_set_error(error, REMOTE_ERROR, REMOTE_ERROR_PROTOCOL, "%s answers, but not as a lab does", remote->server);
		return NULL;
	}
	return json_node_dup_object(node);
}

JsonObject *remote_get(Remote *remote, const char *path, GError **error)
{
	return perform_json(remote, path, error);
}

JsonObject *remote_delete(Remote *remote, const char *path, GError **error)
{
	curl_easy_setopt(remote->curl, CURLOPT_CUSTOMREQUEST, "DELETE");
	return perform_json(remote, path, error);
}

JsonObject *remote_post_nothing(Remote *remote, const char *path, GError **error)
{
	curl_easy_setopt(remote->curl, CURLOPT_COPYPOSTFIELDS, "");
	return perform_json(remote, path, error);
}

gboolean remote_copy(Remote *remote, const char *path, FILE *out, GError **error)
{
	g_auto(Answer) answer = { .body = g_string_new(NULL), .out = out };

	return perform(remote, path, &answer, error);
}

gboolean remote_log(Remote *remote, const char *path, gint64 *offset, FILE *out, gboolean *ret_final, GError **error)
{
	static const char *const live[] = { "queued", "building", "waiting-for-host", "measuring", NULL };
	g_auto(Answer) answer = { .body = g_string_new(NULL) };
	g_autofree char *from = g_strdup_printf("%s?from=%" G_GINT64_FORMAT, path, *offset);

	if (!perform(remote, from, &answer, error))
		return FALSE;
	g_autofree char *text = text_plain(answer.body->str);
	fputs(text, out);
	if (fflush(out) == EOF) {
		g_set_error(error, REMOTE_ERROR, REMOTE_ERROR_FILE, "cannot write the log: %s", g_strerror(errno));
		return FALSE;
	}
	if (answer.next_offset < 0 || !answer.state) {
		g_set_error(error, REMOTE_ERROR, REMOTE_ERROR_PROTOCOL, "%s answers, but not as a lab does", remote->server);
		return FALSE;
	}
	*ret_final = answer.next_offset == *offset && !g_strv_contains(live, answer.state);
	*offset = answer.next_offset;
	return TRUE;
}

JsonObject *remote_post(Remote *remote, const char *path, const GArray *fields, const char *key, GError **error)
{
	curl_mime *form = curl_mime_init(remote->curl);
	JsonObject *object;

	for (guint i = 0; i < fields->len; i++) {
		const RemoteField *field = &g_array_index(fields, RemoteField, i);
		curl_mimepart *part = curl_mime_addpart(form);

		curl_mime_name(part, field->name);
		curl_mime_data(part, field->data, field->size);
		if (field->file_name)
			curl_mime_filename(part, field->file_name);
	}
	if (key) {
		g_autofree char *line = g_strconcat("Idempotency-Key: ", key, NULL);

		add_header(remote, line);
	}
	curl_easy_setopt(remote->curl, CURLOPT_MIMEPOST, form);
	object = perform_json(remote, path, error);
	curl_mime_free(form);
	return object;
}

JsonObject *remote_post_json(Remote *remote, const char *path, JsonObject *object, GError **error)
{
	g_autofree char *line = json_object_to_line(object);

	add_header(remote, "Content-Type: application/json");
	curl_easy_setopt(remote->curl, CURLOPT_COPYPOSTFIELDS, line);
	return perform_json(remote, path, error);
}
