/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The report of a job that a mail asked for, as an answer to it. */
#include "client/mail-bot.h"

#include <stdio.h>
#include <stdlib.h>

#include "jobs/spec/peek.h"
#include "mail/reply.h"

typedef struct {
	gboolean regressed, open;
} Outcome;

static void read_comparisons(JsonObject *result, Outcome *outcome)
{
	JsonArray *comparisons = peek_array(result, "comparisons");

	for (guint i = 0; i < peek_length(comparisons); i++) {
		const char *verdict = peek_string(peek_element(comparisons, i), "verdict");

		outcome->regressed |= g_str_equal(verdict, "REGRESSION");
		outcome->open |= g_str_equal(verdict, "INCONCLUSIVE") || g_str_equal(verdict, "INSUFFICIENT");
	}
}

/* What concerns everybody of the thread; a job without a result concerns who asked. */
static Outcome outcome_of(const MailBot *bot, gint64 job)
{
	g_autofree char *path = g_strdup_printf("/jobs/%" G_GINT64_FORMAT "/result", job);
	g_autoptr(JsonObject) result = remote_get(bot->remote, path, NULL);
	JsonObject *latest = peek_object(result, "continuation");
	Outcome outcome = { FALSE, FALSE };

	read_comparisons(latest ? latest : result, &outcome);
	return outcome;
}

static char *report_of(const MailBot *bot, gint64 job, GError **error)
{
	g_autofree char *path = g_strdup_printf("/jobs/%" G_GINT64_FORMAT "/report.txt", job);
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	gboolean ok;

	g_assert(out);
	ok = remote_copy(bot->remote, path, out, error);
	fclose(out);
	g_autofree char *copy = ok ? g_strdup(text) : NULL;
	free(text);
	return g_steal_pointer(&copy);
}

gboolean mail_bot_report(const MailBot *bot, const TakenMail *mail, GError **error)
{
	g_autofree char *job_path = g_strdup_printf("/jobs/%" G_GINT64_FORMAT, mail->job);
	g_autoptr(JsonObject) job = remote_get(bot->remote, job_path, error);
	g_autofree char *report = job ? report_of(bot, mail->job, error) : NULL;

	if (!report)
		return FALSE;
	const Outcome outcome = outcome_of(bot, mail->job);
	gboolean cancelled = g_str_equal(peek_string(job, "state"), "cancelled");
	g_autofree char *body = cancelled ? NULL : reply_report(report, outcome.open);
	const Settlement settlement = {
		.state = "done", .reason = peek_string(job, "state"), .about = "report", .body = body, .is_public = outcome.regressed,
	};
	return mail_bot_settle(bot, mail, &settlement, error);
}
