/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "jobs/spec/series-mail.h"

#include <gmime/gmime.h>
#include <string.h>

#include "jobs/spec/series-diff.h"
#include "jobs/spec/spec.h"

#define MAX_PARTS	100	/* MIME parts of one mail that are looked at */
#define MAX_NUMBER	100000	/* n, m and v of a subject */

void mail_free(Mail *mail)
{
	if (!mail)
		return;
	g_clear_pointer(&mail->raw, g_bytes_unref);
	g_free(mail->message_id);
	g_free(mail->subject);
	g_free(mail->author);
	g_free(mail->base_commit);
	g_free(mail->change_id);
	g_clear_pointer(&mail->files, g_ptr_array_unref);
	g_free(mail);
}

gboolean mail_is_part(const Mail *mail)
{
	if (mail->is_reply)
		return FALSE;
	return mail->files->len > 0 || (mail->has_tag && mail->number == 0);
}

/* ---- text ---- */

/* Valid UTF-8 on one line, cut at a character within what a spec may hold. */
static char *clean_text(const char *text)
{
	g_autofree char *valid = g_utf8_make_valid(text ? text : "", -1);
	g_autoptr(GString) clean = g_string_new(NULL);

	for (const char *p = valid; *p; p = g_utf8_next_char(p)) {
		gunichar c = g_utf8_get_char(p);
		gboolean blank = g_unichar_isspace(c) || g_unichar_iscntrl(c);
		if (clean->len + 6 > SPEC_MAX_TEXT)
			break;
		if (!blank)
			g_string_append_unichar(clean, c);
		else if (clean->len && clean->str[clean->len - 1] != ' ')
			g_string_append_c(clean, ' ');
	}
	g_strchomp(clean->str);
	return g_string_free(g_steal_pointer(&clean), FALSE);
}

static char *address_text(const char *name, const char *address)
{
	g_autofree char *text = name && *name ? g_strdup_printf("%s <%s>", name, address)
					      : g_strdup_printf("<%s>", address);
	return clean_text(text);
}

static char *first_address(InternetAddressList *list)
{
	for (int i = 0; list && i < internet_address_list_length(list); i++) {
		InternetAddress *address = internet_address_list_get_address(list, i);
		if (INTERNET_ADDRESS_IS_MAILBOX(address))
			return address_text(internet_address_get_name(address),
					    internet_address_mailbox_get_addr(INTERNET_ADDRESS_MAILBOX(address)));
	}
	return NULL;
}

/* ---- the subject ---- */

static gboolean take_prefix(const char **subject, const char *const *words)
{
	for (; *words; words++) {
		gsize length = strlen(*words);
		if (g_ascii_strncasecmp(*subject, *words, length) == 0) {
			*subject += length;
			return TRUE;
		}
	}
	return FALSE;
}

static gboolean read_number(const char *text, const char **ret_end, int *ret_number)
{
	char *end;

	if (!g_ascii_isdigit(*text))
		return FALSE;
	guint64 value = g_ascii_strtoull(text, &end, 10);
	if (value > MAX_NUMBER)
		return FALSE;
	*ret_number = (int)value;
	*ret_end = end;
	return TRUE;
}

/* One word within brackets: PATCH, RFC, v3, 2/7, a tree's name. */
static void read_tag(Mail *mail, const char *word)
{
	const char *end;
	int number, total;

	mail->has_tag |= g_ascii_strcasecmp(word, "PATCH") == 0 || g_ascii_strcasecmp(word, "RFC") == 0;
	if ((*word == 'v' || *word == 'V') && read_number(word + 1, &end, &number) && !*end && number > 0)
		mail->version = number;
	if (read_number(word, &end, &number) && *end == '/' && read_number(end + 1, &end, &total) && !*end) {
		mail->number = number;
		mail->total = total;
	}
}

