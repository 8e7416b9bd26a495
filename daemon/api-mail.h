/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What the handlers of mail share. */
#pragma once

#include "daemon/api.h"
#include "db/store-mail.h"
#include "jobs/spec/members.h"

#define API_MAIL_MAX_LIST	200
#define API_MAIL_RAW_MAX	(12.0 * 1024 * 1024)	/* of a mail in base64 */
#define API_MAIL_TEXT_MAX	1000
#define API_MAIL_ADDRESS_MAX	320

/* Whether the caller is the bot (the token of [mail], an admin, anybody of an open lab), and mail is configured; FALSE: answered. */
gboolean api_mail_check(HttpRequest *request, const Lab *lab, const RouteMatch *match);

/* The body, a JSON object of these members, into the zeroed record; FALSE: answered. */
gboolean api_mail_body(HttpRequest *request, const Member *members, gsize n, gpointer record);

/* The state of the query, or standard; the caller's. */
char *api_mail_state(HttpRequest *request, const char *standard);

/* The mail of {id}, with raw; answered and NULL if there is none. The caller's. */
StoreMailIn *api_mail_find(HttpRequest *request, Lab *lab, const RouteMatch *match);

/* New empty strings into the members of a record. */
void api_mail_empty(char **const *strings, gsize n);
