/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "mail/automatic.h"

#include <string.h>

#define MAX_HOPS 50	/* Received headers of a mail that goes round */

static const char *header_of(GMimeMessage *mail, const char *name)
{
	const char *value = g_mime_object_get_header(GMIME_OBJECT(mail), name);

	return value ? value + strspn(value, " \t\r\n") : NULL;
}

static gboolean is_own(GMimeMessage *mail, const Message *message, const char *own)
{
	return header_of(mail, MESSAGE_OWN_HEADER) || (*own && g_str_equal(message->from, own));
}

static gboolean goes_round(GMimeMessage *mail)
{
	GMimeHeaderList *list = g_mime_object_get_header_list(GMIME_OBJECT(mail));
	int hops = 0;

	for (int i = 0; i < g_mime_header_list_get_count(list); i++)
		hops += g_ascii_strcasecmp(g_mime_header_get_name(g_mime_header_list_get_header_at(list, i)), "Received") == 0;
	return hops > MAX_HOPS;
}

static gboolean body_is(GMimeMessage *mail, const char *subtype)
{
	GMimeObject *body = g_mime_message_get_mime_part(mail);
	GMimeContentType *type = body ? g_mime_object_get_content_type(body) : NULL;

	return type && g_mime_content_type_is_type(type, "multipart", subtype);
}

static gboolean is_bounce(GMimeMessage *mail, const Message *message)
{
	const char *path = header_of(mail, "Return-Path");

	return body_is(mail, "report") || g_str_has_prefix(message->from, "mailer-daemon@") ||
	       g_str_has_prefix(message->from, "postmaster@") || header_of(mail, "X-Failed-Recipients") ||
	       (path && g_str_has_prefix(path, "<>"));
}

static gboolean is_digest(GMimeMessage *mail, const Message *message)
{
	const char *digest = strstr(message->subject, " Digest, Vol ");

	return body_is(mail, "digest") || (digest && strstr(digest, ", Issue "));
}

/* What the header says is this word, or begins with it. */
static gboolean says(GMimeMessage *mail, const char *name, const char *word)
{
	const char *value = header_of(mail, name);

	return value && g_ascii_strncasecmp(value, word, strlen(word)) == 0;
}

static gboolean is_automatic_reply(GMimeMessage *mail, const Message *message)
{
	static const char *const marks[] = { "X-Autoreply", "X-Autorespond", "X-Auto-Response", "X-Loop-Detected", "X-Vacation" };

	if (header_of(mail, "Auto-Submitted") && !says(mail, "Auto-Submitted", "no"))
		return TRUE;
	for (gsize i = 0; i < G_N_ELEMENTS(marks); i++)
		if (header_of(mail, marks[i]))
			return TRUE;
	/* lists say "bulk", too: of them it means nothing */
	return says(mail, "Precedence", "auto_reply") || says(mail, "Precedence", "junk") ||
	       (says(mail, "Precedence", "bulk") && !*message->list_id) || g_str_has_prefix(message->from, "noreply@") ||
	       g_str_has_prefix(message->from, "no-reply@");
}

Automatic automatic_kind(GMimeMessage *mail, const Message *message, const char *own)
{
	if (is_own(mail, message, own))
		return AUTOMATIC_OWN;
	if (goes_round(mail))
		return AUTOMATIC_LOOP;
	if (is_bounce(mail, message))
		return AUTOMATIC_BOUNCE;
	if (is_digest(mail, message))
		return AUTOMATIC_DIGEST;
	return is_automatic_reply(mail, message) ? AUTOMATIC_REPLY : AUTOMATIC_NO;
}
