/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "doc/roff.h"

#include <string.h>

void roff_text(GString *out, const char *text)
{
	if (*text == '.' || *text == '\'')
		g_string_append(out, "\\&");
	for (; *text; text++) {
		if (*text == '\\')
			g_string_append(out, "\\e");
		else if (*text == '-')
			g_string_append(out, "\\-");
		else
			g_string_append_c(out, *text);
	}
}

void roff_item(GString *out, const char *words, const char *text)
{
	g_string_append(out, ".TP\n\\fB");
	roff_text(out, words);
	g_string_append(out, "\\fR\n");
	roff_text(out, text);
	g_string_append_c(out, '\n');
}

static gboolean is_as_it_stands(const char *line)
{
	return *line == ' ';
}

void roff_paragraphs(GString *out, const char *text)
{
	g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
	gboolean inside = FALSE;

	for (char **line = lines; *line; line++) {
		gboolean stands = is_as_it_stands(*line);

		if (stands != inside)
			g_string_append(out, stands ? ".PP\n.nf\n" : ".fi\n");
		inside = stands;
		if (!**line) {
			if (line[1] && !is_as_it_stands(line[1]))
				g_string_append(out, ".PP\n");
			continue;
		}
		roff_text(out, *line);
		g_string_append_c(out, '\n');
	}
	if (inside)
		g_string_append(out, ".fi\n");
}
