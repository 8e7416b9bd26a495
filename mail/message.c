/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "mail/message.h"

#include <string.h>

#include "jobs/spec/mime.h"
#include "mail/automatic.h"

#define MAX_DEPTH	20	/* of MIME parts in parts */
#define MAX_RECIPIENTS	1000
#define MAX_HEADER	8192	/* bytes of one of them */
#define MAX_RESULTS	20	/* headers of a name that are kept */

void message_free(Message *message)
{
	if (!message)
		return;
	g_free(message->message_id);
	g_free(message->subject);
	g_free(message->from);
	g_free(message->from_name);
	g_clear_pointer(&message->recipients, g_ptr_array_unref);
	g_free(message->list_id);
	g_clear_pointer(&message->references, g_ptr_array_unref);
	g_clear_pointer(&message->results, g_ptr_array_unref);
	g_clear_pointer(&message->sealed, g_ptr_array_unref);
	g_clear_pointer(&message->seals, g_ptr_array_unref);
	if (message->text)
		g_string_free(message->text, TRUE);
	if (message->attached)
		g_string_free(message->attached, TRUE);
	g_free(message);
}

gboolean message_is_to(const Message *message, const char *address)
{
	for (guint i = 0; i < message->recipients->len; i++)
		if (g_str_equal(g_ptr_array_index(message->recipients, i), address))
			return TRUE;
	return FALSE;
}

/* ---- addresses ---- */

static char *lower_line(const char *text)
{
	g_autofree char *line = mime_line(text);

	return g_ascii_strdown(line, -1);
}

/* Without quotes and blanks, in which there could be another address. */
static gboolean is_plain(const char *address)
{
	const char *at = strchr(address, '@');

	return at && at > address && at[1] && !strchr(at + 1, '@') && *address != '-' && !strpbrk(address, " \"(),:;<>[\\]");
}

static void add_address(GPtrArray *found, const char *address)
{
	g_autofree char *lower = lower_line(address);

	if (is_plain(lower))
		g_ptr_array_add(found, g_steal_pointer(&lower));
}

static void add_addresses(GPtrArray *found, InternetAddressList *list, int depth)
{
	for (int i = 0; list && i < internet_address_list_length(list) && found->len < MAX_RECIPIENTS; i++) {
		InternetAddress *address = internet_address_list_get_address(list, i);

		if (INTERNET_ADDRESS_IS_MAILBOX(address))
			add_address(found, internet_address_mailbox_get_addr(INTERNET_ADDRESS_MAILBOX(address)));
		else if (depth < 3)
			add_addresses(found, internet_address_group_get_members(INTERNET_ADDRESS_GROUP(address)), depth + 1);
	}
}

static char *first_of(InternetAddressList *list)
{
	g_autoptr(GPtrArray) found = g_ptr_array_new_with_free_func(g_free);

	add_addresses(found, list, 0);
	return g_strdup(found->len ? g_ptr_array_index(found, 0) : "");
}

static char *name_of(InternetAddressList *list)
{
	InternetAddress *address = list && internet_address_list_length(list) ? internet_address_list_get_address(list, 0) : NULL;

	return mime_line(address ? internet_address_get_name(address) : NULL);
}

/* "Memory management <linux-mm.example.org>" to "linux-mm.example.org". */
static char *list_id_of(const char *header)
{
	const char *start = header ? strrchr(header, '<') : NULL;
	g_autofree char *id = start ? g_strndup(start + 1, strcspn(start + 1, "<> \t\r\n")) : NULL;

	return lower_line(id);
}

/* ---- the thread ---- */

static void add_reference(GPtrArray *references, const char *id)
{
	g_autofree char *clean = mime_line(id);

	for (guint i = references->len; i-- > 0;)
		if (g_str_equal(g_ptr_array_index(references, i), clean))
			g_ptr_array_remove_index(references, i);
	if (*clean)
		g_ptr_array_add(references, g_steal_pointer(&clean));
	if (references->len > MESSAGE_MAX_REFERENCES)
		g_ptr_array_remove_index(references, 0);
}

static void add_references(GPtrArray *references, const char *header)
{
	GMimeReferences *ids = header ? g_mime_references_parse(NULL, header) : NULL;

	for (int i = 0; ids && i < g_mime_references_length(ids); i++)
		add_reference(references, g_mime_references_get_message_id(ids, i));
	if (ids)
		g_mime_references_free(ids);
}

/* ---- the text ---- */

static void add_text(GString *to, GMimeObject *part)
{
	g_autofree char *decoded = g_mime_text_part_get_text(GMIME_TEXT_PART(part));
	g_autofree char *valid = decoded ? g_utf8_make_valid(decoded, -1) : NULL;
	g_autoptr(GString) text = g_string_new(valid);

	mime_unflow_part(text, part);
	g_string_replace(text, "\r\n", "\n", 0);
	g_string_append_len(to, text->str, (gssize)text->len);
	if (to->len && to->str[to->len - 1] != '\n')
		g_string_append_c(to, '\n');
}

