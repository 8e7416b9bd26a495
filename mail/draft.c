/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "mail/draft.h"

#include <string.h>

#include "jobs/spec/mime.h"
#include "mail/message.h"

#define SECOND_NS G_GINT64_CONSTANT(1000000000)
#define NAME "regrlab"

char *draft_message_id(const Draft *draft)
{
	g_autofree char *digest = g_compute_checksum_for_string(G_CHECKSUM_SHA256, draft->about, -1);
	const char *at = strrchr(draft->from, '@');

	return g_strdup_printf(NAME "-%.24s@%s", digest, at ? at + 1 : "localhost");
}

char *draft_reply_subject(const char *subject)
{
	g_autofree char *line = mime_line(subject);

	return g_ascii_strncasecmp(line, "re:", 3) == 0 ? g_steal_pointer(&line) : g_strconcat("Re: ", line, NULL);
}

static void set_thread(GMimeMessage *mail, const Draft *draft)
{
	g_autoptr(GString) references = g_string_new(NULL);
	g_autofree char *answered = g_strdup_printf("<%s>", draft->in_reply_to);

	for (guint i = 0; i < draft->references->len; i++) {
		const char *id = g_ptr_array_index(draft->references, i);

		if (!g_str_equal(id, draft->in_reply_to))
			g_string_append_printf(references, "<%s> ", id);
	}
	g_string_append(references, answered);
	g_mime_object_set_header(GMIME_OBJECT(mail), "In-Reply-To", answered, NULL);
	g_mime_object_set_header(GMIME_OBJECT(mail), "References", references->str, NULL);
}

static gboolean is_ascii(const char *text)
{
	for (; *text; text++)
		if ((guchar)*text >= 0x80)
			return FALSE;
	return TRUE;
}

static void set_body(GMimeMessage *mail, const char *body)
{
	GMimeTextPart *part = g_mime_text_part_new_with_subtype("plain");
	GMimeStream *stream = g_mime_stream_mem_new_with_buffer(body, strlen(body));
	GMimeDataWrapper *content = g_mime_data_wrapper_new_with_stream(stream, GMIME_CONTENT_ENCODING_DEFAULT);

	g_mime_part_set_content(GMIME_PART(part), content);
	g_object_unref(content);
	g_object_unref(stream);
	/* given the text, gmime would choose a charset itself */
	g_mime_text_part_set_charset(part, "UTF-8");
	g_mime_part_set_content_encoding(GMIME_PART(part), is_ascii(body) ? GMIME_CONTENT_ENCODING_7BIT : GMIME_CONTENT_ENCODING_8BIT);
	g_mime_message_set_mime_part(mail, GMIME_OBJECT(part));
	g_object_unref(part);
}

char *draft_text(const Draft *draft)
{
	g_autofree char *subject = draft_reply_subject(draft->subject), *id = draft_message_id(draft);
	g_autoptr(GDateTime) date = g_date_time_new_from_unix_utc(draft->date_ns / SECOND_NS);

	mime_init();
	GMimeMessage *mail = g_mime_message_new(TRUE);
	g_mime_message_add_mailbox(mail, GMIME_ADDRESS_TYPE_FROM, NAME, draft->from);
	g_mime_message_add_mailbox(mail, GMIME_ADDRESS_TYPE_TO, NULL, draft->to);
	for (guint i = 0; i < draft->cc->len; i++)
		g_mime_message_add_mailbox(mail, GMIME_ADDRESS_TYPE_CC, NULL, g_ptr_array_index(draft->cc, i));
	g_mime_message_set_subject(mail, subject, "UTF-8");
	g_mime_message_set_date(mail, date);
	g_mime_message_set_message_id(mail, id);
	set_thread(mail, draft);
	/* whoever answers by program knows that a program wrote it */
	g_mime_object_set_header(GMIME_OBJECT(mail), "Auto-Submitted", "auto-replied", NULL);
	g_mime_object_set_header(GMIME_OBJECT(mail), MESSAGE_OWN_HEADER, draft->url, NULL);
	set_body(mail, draft->body);
	char *text = g_mime_object_to_string(GMIME_OBJECT(mail), NULL);
	g_object_unref(mail);
	return text;
}
