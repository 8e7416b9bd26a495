/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whether a mail's author is who it says, as the receiving server states it:
 * Authentication-Results (RFC 8601) of the configured authserv-id, the topmost
 * alone, since that server removes what others wrote in its name. Nothing is
 * verified here.
 */
#pragma once

#include "mail/message.h"
#include "mail/settings.h"

typedef enum {
	TRUST_NO,	/* nothing says so */
	TRUST_DKIM,	/* a signature of the author's domain passed */
	TRUST_DMARC,
	TRUST_ARC,	/* a server that is trusted sealed that one of them passed, before a list changed the mail */
} Trust;

const char *trust_name(Trust trust);

Trust trust_of(const Message *message, const MailSettings *settings);

/*
 * Whether the author may ask for machine time: he is who he says, and is known himself (senders), or posts to a list
 * that is known (lists). *ret_why: a few words that say why, or why it has to be held; static.
 */
gboolean trust_may_submit(const Message *message, const MailSettings *settings, const char **ret_why);
