/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where a request comes from, also behind a proxy. Pure. */
#pragma once

#include <gio/gio.h>

/* "127.0.0.1, 10.0.0.0/8, ::1" to an array of GInetAddressMask that owns them; NULL: it is none. */
GPtrArray *address_list_parse(const char *text);

/*
 * The address of who asked, "" if nobody can say; the caller's. peer is the
 * connection's; forwarded is X-Forwarded-For, all of it (NULL: none), and is
 * believed only from a peer in trusted, and there from its end on: each
 * trusted proxy vouches for the address before its own. Addresses of IPv4 in
 * IPv6 are those of IPv4.
 */
char *address_of_caller(const char *peer, const char *forwarded, const GPtrArray *trusted);

gboolean address_is_loopback(const char *text);
