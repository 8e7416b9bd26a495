/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What gmime leaves to do: bodies as text, names and lines as a spec may hold them. */
#pragma once

#include <gmime/gmime.h>

#define MIME_MAX_PARTS 100	/* of one mail, that are looked at */

/* gmime, once; mime_parse() does it. */
void mime_init(void);

/* A message without its mbox line; NULL: it is none. The caller's (g_object_unref). */
GMimeMessage *mime_parse(GBytes *raw);

/* Valid UTF-8 on one line, blanks made one, cut at a character within SPEC_MAX_TEXT bytes; the caller's. */
char *mime_line(const char *text);

/* "Name <address>" of the first mailbox of the list; NULL if there is none. The caller's. */
char *mime_first_address(InternetAddressList *list);

/*
 * Undoes format=flowed (RFC 3676) in place: stuffed spaces and soft line ends, of lines quoted as deep as each other;
 * the signature's "-- " is none. delsp: the blank before a soft line end goes, too.
 */
void mime_unflow(GString *body, gboolean delsp);

/* Undoes it if the part's type says that it is flowed. */
void mime_unflow_part(GString *text, GMimeObject *part);

/* The part as bytes, its transfer encoding undone; not its charset. The caller's. */
GString *mime_content(GMimePart *part);
