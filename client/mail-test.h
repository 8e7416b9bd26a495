/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A series of a thread, submitted. */
#pragma once

#include "client/mail-bot.h"

/* command NULL: the mail is a patch or a cover letter that was posted. Waits for parts that are missing. */
gboolean mail_test(const MailBot *bot, const TakenMail *mail, const Command *command, GError **error);

/* Of GET, for the mails of its thread; the caller's. */
char *mail_thread_path(const Message *message);
