/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "jobs/spec/mime.h"

#include <string.h>

#include "jobs/spec/spec.h"

void mime_init(void)
{
	static gsize done;

	if (g_once_init_enter(&done)) {
		g_mime_init();
		g_once_init_leave(&done, 1);
	}
}

GMimeMessage *mime_parse(GBytes *raw)
{
	gsize size;
	const char *data = g_bytes_get_data(raw, &size);

	mime_init();
	if (!size)
		return NULL;
	GMimeStream *stream = g_mime_stream_mem_new_with_buffer(data, size);
	GMimeParser *parser = g_mime_parser_new_with_stream(stream);
	GMimeMessage *message = g_mime_parser_construct_message(parser, NULL);
	g_object_unref(parser);
	g_object_unref(stream);
	return message;
}

char *mime_line(const char *text)
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
	return mime_line(text);
}

char *mime_first_address(InternetAddressList *list)
{
	for (int i = 0; list && i < internet_address_list_length(list); i++) {
		InternetAddress *address = internet_address_list_get_address(list, i);
		if (INTERNET_ADDRESS_IS_MAILBOX(address))
			return address_text(internet_address_get_name(address),
					    internet_address_mailbox_get_addr(INTERNET_ADDRESS_MAILBOX(address)));
	}
	return NULL;
}

/* ---- format=flowed ---- */

typedef struct {
	const char *start, *end;	/* without quote marks, stuffing and line end */
	gsize depth;			/* of quoting */
	gboolean soft;			/* goes on in the next line */
} Line;

/* The line at text; returns where the next one begins. */
static const char *read_line(const char *text, const char *end, Line *line)
{
	const char *newline = memchr(text, '\n', (gsize)(end - text));
	const char *stop = newline ? newline : end;

	line->end = stop > text && stop[-1] == '\r' ? stop - 1 : stop;
	line->start = text;
	while (line->start < line->end && *line->start == '>')
		line->start++;
	line->depth = (gsize)(line->start - text);

	gboolean signature = line->end - line->start == 3 && memcmp(line->start, "-- ", 3) == 0;
	if (!signature && line->start < line->end && *line->start == ' ')
		line->start++;
	line->soft = !signature && line->start < line->end && line->end[-1] == ' ';
	return newline ? newline + 1 : end;
}

void mime_unflow(GString *body, gboolean delsp)
{
	g_autoptr(GString) text = g_string_sized_new(body->len);
	const char *next = body->str, *end = body->str + body->len;
	gboolean open = FALSE;	/* the line before goes on in this one */
	gsize depth = 0;

	while (next < end) {
		Line line;

		next = read_line(next, end, &line);
		if (open && line.depth != depth)
			g_string_append_c(text, '\n');
		if (!open || line.depth != depth) {
			for (gsize i = 0; i < line.depth; i++)
				g_string_append_c(text, '>');
			if (line.depth)
				g_string_append_c(text, ' ');
		}
		g_string_append_len(text, line.start, (line.soft && delsp ? line.end - 1 : line.end) - line.start);
		open = line.soft;
		depth = line.depth;
		if (!open)
			g_string_append_c(text, '\n');
	}
	if (open)
		g_string_append_c(text, '\n');
	g_string_truncate(body, 0);
	g_string_append_len(body, text->str, (gssize)text->len);
}

static gboolean says(GMimeContentType *type, const char *name, const char *value)
{
	const char *found = type ? g_mime_content_type_get_parameter(type, name) : NULL;

	return found && g_ascii_strcasecmp(found, value) == 0;
}

void mime_unflow_part(GString *text, GMimeObject *part)
{
	GMimeContentType *type = g_mime_object_get_content_type(part);

	if (says(type, "format", "flowed"))
		mime_unflow(text, says(type, "delsp", "yes"));
}

GString *mime_content(GMimePart *part)
{
	GMimeDataWrapper *content = g_mime_part_get_content(part);

	if (!content)
		return g_string_new(NULL);
	GMimeStream *stream = g_mime_stream_mem_new();
	g_mime_data_wrapper_write_to_stream(content, stream);
	GByteArray *bytes = g_mime_stream_mem_get_byte_array(GMIME_STREAM_MEM(stream));
	GString *text = g_string_new_len((const char *)bytes->data, bytes->len);
	g_object_unref(stream);
	return text;
}
