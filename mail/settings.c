/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "mail/settings.h"

char **mail_settings_words(const char *text)
{
	g_autofree char *lower = g_ascii_strdown(text ? text : "", -1);
	g_auto(GStrv) split = g_strsplit_set(lower, ", \t\n", -1);
	g_autoptr(GStrvBuilder) words = g_strv_builder_new();

	for (char **word = split; *word; word++)
		if (**word)
			g_strv_builder_add(words, *word);
	return g_strv_builder_end(words);
}

void mail_settings_clear(MailSettings *settings)
{
	g_free(settings->address);
	g_strfreev(settings->lists);
	g_strfreev(settings->senders);
	g_strfreev(settings->known_lists);
	g_free(settings->authserv_id);
	g_strfreev(settings->arc_sealers);
}
