/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What one mail means to the lab. Pure: the same bytes and settings give the
 * same meaning; whatever the thread has beside it is for who asks.
 */
#pragma once

#include <json-glib/json-glib.h>

#include "jobs/spec/series-mail.h"
#include "mail/command.h"
#include "mail/message.h"
#include "mail/trust.h"

typedef enum {
	MEANING_NOT_FOR_US,	/* neither to the lab nor on a list that it watches */
	MEANING_IGNORED,	/* nothing is asked, or nobody is to be answered */
	MEANING_COMMANDS,
	MEANING_SERIES,		/* a patch or a cover letter; commands, if there are any, are for its series */
} MeaningKind;

typedef struct {
	MeaningKind kind;
	const char *reason;	/* of what is not for us or ignored: a short, stable word; else empty. Static */
	char *detail;		/* the reason in words, or empty */
	Message *message;	/* NULL: no mail */
	Mail *part;		/* of a series; NULL: it is none */
	GPtrArray *commands;	/* of Command, owned; never NULL */
	char *diff;		/* commands: a diff of the author's own that came with them, or NULL */
	gboolean addressed;	/* To or Cc has the lab's address */
	gboolean watched;	/* its list is */
	Trust trust;
	gboolean may_submit;
	const char *why;	/* trust_may_submit() */
} Meaning;

Meaning *meaning_of(GBytes *raw, const MailSettings *settings);
void meaning_free(Meaning *meaning);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Meaning, meaning_free)

/* A series of this one mail. */
gboolean meaning_is_complete(const Meaning *meaning);

const char *meaning_kind_name(MeaningKind kind);
JsonObject *meaning_to_json(const Meaning *meaning);	/* the caller's */
