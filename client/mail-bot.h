/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The mail bot: a client of the lab that may be killed at any step. What it
 * does is written down in the lab before it is done again, jobs have keys
 * made of mails, and a mail and what becomes of it are one change.
 */
#pragma once

#include "client/remote.h"
#include "mail/understand.h"

typedef struct {
	Remote *remote;		/* borrowed */
	MailSettings settings;
	char *url;		/* of the lab, for people */
	char *benchmarks;	/* of tests that name none */
} MailBot;

/* How the lab has set mail. */
gboolean mail_bot_load(MailBot *bot, Remote *remote, GError **error);
void mail_bot_clear(MailBot *bot);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(MailBot, mail_bot_clear)

/* Hands a mail to the lab, if it is for it. *ret_said: what it was taken for, for a log; the caller's. */
gboolean mail_bot_take(const MailBot *bot, GBytes *raw, char **ret_said, GError **error);

/* Does what taken mails ask for, and reports jobs that have ended. */
gboolean mail_bot_work(const MailBot *bot, GError **error);

/* ---- between client/mail-*.c ---- */

typedef struct {
	gint64 id;
	char *state, *reason;
	gint64 age_s;
	gint64 job;
	Meaning *meaning;
	GBytes *raw;
} TakenMail;

void taken_mail_free(TakenMail *mail);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TakenMail, taken_mail_free)
TakenMail *taken_mail_get(const MailBot *bot, gint64 id, GError **error);

/* What becomes of a mail, and the answer to it, in one change. */
typedef struct {
	const char *state, *reason;
	const char *refuse;	/* who wants no more mail, or NULL */
	gint64 job;		/* 0: as it was */
	const char *about;	/* of the answer, beside the mail's number */
	const char *body;	/* NULL: none */
	gboolean is_public;	/* to everybody of the mail that is answered */
} Settlement;

gboolean mail_bot_settle(const MailBot *bot, const TakenMail *mail, const Settlement *settlement, GError **error);

gboolean mail_bot_act(const MailBot *bot, const TakenMail *mail, GError **error);
gboolean mail_bot_report(const MailBot *bot, const TakenMail *mail, GError **error);
