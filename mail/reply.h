/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the lab says in mails: UTF-8, 72 columns. No line begins with a command,
 * so that nobody who quotes one without marks gives it again. Texts are the
 * caller's.
 */
#pragma once

#include <json-glib/json-glib.h>

#include "jobs/spec/series.h"
#include "mail/command.h"

/* quote, job: answers of POST /jobs?dry_run=1 and POST /jobs. command NULL: nobody asked in words. */
char *reply_accepted(const Command *command, const Series *series, guint prerequisites, JsonObject *quote, JsonObject *job,
		     const char *url);

/* What could not be done, or was, in a sentence. help: how commands are written is said, too. */
char *reply_sentence(const Command *command, const char *sentence, gboolean help);

/* report: /jobs/N/report.txt as it is. open: more boots could decide it. */
char *reply_report(const char *report, gboolean open);

/* As lines for a mail or a terminal: what boots would show, and when. Appends. */
void reply_append_quote(GString *out, JsonObject *quote);
