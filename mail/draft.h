/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A mail that the lab writes: text/plain, UTF-8, in a thread. Pure. */
#pragma once

#include <glib.h>

typedef struct {
	const char *from;		/* the lab's address */
	const char *url;		/* what it is about, for MESSAGE_OWN_HEADER */
	const char *about;		/* what it says; the same gives the same Message-ID */
	const char *to;
	const GPtrArray *cc;		/* of char * */
	const char *subject;		/* of what is answered, with or without Re: */
	const char *in_reply_to;	/* Message-ID without < > */
	const GPtrArray *references;	/* of char *, without < >: of what is answered, in_reply_to not among them */
	gint64 date_ns;
	const char *body;		/* lines end in LF */
} Draft;

/* Headers and body; the caller's. */
char *draft_text(const Draft *draft);

/* The caller's. */
char *draft_message_id(const Draft *draft);
char *draft_reply_subject(const char *subject);	/* "Re: …", once */
