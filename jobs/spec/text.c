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
