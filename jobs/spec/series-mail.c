/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "jobs/spec/series-mail.h"

#include <string.h>

#include "jobs/spec/mime.h"
#include "jobs/spec/series-diff.h"
#include "jobs/spec/spec.h"

#define MAX_NUMBER	100000	/* n, m and v of a subject */
#define MAX_WORDS	20	/* prefixes of a subject, prerequisites of a series */

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
	g_clear_pointer(&mail->prefixes, g_ptr_array_unref);
	g_clear_pointer(&mail->prerequisites, g_ptr_array_unref);
	g_clear_pointer(&mail->files, g_ptr_array_unref);
	g_free(mail);
}

gboolean mail_is_part(const Mail *mail)
{
	if (mail->is_reply)
		return FALSE;
	return mail->files->len > 0 || (mail->has_tag && mail->number == 0);
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

/* Of "v3" and "2/7"; FALSE: it is neither. */
static gboolean read_numbers(Mail *mail, const char *word)
{
	const char *end;
	int number, total;

	if ((*word == 'v' || *word == 'V') && read_number(word + 1, &end, &number) && !*end && number > 0) {
		mail->version = number;
		return TRUE;
	}
	if (!read_number(word, &end, &number) || *end != '/' || !read_number(end + 1, &end, &total) || *end)
		return FALSE;
	mail->number = number;
	mail->total = total;
	return TRUE;
}

/* One word within brackets: PATCH, RFC, v3, 2/7, a tree's name. */
static void read_tag(Mail *mail, const char *word)
{
	gboolean patch = g_ascii_strcasecmp(word, "PATCH") == 0, rfc = g_ascii_strcasecmp(word, "RFC") == 0;

	mail->has_tag |= patch || rfc;
	mail->is_rfc |= rfc;
	if (!*word || patch || rfc || read_numbers(mail, word) || g_ascii_strcasecmp(word, "RESEND") == 0)
		return;
	if (mail->prefixes->len < MAX_WORDS)
		g_ptr_array_add(mail->prefixes, g_strdup(word));
}

static void read_subject(Mail *mail, const char *text)
{
	/* replies, and forwards, which are talk as well */
	static const char *const replies[] = { "re:", "aw:", "sv:", "antw:", "fwd:", "fw:", "wg:", NULL };
	g_autofree char *clean = mime_line(text);
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

static void append_part(GString *body, GMimePart *part)
{
	g_autoptr(GString) text = mime_content(part);

	mime_unflow_part(text, GMIME_OBJECT(part));
	g_string_append_len(body, text->str, (gssize)text->len);
	if (body->len && body->str[body->len - 1] != '\n')
		g_string_append_c(body, '\n');
}

/* Every leaf, decoded: more than git looks at, never less. */
static GString *decode_body(GMimeMessage *message)
{
	GString *body = g_string_new(NULL);
	GMimePartIter *iter = g_mime_part_iter_new(GMIME_OBJECT(message));

	for (int parts = 0; parts < MIME_MAX_PARTS && g_mime_part_iter_is_valid(iter); parts++) {
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
			char *author = mime_first_address(list);
			if (author) {
				g_free(mail->author);
				mail->author = author;
			}
			g_clear_object(&list);
		} else if (g_ascii_strncasecmp(line, "Subject: ", 9) == 0) {
			g_free(mail->subject);
			mail->subject = mime_line(line + 9);
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

/* Appends "patch-id: HASH" and the like. */
static void find_prerequisites(GPtrArray *found, const char *body)
{
	static const char prefix[] = "prerequisite-";

	for (const char *line = body; line && found->len < MAX_WORDS; line = strchr(line, '\n'), line = line ? line + 1 : NULL) {
		if (!g_str_has_prefix(line, prefix))
			continue;
		g_autofree char *rest = g_strndup(line + strlen(prefix), strcspn(line + strlen(prefix), "\r\n"));
		if (g_str_has_prefix(rest, "patch-id: ") || g_str_has_prefix(rest, "message-id: ") ||
		    g_str_has_prefix(rest, "change-id: "))
			g_ptr_array_add(found, mime_line(rest));
	}
}

static gboolean read_message(Mail *mail, GMimeMessage *message, GError **error)
{
	const char *id = g_mime_message_get_message_id(message);
	g_autoptr(GError) problem = NULL;

	mail->message_id = g_strdup(id ? id : "");
	read_subject(mail, g_mime_message_get_subject(message));
	mail->author = mime_first_address(g_mime_message_get_from(message));

	g_autoptr(GString) body = decode_body(message);
	read_body_headers(mail, body->str);
	if (!mail->author)
		mail->author = g_strdup("");
	mail->base_commit = find_trailer(body->str, "base-commit:", is_commit);
	mail->change_id = find_trailer(body->str, "change-id:", is_change_id);
	find_prerequisites(mail->prerequisites, body->str);
	if (!mail->is_reply && !diff_scan(body->str, body->len, mail->files, &problem)) {
		g_set_error(error, problem->domain, problem->code, "%s, in \"%s\"", problem->message, mail->subject);
		return FALSE;
	}
	return TRUE;
}

gboolean mail_parse(GBytes *raw, Mail **ret_mail, GError **error)
{
	g_autoptr(Mail) mail = g_new0(Mail, 1);

	mail->raw = g_bytes_ref(raw);
	mail->number = mail->total = -1;
	mail->version = 1;
	mail->prefixes = g_ptr_array_new_with_free_func(g_free);
	mail->prerequisites = g_ptr_array_new_with_free_func(g_free);
	mail->files = g_ptr_array_new_with_free_func(g_free);

	GMimeMessage *message = mime_parse(raw);
	gboolean ok = message ? read_message(mail, message, error)
			      : spec_error_set(error, SPEC_ERROR_SYNTAX, "series", "a part of it is not a mail; wanted is what git format-patch --stdout or b4 am writes");
	g_clear_object(&message);
	if (ok)
		*ret_mail = g_steal_pointer(&mail);
	return ok;
}
