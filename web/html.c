/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "web/html.h"

#include <string.h>

struct Html {
	GString *out;
};

Html *html_new(void)
{
	Html *html = g_new(Html, 1);

	html->out = g_string_sized_new(16 * 1024);
	return html;
}

void html_free(Html *html)
{
	if (!html)
		return;
	g_string_free(html->out, TRUE);
	g_free(html);
}

char *html_take(Html *html, gsize *ret_size)
{
	GString *out = html->out;

	html->out = g_string_new(NULL);
	if (ret_size)
		*ret_size = out->len;
	return g_string_free(out, FALSE);
}

void html_raw_literal(Html *html, const char *literal)
{
	g_string_append(html->out, literal);
}

/*
 * Controls, and what is no character at all (HTML, "parse errors"); and the
 * marks that turn the direction of what follows, with which a subject could
 * rewrite the look of a line.
 */
static gboolean is_forbidden(gunichar c)
{
	if (c < 0x20)
		return c != '\t' && c != '\n' && c != '\r';
	if (c >= 0x7f && c <= 0x9f)
		return TRUE;
	if ((c >= 0x202a && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069))
		return TRUE;
	return (c >= 0xfdd0 && c <= 0xfdef) || (c & 0xfffe) == 0xfffe;
}

static void append_escaped(GString *out, const char *text)
{
	while (text && *text) {
		gunichar c = g_utf8_get_char_validated(text, -1);

		if (c == (gunichar)-1 || c == (gunichar)-2) {
			g_string_append(out, "\357\277\275");
			text++;
			continue;
		}
		if (c == '&')
			g_string_append(out, "&amp;");
		else if (c == '<')
			g_string_append(out, "&lt;");
		else if (c == '>')
			g_string_append(out, "&gt;");
		else if (c == '"')
			g_string_append(out, "&quot;");
		else if (c == '\'')
			g_string_append(out, "&#39;");
		else if (is_forbidden(c))
			g_string_append(out, "\357\277\275");
		else
			g_string_append_unichar(out, c);
		text = g_utf8_next_char(text);
	}
}

void html_text(Html *html, const char *text)
{
	append_escaped(html->out, text);
}

void html_textf(Html *html, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	g_autofree char *text = g_strdup_vprintf(format, args);
	va_end(args);
	append_escaped(html->out, text);
}

void html_attr(Html *html, const char *value)
{
	append_escaped(html->out, value);
}

void html_attrf(Html *html, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	g_autofree char *value = g_strdup_vprintf(format, args);
	va_end(args);
	append_escaped(html->out, value);
}

void html_url(Html *html, const char *segment)
{
	static const char digits[] = "0123456789ABCDEF";

	for (const unsigned char *c = (const unsigned char *)segment; c && *c; c++) {
		if (g_ascii_isalnum(*c) || strchr("._~-", *c)) {
			g_string_append_c(html->out, (char)*c);
		} else {
			g_string_append_c(html->out, '%');
			g_string_append_c(html->out, digits[*c >> 4]);
			g_string_append_c(html->out, digits[*c & 15]);
		}
	}
}