static void read_subject(Mail *mail, const char *text)
{
	static const char *const replies[] = { "re:", "aw:", "sv:", "antw:", NULL };
	g_autofree char *clean = clean_text(text);
	const char *subject = clean;

	for (;;) {
		const char *end = *subject == '[' ? strchr(subject, ']') : NULL;
		if (take_prefix(&subject, replies)) {
			mail->is_reply = TRUE;
		} else if (end) {
			g_autofree char *inside = g_strndup(subject + 1, (gsize)(end - subject - 1));
			g_auto(GStrv) words = g_strsplit_set(inside, " ,", 0);
			for (char **word = words; *word; word++)
				read_tag(mail, *word);
			subject = end + 1;
		} else if (*subject == ' ') {
			subject++;
		} else {
			break;
		}
	}
	g_free(mail->subject);
	mail->subject = g_strdup(subject);
}

/* ---- the body ---- */

/* Undoes format=flowed (RFC 3676): stuffed spaces and soft line ends; the signature's "-- " is none. */
static void unflow(GString *body)
{
	g_autoptr(GString) text = g_string_sized_new(body->len);
	const char *line = body->str, *end = body->str + body->len;

	while (line < end) {
		const char *newline = memchr(line, '\n', (gsize)(end - line));
		const char *stop = newline ? newline : end;
		const char *last = stop > line && stop[-1] == '\r' ? stop - 1 : stop;
		gboolean signature = last - line == 3 && memcmp(line, "-- ", 3) == 0;

		if (!signature && line < last && *line == ' ')
			line++;
		gboolean soft = !signature && line < last && last[-1] == ' ';
		g_string_append_len(text, line, (soft ? last - 1 : last) - line);
		if (!soft)
			g_string_append_c(text, '\n');
		line = newline ? newline + 1 : end;
	}
	g_string_truncate(body, 0);
	g_string_append_len(body, text->str, (gssize)text->len);
}

static void append_part(GString *body, GMimePart *part)
{
	GMimeDataWrapper *content = g_mime_part_get_content(part);
	GMimeContentType *type = g_mime_object_get_content_type(GMIME_OBJECT(part));
	const char *format = type ? g_mime_content_type_get_parameter(type, "format") : NULL;

	if (!content)
		return;
	GMimeStream *stream = g_mime_stream_mem_new();
	g_mime_data_wrapper_write_to_stream(content, stream);
	GByteArray *bytes = g_mime_stream_mem_get_byte_array(GMIME_STREAM_MEM(stream));
	g_autoptr(GString) text = g_string_new_len((const char *)bytes->data, bytes->len);
	g_object_unref(stream);

	if (format && g_ascii_strcasecmp(format, "flowed") == 0)
		unflow(text);
	g_string_append_len(body, text->str, (gssize)text->len);
	if (body->len && body->str[body->len - 1] != '\n')
		g_string_append_c(body, '\n');
}

/* Every leaf, decoded: more than git looks at, never less. */
static GString *decode_body(GMimeMessage *message)
{
	GString *body = g_string_new(NULL);
	GMimePartIter *iter = g_mime_part_iter_new(GMIME_OBJECT(message));

	for (int parts = 0; parts < MAX_PARTS && g_mime_part_iter_is_valid(iter); parts++) {
		GMimeObject *object = g_mime_part_iter_get_current(iter);
		if (GMIME_IS_PART(object))
			append_part(body, GMIME_PART(object));
		if (!g_mime_part_iter_next(iter))
			break;
	}
	g_mime_part_iter_free(iter);
	return body;
}

