/* SPDX-License-Identifier: GPL-2.0-or-later */
/* meaning_of() on any bytes; what it says keeps the promises of understand.h. */
#include <stdint.h>
#include <string.h>

#include "jobs/spec/series-diff.h"
#include "mail/understand.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const MailSettings *settings(void)
{
	static MailSettings one;

	if (!one.address) {
		one.address = g_strdup("lab@regrlab.example.org");
		one.lists = mail_settings_words("linux-mm.example.org");
		one.senders = mail_settings_words("@example.org");
		one.known_lists = mail_settings_words("linux-mm.example.org");
		one.authserv_id = g_strdup("mx.regrlab.example.org");
		one.arc_sealers = mail_settings_words("lists.example.org");
	}
	return &one;
}

static void check_command(const Command *command)
{
	g_assert_true(g_utf8_validate(command->line, -1, NULL));
	g_assert_null(strchr(command->line, '\n'));
	g_assert_true(command->problem ? g_utf8_validate(command->problem, -1, NULL) : command->verb != VERB_NONE);
	if (command->problem)
		return;
	g_assert_true(*command->tree != '-' && *command->commit != '-');
	for (guint i = 0; i < command->fields->len; i++) {
		const CommandField *field = g_ptr_array_index(command->fields, i);
		g_assert_true(*field->name && *field->value && *field->value != '@');
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	g_autoptr(GBytes) raw = g_bytes_new(data, size);
	g_autoptr(Meaning) meaning = meaning_of(raw, settings());
	g_autoptr(JsonObject) object = meaning_to_json(meaning);
	gboolean silent = meaning->kind == MEANING_NOT_FOR_US || meaning->kind == MEANING_IGNORED;

	g_assert_nonnull(object);
	g_assert_true(silent == (*meaning->reason != 0));
	g_assert_true((meaning->kind == MEANING_SERIES) == (meaning->part != NULL));
	g_assert_cmpuint(meaning->commands->len, <=, COMMAND_MAX);
	for (guint i = 0; i < meaning->commands->len; i++)
		check_command(g_ptr_array_index(meaning->commands, i));
	if (meaning->kind == MEANING_COMMANDS)
		g_assert_true(meaning->commands->len > 0 && (meaning->addressed || meaning->watched));
	for (guint i = 0; meaning->part && i < meaning->part->files->len; i++)
		g_assert_false(diff_path_is_unsafe(g_ptr_array_index(meaning->part->files, i)));
	if (!silent)
		g_assert_true(meaning->message->automatic == AUTOMATIC_NO && *meaning->message->from);
	return 0;
}
