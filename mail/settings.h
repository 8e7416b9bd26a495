/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the lab is told about mail. Addresses, domains and lists are in lower case; arrays end in NULL. */
#pragma once

#include <glib.h>

typedef struct {
	char *address;		/* the lab's own */
	char **lists;		/* List-Ids that are watched: series posted there are taken, and commands without To or Cc */
	char **senders;		/* who may submit: addresses, or "@example.org" for all of a domain */
	char **known_lists;	/* List-Ids whose posters may submit */
	char *authserv_id;	/* of the receiving server; empty: nobody is believed */
	char **arc_sealers;	/* domains whose ARC seals are believed */
} MailSettings;

/* From commas and blanks to an array, in lower case; the caller's. */
char **mail_settings_words(const char *text);
void mail_settings_clear(MailSettings *settings);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(MailSettings, mail_settings_clear)
