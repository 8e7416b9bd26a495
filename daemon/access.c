/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/access.h"

#include <string.h>

#include "daemon/address.h"
#include "daemon/answer.h"
#include "daemon/rate.h"

struct Access {
	TokenKey key;
	GPtrArray *trusted;	/* of GInetAddressMask */
	Rate *rate;
};

void caller_free(Caller *caller)
{
	if (!caller)
		return;
	g_free(caller->name);
	g_free(caller->address);
	g_free(caller->submitter);
	g_free(caller->target);
	g_free(caller);
}

gboolean caller_owns(const Caller *caller, const char *submitter)
{
	return caller->role >= ROLE_ADMIN || (caller->token && g_str_equal(caller->submitter, submitter));
}

void caller_set_target(Caller *caller, const char *format, ...)
{
	va_list args;

	g_free(caller->target);
	va_start(args, format);
	caller->target = g_strdup_vprintf(format, args);
	va_end(args);
}

/* ---- the lab's side ---- */

void access_free(Access *access)
{
	if (!access)
		return;
	g_clear_pointer(&access->trusted, g_ptr_array_unref);
	rate_free(access->rate);
	memset(&access->key, 0, sizeof(access->key));
	g_free(access);
}

static gboolean may_listen(const Lab *lab, GError **error)
{
	gboolean any, admin;

	if (address_is_loopback(lab->config->listen))
		return TRUE;
	if (!store_tokens_exist(lab->db, lab->now_ns(), &any, &admin, error))
		return FALSE;
	if (!admin)
		g_set_error(error, CONFIG_ERROR, CONFIG_ERROR_VALUE,
			    "will not listen on %s: nobody has a token; make one with regrlabd --new-admin-token",
			    lab->config->listen);
	return admin;
}

Access *access_new(const Lab *lab, GError **error)
{
	g_autoptr(Access) access = g_new0(Access, 1);
	g_autofree char *path = config_token_key(lab->config);

	access->rate = rate_new();
	access->trusted = address_list_parse(lab->config->trusted_proxies);
	g_assert(access->trusted);	/* checked when the configuration was read */
	if (!token_key_load(path, &access->key, error) || !may_listen(lab, error))
		return NULL;
	return g_steal_pointer(&access);
}

const TokenKey *access_key(const Access *access)
{
	return &access->key;
}

char *access_new_token(const TokenKey *key, Db *db, StoreToken *token, GError **error)
{
	g_autofree char *secret = token_secret_new(error);

	if (!secret)
		return NULL;
	g_free(token->hash);
	token->hash = token_hash(key, secret);
	return store_token_add(db, token, error) ? token_text(token->id, secret) : NULL;
}

/* ---- who it is ---- */

/* What proxies add: with it, loopback is not where the request comes from. */
static gboolean was_forwarded(HttpRequest *request)
{
	static const char *const names[] = { "Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Real-IP", "Via" };

	for (gsize i = 0; i < G_N_ELEMENTS(names); i++)
		if (http_request_header(request, names[i]))
			return TRUE;
	return FALSE;
}

static gboolean is_open(HttpRequest *request, const Lab *lab, gboolean *ret_open, GError **error)
{
	const Config *config = lab->config;
	gboolean any, admin;

	*ret_open = FALSE;
	if (config->behind_tls_proxy || *config->trusted_proxies || !address_is_loopback(config->listen) ||
	    was_forwarded(request))
		return TRUE;
	if (!store_tokens_exist(lab->db, lab->now_ns(), &any, &admin, error))
		return FALSE;
	*ret_open = !any;
	return TRUE;
}

/* The token as it was sent; NULL: none. The caller's. */
static char *sent_token(HttpRequest *request)
{
	const char *header = http_request_header(request, "Authorization");
	g_autofree char *pair = NULL;
	const char *colon;
	gsize size;

	if (!header)
		return NULL;
	if (g_ascii_strncasecmp(header, "Bearer ", 7) == 0)
		return g_strstrip(g_strdup(header + 7));
	if (g_ascii_strncasecmp(header, "Basic ", 6) != 0 || !http_request_is_read(request))
		return g_strdup("");
	pair = (char *)g_base64_decode(header + 6, &size);
	colon = pair ? memchr(pair, ':', size) : NULL;
	return colon ? g_strndup(colon + 1, size - (gsize)(colon + 1 - pair)) : g_strdup("");
}

/* FALSE: the database failed. *ret_good: it is one that works, and the caller's. */
static gboolean use_token(const Lab *lab, const char *text, Caller *caller, int *ret_per_min, gboolean *ret_good,
			  GError **error)
{
	g_autoptr(StoreToken) token = NULL;
	g_autofree char *hash = NULL;
	const char *secret;
	gint64 id;

	*ret_good = FALSE;
	if (!token_parse(text, &id, &secret))
		return TRUE;
	if (!store_token_get(lab->db, id, &token, error))
		return FALSE;
	hash = token_hash(&lab->access->key, secret);
	*ret_good = token && token_hash_is(hash, token->hash) && store_token_works(token, lab->now_ns());
	if (!*ret_good)
		return TRUE;
	caller->role = token->role;
	caller->token = id;
	caller->name = g_strdup(token->name);
	caller->submitter = g_strdup_printf("token %" G_GINT64_FORMAT, id);
	caller->queue_max = token->queue_max;
	caller->hours_per_day = token->hours_per_day;
	*ret_per_min = token->requests_per_min;
	return TRUE;
}

