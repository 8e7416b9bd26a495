/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/origin.h"

#include "daemon/address.h"
#include "daemon/answer.h"

/* "name", "name:port", "[::1]:port": what a browser was told to reach. */
static gboolean is_host(const Lab *lab, const char *host)
{
	g_autofree char *url = g_strconcat("http://", host, NULL);
	g_autoptr(GUri) uri = g_uri_parse(url, G_URI_FLAGS_NONE, NULL);
	g_autoptr(GUri) own = g_uri_parse(lab->config->url, G_URI_FLAGS_NONE, NULL);
	const char *name = uri ? g_uri_get_host(uri) : NULL;

	if (!name)
		return FALSE;
	return address_is_loopback(name) || g_ascii_strcasecmp(name, "localhost") == 0 ||
	       (own && g_ascii_strcasecmp(name, g_uri_get_host(own)) == 0);
}

static int port_of(GUri *uri)
{
	int port = g_uri_get_port(uri);

	if (port != -1)
		return port;
	return g_str_equal(g_uri_get_scheme(uri), "https") ? 443 : 80;
}

/* The same scheme, host and port, whatever else they have. */
static gboolean same_origin(const char *left, const char *right)
{
	g_autoptr(GUri) a = g_uri_parse(left, G_URI_FLAGS_SCHEME_NORMALIZE, NULL);
	g_autoptr(GUri) b = g_uri_parse(right, G_URI_FLAGS_SCHEME_NORMALIZE, NULL);

	return a && b && g_uri_get_host(a) && g_uri_get_host(b) && g_str_equal(g_uri_get_scheme(a), g_uri_get_scheme(b)) &&
	       g_ascii_strcasecmp(g_uri_get_host(a), g_uri_get_host(b)) == 0 && port_of(a) == port_of(b);
}

/* Behind TLS the lab has one origin; without, it is also what the browser was told to reach. */
static gboolean is_own(HttpRequest *request, const Lab *lab, const char *origin)
{
	const char *host = http_request_header(request, "Host");
	g_autofree char *reached = g_strconcat("http://", host ? host : "", NULL);

	return same_origin(origin, lab->config->url) ||
	       (!lab->config->behind_tls_proxy && same_origin(origin, reached));
}

static gboolean from_elsewhere(HttpRequest *request, const Lab *lab, const char **ret_header)
{
	const char *origin = http_request_header(request, *ret_header = "Origin");
	const char *site, *referer;

	if (origin)
		return !is_own(request, lab, origin);
	site = http_request_header(request, *ret_header = "Sec-Fetch-Site");
	if (site)
		return !g_str_equal(site, "same-origin") && !g_str_equal(site, "none");
	referer = http_request_header(request, *ret_header = "Referer");
	return referer && !is_own(request, lab, referer);
}

gboolean origin_check(HttpRequest *request, const Lab *lab)
{
	const char *host = http_request_header(request, "Host");
	const char *header;

	if (host && !is_host(lab, host))
		answer_error(request, 421, "misdirected", "Host", "this is not the lab of that name");
	else if (!http_request_is_read(request) && from_elsewhere(request, lab, &header))
		answer_error(request, 403, "cross-site", header, "a page of another site may not do this");
	return !http_answered(request);
}
