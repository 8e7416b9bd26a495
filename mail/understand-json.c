/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "mail/understand.h"

const char *meaning_kind_name(MeaningKind kind)
{
	static const char *const names[] = {
		[MEANING_NOT_FOR_US] = "not-for-us",
		[MEANING_IGNORED] = "ignored",
		[MEANING_COMMANDS] = "commands",
		[MEANING_SERIES] = "series",
	};

	return names[kind];
}

static void set_string(JsonObject *object, const char *name, const char *value)
{
	if (value && *value)
		json_object_set_string_member(object, name, value);
}

static JsonArray *strings_json(const GPtrArray *strings)
{
	JsonArray *array = json_array_new();

	for (guint i = 0; i < strings->len; i++)
		json_array_add_string_element(array, g_ptr_array_index(strings, i));
	return array;
}

static JsonObject *part_json(const Meaning *meaning)
{
	const Mail *part = meaning->part;
	JsonObject *object = json_object_new();

	if (part->total >= 0) {
		json_object_set_int_member(object, "number", part->number);
		json_object_set_int_member(object, "total", part->total);
	}
	json_object_set_int_member(object, "version", part->version);
	json_object_set_boolean_member(object, "rfc", part->is_rfc);
	json_object_set_boolean_member(object, "complete", meaning_is_complete(meaning));
	json_object_set_array_member(object, "files", strings_json(part->files));
	set_string(object, "subject", part->subject);
	set_string(object, "author", part->author);
	set_string(object, "base_commit", part->base_commit);
	set_string(object, "change_id", part->change_id);
	if (part->prefixes->len)
		json_object_set_array_member(object, "prefixes", strings_json(part->prefixes));
	if (part->prerequisites->len)
		json_object_set_array_member(object, "prerequisites", strings_json(part->prerequisites));
	return object;
}

static JsonObject *command_json(const Command *command)
{
	JsonObject *object = json_object_new();
	g_autoptr(GPtrArray) fields = g_ptr_array_new_with_free_func(g_free);

	set_string(object, "verb", verb_name(command->verb));
	set_string(object, "problem", command->problem);
	if (command->problem)
		return object;
	set_string(object, "tree", command->tree);
	set_string(object, "commit", command->commit);
	set_string(object, "message_id", command->message_id);
	for (guint i = 0; i < command->fields->len; i++) {
		const CommandField *field = g_ptr_array_index(command->fields, i);
		g_ptr_array_add(fields, g_strdup_printf("%s=%s", field->name, field->value));
	}
	if (fields->len)
		json_object_set_array_member(object, "fields", strings_json(fields));
	if (command->job)
		json_object_set_int_member(object, "job", command->job);
	if (command->boots)
		json_object_set_int_member(object, "boots", command->boots);
	set_string(object, "good", command->good);
	set_string(object, "bad", command->bad);
	set_string(object, "benchmark", command->benchmark);
	if (command->whole_list)
		json_object_set_boolean_member(object, "whole_list", TRUE);
	return object;
}

static void add_message(JsonObject *object, const Message *message)
{
	const GPtrArray *references = message->references;

	set_string(object, "message_id", message->message_id);
	set_string(object, "from", message->from);
	set_string(object, "from_name", message->from_name);
	set_string(object, "subject", message->subject);
	set_string(object, "list", message->list_id);
	if (references->len)
		set_string(object, "answers", g_ptr_array_index(references, references->len - 1));
}

JsonObject *meaning_to_json(const Meaning *meaning)
{
	JsonObject *object = json_object_new();

	json_object_set_string_member(object, "kind", meaning_kind_name(meaning->kind));
	set_string(object, "reason", meaning->reason);
	set_string(object, "detail", meaning->detail);
	if (!meaning->message)
		return object;
	add_message(object, meaning->message);
	json_object_set_boolean_member(object, "addressed", meaning->addressed);
	json_object_set_boolean_member(object, "watched", meaning->watched);
	json_object_set_string_member(object, "trust", trust_name(meaning->trust));
	json_object_set_boolean_member(object, "may_submit", meaning->may_submit);
	set_string(object, "why", meaning->why);
	if (meaning->part)
		json_object_set_object_member(object, "series", part_json(meaning));
	if (meaning->commands->len) {
		JsonArray *commands = json_array_new();
		for (guint i = 0; i < meaning->commands->len; i++)
			json_array_add_object_element(commands, command_json(g_ptr_array_index(meaning->commands, i)));
		json_object_set_array_member(object, "commands", commands);
	}
	if (meaning->diff)
		json_object_set_boolean_member(object, "own_diff", TRUE);
	return object;
}