/* ---- whether they may ---- */

static gboolean within_rate(HttpRequest *request, const Lab *lab, const char *key, int per_min)
{
	char seconds[16];
	int wait_s;

	if (!per_min || rate_take(lab->access->rate, key, per_min, g_get_monotonic_time(), &wait_s))
		return TRUE;
	answer_error(request, 429, "too-many-requests", NULL, "at most %d requests a minute; try again in %d s", per_min,
		     wait_s);
	g_snprintf(seconds, sizeof(seconds), "%d", wait_s);
	http_answer_header(request, "Retry-After", seconds);
	return FALSE;
}

static gboolean unauthorized(HttpRequest *request, const char *code, const char *message)
{
	answer_error(request, 401, code, "Authorization", "%s", message);
	http_answer_header(request, "WWW-Authenticate", "Bearer realm=\"regrlab\"");
	if (http_request_is_read(request))
		http_answer_header(request, "WWW-Authenticate", "Basic realm=\"regrlab\", charset=\"UTF-8\"");
	return FALSE;
}

static gboolean refuse_token(HttpRequest *request, const Lab *lab, const Caller *caller)
{
	g_autofree char *key = g_strconcat("wrong ", caller->address, NULL);

	if (!within_rate(request, lab, key, ACCESS_WRONG_PER_MIN))
		return FALSE;
	lab_log(G_LOG_LEVEL_MESSAGE, 0, "a token that does not work, from %s", caller->address);
	return unauthorized(request, "wrong-token", "this token does not work here; a token is sent as "
						    "'Authorization: Bearer regrlab_...'");
}

/* What each kind of route needs of who asks. */
static const struct {
	Role role;
	gboolean token;	/* and a token, even in an open lab */
} needs[] = {
	[ACCESS_ANYONE] = { ROLE_NOBODY, FALSE },
	[ACCESS_READ] = { ROLE_READ, FALSE },
	[ACCESS_SUBMIT] = { ROLE_SUBMIT, FALSE },
	[ACCESS_ADMIN] = { ROLE_ADMIN, FALSE },
	[ACCESS_TOKENS] = { ROLE_ADMIN, TRUE },
};

static gboolean has_role(HttpRequest *request, const Caller *caller, RouteAccess needed)
{
	if (needed != ACCESS_UNDECLARED && caller->role >= needs[needed].role && (caller->token || !needs[needed].token))
		return TRUE;
	if (!caller->token && caller->role < ROLE_ADMIN)
		return unauthorized(request, "token-needed", "this needs a token, sent as 'Authorization: Bearer regrlab_...'");
	if (!caller->token)
		answer_error(request, 403, "no-tokens", NULL, "this lab has no tokens; regrlabd --new-admin-token makes the first");
	else
		answer_error(request, 403, "role", NULL, "a token of role %s may not do this", role_name(caller->role));
	return FALSE;
}

/* An open lab asks nobody. FALSE: answered. */
static gboolean identify(HttpRequest *request, Lab *lab, Caller *caller)
{
	g_autofree char *text = NULL;
	gboolean open, good;
	int per_min = lab->config->requests_per_min;
	GError *error = NULL;

	if (!is_open(request, lab, &open, &error)) {
		answer_trouble(request, 0, error);
		return FALSE;
	}
	caller->role = open ? ROLE_ADMIN : lab->config->read_needs_token ? ROLE_NOBODY : ROLE_READ;
	text = open ? NULL : sent_token(request);
	if (text && !use_token(lab, text, caller, &per_min, &good, &error)) {
		answer_trouble(request, 0, error);
		return FALSE;
	}
	if (text && !good)
		return refuse_token(request, lab, caller);
	if (!text) {
		caller->name = g_strdup("");
		caller->submitter = g_strdup(caller->address);
	}
	return within_rate(request, lab, caller->submitter, per_min);
}

Caller *access_admit(HttpRequest *request, Lab *lab, RouteAccess needed)
{
	g_autoptr(Caller) caller = g_new0(Caller, 1);
	g_autofree char *peer = http_request_peer(request);
	g_autofree char *forwarded = http_request_headers(request, "X-Forwarded-For");

	caller->address = address_of_caller(peer, forwarded, lab->access->trusted);
	if (needed == ACCESS_ANYONE)
		return g_steal_pointer(&caller);
	if (!identify(request, lab, caller) || !has_role(request, caller, needed))
		return NULL;
	return g_steal_pointer(&caller);
}

/* ---- what they did ---- */

gboolean access_audit(const Lab *lab, const Caller *caller, const char *action, const char *target, GError **error)
{
	StoreAudit entry = {
		.time_ns = lab->now_ns(),
		.who = caller->submitter,
		.name = caller->name,
		.address = caller->address,
		.action = action,
		.target = caller->target ? caller->target : target,
	};

	return store_audit_add(lab->db, &entry, error);
}

void access_log(const Caller *caller, const char *action, const char *target)
{
	lab_log(G_LOG_LEVEL_MESSAGE, 0, "audit: %s%s%s%s from %s: %s %s", caller->submitter, *caller->name ? " (" : "",
		caller->name, *caller->name ? ")" : "", caller->address, action, caller->target ? caller->target : target);
}
