/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One mail, handed over to sendmail or to an SMTP server. Blocking. */
#pragma once

#include <glib.h>

typedef struct {
	const char *sendmail;	/* a program, or NULL */
	const char *smtp;	/* a URL, or NULL */
	const char *from;	/* of the envelope */
} MailRoute;

typedef enum {
	DELIVERY_TAKEN,
	DELIVERY_LATER,		/* surely not taken: it may be tried again */
	DELIVERY_FAILED,	/* refused, or nobody knows */
} Delivery;

/* *ret_said: what the other side said, or why; the caller's. */
Delivery mail_deliver(const MailRoute *route, char *const *recipients, const char *message, gsize size, char **ret_said);
