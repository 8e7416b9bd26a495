/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/address.h"

#include <string.h>

#define FORWARDED_MAX 32	/* addresses that are looked at */

GPtrArray *address_list_parse(const char *text)
{
	g_autoptr(GPtrArray) masks = g_ptr_array_new_with_free_func(g_object_unref);
	g_auto(GStrv) words = g_strsplit(text, ",", -1);

	for (char **word = words; *word; word++) {
		GInetAddressMask *mask;

		if (!*g_strstrip(*word) && !words[1])
			continue;
		mask = g_inet_address_mask_new_from_string(*word, NULL);
		if (!mask)
			return NULL;
		g_ptr_array_add(masks, mask);
	}
	return g_steal_pointer(&masks);
}

/* ::ffff:192.0.2.1 is 192.0.2.1 */
static GInetAddress *parse(const char *text)
{
	static const guint8 mapped[12] = { [10] = 0xff, [11] = 0xff };
	g_autoptr(GInetAddress) address = g_inet_address_new_from_string(text);
	const guint8 *bytes = address ? g_inet_address_to_bytes(address) : NULL;

	if (address && g_inet_address_get_family(address) == G_SOCKET_FAMILY_IPV6 &&
	    memcmp(bytes, mapped, sizeof(mapped)) == 0)
		return g_inet_address_new_from_bytes(bytes + sizeof(mapped), G_SOCKET_FAMILY_IPV4);
	return g_steal_pointer(&address);
}

static gboolean is_trusted(GInetAddress *address, const GPtrArray *trusted)
{
	for (guint i = 0; i < trusted->len; i++)
		if (g_inet_address_mask_matches(g_ptr_array_index(trusted, i), address))
			return TRUE;
	return FALSE;
}

char *address_of_caller(const char *peer, const char *forwarded, const GPtrArray *trusted)
{
	g_autoptr(GInetAddress) address = parse(peer);
	g_auto(GStrv) words = NULL;
	guint n;

	if (!address)
		return g_strdup("");
	words = g_strsplit(forwarded ? forwarded : "", ",", -1);
	n = g_strv_length(words);
	for (guint i = n; i-- > 0 && n - i <= FORWARDED_MAX && is_trusted(address, trusted);) {
		GInetAddress *before = parse(g_strstrip(words[i]));

		if (!before)
			break;
		g_object_unref(address);
		address = before;
	}
	return g_inet_address_to_string(address);
}

gboolean address_is_loopback(const char *text)
{
	g_autoptr(GInetAddress) address = parse(text);

	return address && g_inet_address_get_is_loopback(address);
}
