/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One mail as it came: who, to whom, in which thread, and what its author wrote. Pure: bytes in. */
#pragma once

#include <glib.h>

#define MESSAGE_MAX_BYTES	(8 * 1024 * 1024)
#define MESSAGE_MAX_REFERENCES	100	/* the newest are kept */

/* Why nobody is to answer it. */
typedef enum {
	AUTOMATIC_NO,
	AUTOMATIC_OWN,		/* a lab's own mail */
	AUTOMATIC_BOUNCE,	/* a report of delivery */
	AUTOMATIC_REPLY,	/* a program wrote it */
	AUTOMATIC_DIGEST,	/* many mails in one */
	AUTOMATIC_LOOP,		/* it has been going round */
} Automatic;

#define MESSAGE_OWN_HEADER "X-Regrlab"	/* in every mail of a lab */

typedef struct {
	char *message_id;	/* without < >, or empty */
	char *subject;		/* as it is written, one line */
	char *from;		/* address in lower case; empty if there is none, or if it is not a plain one. Answers go there:
				 * Reply-To may be a list's */
	char *from_name;	/* or empty */
	GPtrArray *recipients;	/* of char *, owned: plain addresses of To and Cc, in lower case */
	char *list_id;		/* "linux-mm.example.org", in lower case, or empty */
	GPtrArray *references;	/* of char *, owned: without < >, oldest first; the last is what it answers */
	GPtrArray *results;	/* of char *, owned: Authentication-Results headers, newest first */
	GPtrArray *sealed;	/* of char *, owned: ARC-Authentication-Results, newest first */
	GPtrArray *seals;	/* of char *, owned: ARC-Seal, newest first */
	Automatic automatic;
	gboolean has_forward;	/* another mail is in it */
	GString *text;		/* plain text, UTF-8, lines end in LF, flowed lines joined */
	GString *attached;	/* text that is attached and may be a patch, likewise */
} Message;

/* Without its mbox line. NULL: larger than MESSAGE_MAX_BYTES, or no mail. own: the lab's address, in lower case. */
Message *message_parse(GBytes *raw, const char *own);
void message_free(Message *message);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Message, message_free)

/* Whether To or Cc has the address (lower case). */
gboolean message_is_to(const Message *message, const char *address);

/* Strips the line "From … hh:mm:ss yyyy" that mboxes and deliverers put before a mail; a new reference. */
GBytes *message_without_mbox_line(GBytes *raw);