/* git takes author and subject from the head of the body, if it has them. */
static void read_body_headers(Mail *mail, const char *body)
{
	while (*body == '\n' || *body == '\r' || *body == ' ')
		body++;
	for (int lines = 0; lines < 5; lines++) {
		gsize size = strcspn(body, "\n");
		g_autofree char *line = g_strndup(body, size);

		g_strchomp(line);
		if (g_ascii_strncasecmp(line, "From: ", 6) == 0) {
			InternetAddressList *list = internet_address_list_parse(NULL, line + 6);
			char *author = first_address(list);
			if (author) {
				g_free(mail->author);
				mail->author = author;
			}
			g_clear_object(&list);
		} else if (g_ascii_strncasecmp(line, "Subject: ", 9) == 0) {
			g_free(mail->subject);
			mail->subject = clean_text(line + 9);
		} else if (g_ascii_strncasecmp(line, "Date: ", 6) != 0) {
			return;
		}
		body += size + (body[size] != 0);
	}
}

static gboolean is_change_id(const char *text, gsize size)
{
	for (gsize i = 0; i < size; i++)
		if (!g_ascii_isalnum(text[i]) && !strchr("-_.", text[i]))
			return FALSE;
	return size > 0 && size <= SPEC_MAX_NAME;
}

static gboolean is_commit(const char *text, gsize size)
{
	for (gsize i = 0; i < size; i++)
		if (!g_ascii_isxdigit(text[i]))
			return FALSE;
	return size == 40;
}

/* The value of a line "name: value" of the body, if ok() likes it; newly allocated, empty if there is none. */
static char *find_trailer(const char *body, const char *name, gboolean (*ok)(const char *, gsize))
{
	gsize length = strlen(name);

	for (const char *line = body; line; line = strchr(line, '\n'), line = line ? line + 1 : NULL) {
		if (strncmp(line, name, length) != 0)
			continue;
		const char *value = line + length + strspn(line + length, " ");
		gsize size = strcspn(value, " \r\n");
		if (ok(value, size))
			return g_strndup(value, size);
	}
	return g_strdup("");
}

static gboolean read_message(Mail *mail, GMimeMessage *message, GError **error)
{
	const char *id = g_mime_message_get_message_id(message);
	g_autoptr(GError) problem = NULL;

	mail->message_id = g_strdup(id ? id : "");
	read_subject(mail, g_mime_message_get_subject(message));
	mail->author = first_address(g_mime_message_get_from(message));

	g_autoptr(GString) body = decode_body(message);
	read_body_headers(mail, body->str);
	if (!mail->author)
		mail->author = g_strdup("");
	mail->base_commit = find_trailer(body->str, "base-commit:", is_commit);
	mail->change_id = find_trailer(body->str, "change-id:", is_change_id);
	if (!mail->is_reply && !diff_scan(body->str, body->len, mail->files, &problem)) {
		g_set_error(error, problem->domain, problem->code, "%s, in \"%s\"", problem->message, mail->subject);
		return FALSE;
	}
	return TRUE;
}

static void init_gmime(void)
{
	static gsize done;

	if (g_once_init_enter(&done)) {
		g_mime_init();
		g_once_init_leave(&done, 1);
	}
}

gboolean mail_parse(GBytes *raw, Mail **ret_mail, GError **error)
{
	g_autoptr(Mail) mail = g_new0(Mail, 1);
	gsize size;
	const char *data = g_bytes_get_data(raw, &size);

	init_gmime();
	mail->raw = g_bytes_ref(raw);
	mail->number = mail->total = -1;
	mail->version = 1;
	mail->files = g_ptr_array_new_with_free_func(g_free);

	GMimeStream *stream = g_mime_stream_mem_new_with_buffer(data, size);
	GMimeParser *parser = g_mime_parser_new_with_stream(stream);
	GMimeMessage *message = g_mime_parser_construct_message(parser, NULL);
	gboolean ok = message ? read_message(mail, message, error)
			      : spec_error_set(error, SPEC_ERROR_SYNTAX, "series", "a part of it is not a mail; wanted is what git format-patch --stdout or b4 am writes");
	g_clear_object(&message);
	g_object_unref(parser);
	g_object_unref(stream);
	if (ok)
		*ret_mail = g_steal_pointer(&mail);
	return ok;
}
