/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "jobs/spec/text.h"

#define NS_PER_S G_GINT64_CONSTANT(1000000000)

char *text_duration(gint64 ns)
{
	gint64 s = ns / NS_PER_S;

	if (ns < 0)
		return g_strdup("");
	if (s < 10)
		return g_strdup_printf("%" G_GINT64_FORMAT ".%" G_GINT64_FORMAT " s", s, ns / (NS_PER_S / 10) % 10);
	if (s < 60)
		return g_strdup_printf("%" G_GINT64_FORMAT " s", s);
	if (s < 3600)
		return g_strdup_printf("%" G_GINT64_FORMAT " min %02" G_GINT64_FORMAT " s", s / 60, s % 60);
	return g_strdup_printf("%" G_GINT64_FORMAT " h %02" G_GINT64_FORMAT " min", s / 3600, s / 60 % 60);
}

char *text_plain(const char *text)
{
	g_autofree char *valid = g_utf8_make_valid(text ? text : "", -1);
	GString *out = g_string_sized_new(64);

	for (const char *c = valid; *c; c = g_utf8_next_char(c)) {
		gunichar character = g_utf8_get_char(c);

		if (character != '\t' && character != '\n' && g_unichar_iscntrl(character))
			g_string_append_c(out, '?');
		else
			g_string_append_unichar(out, character);
	}
	return g_string_free(out, FALSE);
}

void text_wrap(GString *out, const char *text, guint indent, guint column, guint width)
{
	g_auto(GStrv) words = g_strsplit_set(text, " \n\t\r", -1);
	gboolean first = TRUE;

	for (char **word = words; *word; word++) {
		guint length = (guint)g_utf8_strlen(*word, -1);

		if (!length)
			continue;
		if (!first && column + 1 + length > width) {
			g_string_append_printf(out, "\n%*s", (int)indent, "");
			column = indent;
		} else if (!first) {
			g_string_append_c(out, ' ');
			column++;
		}
		g_string_append(out, *word);
		column += length;
		first = FALSE;
	}
	g_string_append_c(out, '\n');
}

void text_paragraph(GString *out, const char *text)
{
	g_autofree char *clean = text_plain(text);

	text_wrap(out, clean, 0, 0, TEXT_WIDTH);
	g_string_append_c(out, '\n');
}

void text_fact(GString *out, const char *name, const char *value)
{
	g_autofree char *clean = text_plain(value);

	if (!*clean)
		return;
	g_string_append_printf(out, "  %-*s ", TEXT_NAME_WIDTH, name);
	text_wrap(out, clean, 2 + TEXT_NAME_WIDTH + 1, 2 + TEXT_NAME_WIDTH + 1, TEXT_WIDTH);
}

void text_factf(GString *out, const char *name, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	g_autofree char *value = g_strdup_vprintf(format, args);
	va_end(args);
	text_fact(out, name, value);
}

/* Of the character that a byte starts; 0: none. */
static gsize character_size(unsigned char first)
{
	return first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf5 ? 4 : 0;
}

static void add_ascii(char c, GString *out)
{
	gboolean plain = !g_ascii_iscntrl(c) || c == '\n' || c == '\t';

	g_string_append_c(out, plain ? c : c == '\r' ? '\n' : ' ');
}

static void add_character(const char *bytes, gsize size, GString *out)
{
	gunichar character = g_utf8_get_char_validated(bytes, (gssize)size);

	if (character == (gunichar)-1 || character == (gunichar)-2)
		g_string_append_c(out, '?');
	else if (g_unichar_iscntrl(character))
		g_string_append_c(out, ' ');
	else
		g_string_append_len(out, bytes, (gssize)size);
}

void text_stream_add(TextStream *stream, const char *data, gsize size, GString *out)
{
	for (gsize i = 0; i < size; i++) {
		unsigned char c = (unsigned char)data[i];

		if (stream->size && (c & 0xc0) != 0x80) {
			g_string_append_c(out, '?');	/* it was never finished */
			stream->size = 0;
		}
		if (!stream->size) {
			stream->n = 0;
			stream->size = character_size(c);
			if (c < 0x80)
				add_ascii((char)c, out);
			else if (!stream->size)
				g_string_append_c(out, '?');
		}
		if (!stream->size)
			continue;
		stream->bytes[stream->n++] = (char)c;
		if (stream->n == stream->size) {
			add_character(stream->bytes, stream->size, out);
			stream->size = 0;
		}
	}
}
