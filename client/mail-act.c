/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a mail asks for, done. */
#include "client/mail-bot.h"

#include <string.h>

#include "client/mail-test.h"
#include "jobs/spec/peek.h"
#include "mail/reply.h"

#define APPROVED "approved"	/* reason of what a moderator let through */

static gboolean answer(const MailBot *bot, const TakenMail *mail, const Command *command, const char *sentence, gboolean help,
		       GError **error)
{
	g_autofree char *body = reply_sentence(command, sentence, help);
	const Settlement settlement = { .state = "done", .reason = sentence, .about = "answer", .body = body };

	return mail_bot_settle(bot, mail, &settlement, error);
}

/* The lab's own no is an answer; that it cannot be reached is an error. */
static gboolean answer_refusal(const MailBot *bot, const TakenMail *mail, const Command *command, GError *problem, GError **error)
{
	g_autoptr(GError) owned = problem;

	if (g_error_matches(owned, REMOTE_ERROR, REMOTE_ERROR_REFUSED))
		return answer(bot, mail, command, owned->message, FALSE, error);
	g_propagate_error(error, g_steal_pointer(&owned));
	return FALSE;
}

/* ---- jobs of the thread ---- */

/* The newest job that the sender asked for in this thread, or the one that is named if it is such; 0: none. */
static gboolean find_job(const MailBot *bot, const TakenMail *mail, const Command *command, gint64 *ret_job, GError **error)
{
	g_autofree char *root = mail_thread_path(mail->meaning->message);
	g_autoptr(JsonObject) thread = remote_get(bot->remote, root, error);
	JsonArray *mails = peek_array(thread, "mails");

	*ret_job = 0;
	for (guint i = 0; i < peek_length(mails); i++) {
		JsonObject *one = peek_element(mails, i);
		gint64 job = peek_int(one, "job", 0);

		if (job && g_str_equal(peek_string(one, "sender"), mail->meaning->message->from) &&
		    (!command->job || command->job == job))
			*ret_job = job;
	}
	return thread != NULL;
}

static gboolean no_job(const MailBot *bot, const TakenMail *mail, const Command *command, GError **error)
{
	return answer(bot, mail, command, "In this thread there is no such job that you asked for.", FALSE, error);
}

static gboolean do_more(const MailBot *bot, const TakenMail *mail, const Command *command, GError **error)
{
	g_autofree char *path = NULL, *sentence = NULL, *body = NULL;
	g_autoptr(JsonObject) done = NULL;
	GError *problem = NULL;
	gint64 job;

	if (!find_job(bot, mail, command, &job, error))
		return FALSE;
	if (!job)
		return no_job(bot, mail, command, error);
	path = g_strdup_printf("/jobs/%" G_GINT64_FORMAT "/more?boots=%d", job, command->boots);
	done = remote_post_nothing(bot->remote, path, &problem);
	if (!done)
		return answer_refusal(bot, mail, command, problem, error);
	sentence = g_strdup_printf("Job %" G_GINT64_FORMAT " gets %d more boots of each kernel; its report comes again when they are made.",
				   job, command->boots);
	body = reply_sentence(command, sentence, FALSE);
	const Settlement settlement = { .state = "testing", .job = job, .about = "answer", .body = body };
	return mail_bot_settle(bot, mail, &settlement, error);
}

static gboolean do_cancel(const MailBot *bot, const TakenMail *mail, const Command *command, GError **error)
{
	g_autofree char *path = NULL, *sentence = NULL;
	g_autoptr(JsonObject) done = NULL;
	GError *problem = NULL;
	gint64 job;

	if (!find_job(bot, mail, command, &job, error))
		return FALSE;
	if (!job)
		return no_job(bot, mail, command, error);
	path = g_strdup_printf("/jobs/%" G_GINT64_FORMAT, job);
	done = remote_delete(bot->remote, path, &problem);
	if (!done)
		return answer_refusal(bot, mail, command, problem, error);
	sentence = g_strdup_printf("Job %" G_GINT64_FORMAT " is cancelled.", job);
	return answer(bot, mail, command, sentence, FALSE, error);
}

static gboolean do_bisect(const MailBot *bot, const TakenMail *mail, const Command *command, GError **error)
{
	return answer(bot, mail, command, "This lab takes no bisections by mail. It compares a series with its base: "
		      "answer to a patch with the command test.", TRUE, error);
}

/* For the sender at once and without an answer; for a list when a person has agreed. */
static gboolean do_no_mail(const MailBot *bot, const TakenMail *mail, const Command *command, GError **error)
{
	const Message *message = mail->meaning->message;
	gboolean approved = g_str_equal(mail->reason, APPROVED);
	const Settlement hold = { .state = "held", .reason = "it asks that the whole list gets no mail" };
	const Settlement settlement = {
		.state = "done",
		.reason = "no more mail",
		.refuse = command->whole_list && *message->list_id ? message->list_id : message->from,
	};

	return mail_bot_settle(bot, mail, command->whole_list && !approved ? &hold : &settlement, error);
}

static gboolean (*const verbs[VERB_N])(const MailBot *, const TakenMail *, const Command *, GError **) = {
	[VERB_TEST] = mail_test,
	[VERB_MORE] = do_more,
	[VERB_CANCEL] = do_cancel,
	[VERB_BISECT] = do_bisect,
	[VERB_NO_MAIL] = do_no_mail,
};

/* One command a mail: what several would do half, if the lab were killed between them, nobody could say. */
gboolean mail_bot_act(const MailBot *bot, const TakenMail *mail, GError **error)
{
	const GPtrArray *commands = mail->meaning->commands;
	const Command *command = commands->len ? g_ptr_array_index(commands, 0) : NULL;
	g_autofree char *sentence = NULL;
	const Settlement nothing = { .state = "done", .reason = "nothing is asked" };

	if (!command)
		return mail->meaning->part ? mail_test(bot, mail, NULL, error) : mail_bot_settle(bot, mail, &nothing, error);
	if (commands->len > 1)
		return answer(bot, mail, NULL, "Of several commands in one mail none is carried out: please send one in each.", TRUE, error);
	if (!command->problem)
		return verbs[command->verb](bot, mail, command, error);
	sentence = g_strdup_printf("The lab does not understand this: %s.", command->problem);
	return answer(bot, mail, command, sentence, TRUE, error);
}