static void read_text_part(Message *message, GMimeObject *part)
{
	GMimeContentType *type = g_mime_object_get_content_type(part);
	const char *how = g_mime_object_get_disposition(part);
	gboolean plain = g_mime_content_type_is_type(type, "text", "plain");

	if (plain && !(how && g_ascii_strcasecmp(how, GMIME_DISPOSITION_ATTACHMENT) == 0))
		add_text(message->text, part);
	else if (plain || g_mime_content_type_is_type(type, "text", "x-patch") ||
		 g_mime_content_type_is_type(type, "text", "x-diff"))
		add_text(message->attached, part);
}

/* *left: parts that may still be looked at. */
static void read_part(Message *message, GMimeObject *part, int depth, int *left)
{
	if (--*left < 0 || depth > MAX_DEPTH)
		return;
	if (GMIME_IS_MESSAGE_PART(part)) {
		message->has_forward = TRUE;
	} else if (GMIME_IS_MULTIPART(part)) {
		for (int i = 0; i < g_mime_multipart_get_count(GMIME_MULTIPART(part)); i++)
			read_part(message, g_mime_multipart_get_part(GMIME_MULTIPART(part), i), depth + 1, left);
	} else if (GMIME_IS_TEXT_PART(part)) {
		read_text_part(message, part);
	}
}

/* ---- all of it ---- */

/* On one line, cut at MAX_HEADER bytes. */
static char *header_line(const char *value)
{
	g_autofree char *cut = g_strndup(value ? value : "", MAX_HEADER);

	return g_strdelimit(g_utf8_make_valid(cut, -1), "\t\r\n", ' ');
}

static GPtrArray *headers_named(GMimeMessage *mail, const char *name)
{
	GMimeHeaderList *list = g_mime_object_get_header_list(GMIME_OBJECT(mail));
	g_autoptr(GPtrArray) found = g_ptr_array_new_with_free_func(g_free);

	for (int i = 0; i < g_mime_header_list_get_count(list) && found->len < MAX_RESULTS; i++) {
		GMimeHeader *header = g_mime_header_list_get_header_at(list, i);

		if (g_ascii_strcasecmp(g_mime_header_get_name(header), name) == 0)
			g_ptr_array_add(found, header_line(g_mime_header_get_value(header)));
	}
	return g_steal_pointer(&found);
}

static const char *header_of(GMimeMessage *mail, const char *name)
{
	return g_mime_object_get_header(GMIME_OBJECT(mail), name);
}

static void read_headers(Message *message, GMimeMessage *mail)
{
	message->message_id = mime_line(g_mime_message_get_message_id(mail));
	message->subject = mime_line(g_mime_message_get_subject(mail));
	message->from = first_of(g_mime_message_get_from(mail));
	message->from_name = name_of(g_mime_message_get_from(mail));
	message->recipients = g_ptr_array_new_with_free_func(g_free);
	add_addresses(message->recipients, g_mime_message_get_to(mail), 0);
	add_addresses(message->recipients, g_mime_message_get_cc(mail), 0);
	message->list_id = list_id_of(header_of(mail, "List-Id"));
	message->references = g_ptr_array_new_with_free_func(g_free);
	add_references(message->references, header_of(mail, "References"));
	add_references(message->references, header_of(mail, "In-Reply-To"));
	message->results = headers_named(mail, "Authentication-Results");
	message->sealed = headers_named(mail, "ARC-Authentication-Results");
	message->seals = headers_named(mail, "ARC-Seal");
}

Message *message_parse(GBytes *raw, const char *own)
{
	GMimeMessage *mail = g_bytes_get_size(raw) <= MESSAGE_MAX_BYTES ? mime_parse(raw) : NULL;
	GMimeObject *body = mail ? g_mime_message_get_mime_part(mail) : NULL;
	int left = MIME_MAX_PARTS;

	if (!mail)
		return NULL;
	Message *message = g_new0(Message, 1);
	message->text = g_string_new(NULL);
	message->attached = g_string_new(NULL);
	read_headers(message, mail);
	if (body)
		read_part(message, body, 0, &left);
	message->automatic = automatic_kind(mail, message, own);
	g_object_unref(mail);
	return message;
}

GBytes *message_without_mbox_line(GBytes *raw)
{
	gsize size;
	const char *data = g_bytes_get_data(raw, &size);
	const char *newline = size > 5 && memcmp(data, "From ", 5) == 0 ? memchr(data, '\n', size) : NULL;
	gsize start = newline ? (gsize)(newline - data) + 1 : 0;

	return g_bytes_new_from_bytes(raw, start, size - start);
}
