/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "mail/understand.h"

#include <string.h>

#include "jobs/spec/series-diff.h"
#include "jobs/spec/series.h"

static const struct {
	const char *reason, *detail;
} automatics[] = {
	[AUTOMATIC_NO] = { "", "" },
	[AUTOMATIC_OWN] = { "own", "a lab wrote it" },
	[AUTOMATIC_BOUNCE] = { "bounce", "a report of delivery" },
	[AUTOMATIC_REPLY] = { "auto-reply", "a program wrote it" },
	[AUTOMATIC_DIGEST] = { "digest", "many mails in one" },
	[AUTOMATIC_LOOP] = { "loop", "it has been through too many servers" },
};

void meaning_free(Meaning *meaning)
{
	if (!meaning)
		return;
	g_free(meaning->detail);
	message_free(meaning->message);
	mail_free(meaning->part);
	g_ptr_array_unref(meaning->commands);
	g_free(meaning->diff);
	g_free(meaning);
}

gboolean meaning_is_complete(const Meaning *meaning)
{
	return meaning->part && (meaning->part->total < 0 || (meaning->part->total == 1 && meaning->part->number == 1));
}

static void ignore(Meaning *meaning, MeaningKind kind, const char *reason, const char *detail)
{
	meaning->kind = kind;
	meaning->reason = reason;
	g_free(meaning->detail);
	meaning->detail = g_strdup(detail);
}

/* From the first line that begins a diff; the caller's, NULL if there is none or if it is not to be applied. */
static char *find_diff(const char *text)
{
	const char *start = g_str_has_prefix(text, "diff --git ") ? text : strstr(text, "\ndiff --git ");
	g_autoptr(GPtrArray) files = g_ptr_array_new_with_free_func(g_free);

	if (!start)
		return NULL;
	start += *start == '\n';
	return diff_scan(start, strlen(start), files, NULL) && files->len ? g_strdup(start) : NULL;
}

/* Whether it is a patch or a cover letter that somebody posts; FALSE: why not is said. */
static gboolean read_part(Meaning *meaning, GBytes *raw)
{
	g_autoptr(Mail) part = NULL;
	g_autoptr(GError) error = NULL;

	if (!mail_parse(raw, &part, &error)) {
		ignore(meaning, MEANING_IGNORED, "unsafe", error->message);
	} else if (part->is_reply) {
		ignore(meaning, MEANING_IGNORED, "discussion", "a reply or a forward, in which a patch is none");
	} else if (!part->has_tag) {
		ignore(meaning, MEANING_IGNORED, "nothing-asked", "neither a command nor [PATCH] in its subject");
	} else if (meaning->message->has_forward) {
		ignore(meaning, MEANING_IGNORED, "forward", "another mail in a mail");
	} else if (!mail_is_part(part)) {
		ignore(meaning, MEANING_IGNORED, "no-patch", "[PATCH] in its subject, and no diff");
	} else if (part->total > SERIES_MAX_PATCHES || part->number > part->total) {
		ignore(meaning, MEANING_IGNORED, "numbers", "its numbers cannot be");
	} else {
		meaning->kind = MEANING_SERIES;
		meaning->part = g_steal_pointer(&part);
		return TRUE;
	}
	return FALSE;
}

/* To a list, only what is surely meant for the lab: no complaint goes to who did not write to it. */
static void drop_malformed(GPtrArray *commands)
{
	for (guint i = commands->len; i-- > 0;)
		if (((Command *)g_ptr_array_index(commands, i))->problem)
			g_ptr_array_remove_index(commands, i);
}

static void read_asked(Meaning *meaning, GBytes *raw)
{
	g_ptr_array_unref(meaning->commands);
	meaning->commands = commands_find(meaning->message->text->str);
	if (!meaning->addressed)
		drop_malformed(meaning->commands);
	if (read_part(meaning, raw) || !meaning->commands->len)
		return;
	ignore(meaning, MEANING_COMMANDS, "", "");
	meaning->diff = find_diff(meaning->message->text->str);
	if (!meaning->diff)
		meaning->diff = find_diff(meaning->message->attached->str);
}

static void read_message(Meaning *meaning, GBytes *raw, const MailSettings *settings)
{
	const Message *message = meaning->message;

	meaning->addressed = message_is_to(message, settings->address);
	meaning->watched = *message->list_id && settings->lists &&
			   g_strv_contains((const char *const *)settings->lists, message->list_id);
	meaning->trust = trust_of(message, settings);
	meaning->may_submit = trust_may_submit(message, settings, &meaning->why);
	if (!*message->message_id || !strchr(message->from, '@'))
		ignore(meaning, MEANING_IGNORED, "no-mail", "it has no author or no Message-ID");
	else if (message->automatic != AUTOMATIC_NO)
		ignore(meaning, MEANING_IGNORED, automatics[message->automatic].reason, automatics[message->automatic].detail);
	else if (!meaning->addressed && !meaning->watched)
		ignore(meaning, MEANING_NOT_FOR_US, "not-addressed", "neither to the lab nor on a list that it watches");
	else
		read_asked(meaning, raw);
}

Meaning *meaning_of(GBytes *raw, const MailSettings *settings)
{
	g_autoptr(GBytes) mail = message_without_mbox_line(raw);
	Meaning *meaning = g_new0(Meaning, 1);

	meaning->reason = meaning->why = "";
	meaning->detail = g_strdup("");
	meaning->commands = g_ptr_array_new_with_free_func((GDestroyNotify)command_free);
	meaning->message = message_parse(mail, settings->address);
	if (meaning->message)
		read_message(meaning, mail, settings);
	else
		ignore(meaning, MEANING_IGNORED, "no-mail", "too large, or no mail at all");
	return meaning;
}
