/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Makes what is said about the programs from what the programs have: their tables, and what they say to --help.
 *
 *   make-doc man FILE.in PROGRAMS_DIR     a man page; lines of the file that begin with @ stand for
 *       @KEYS                 all keys of the configuration
 *       @ROUTES               all routes of the API
 *       @HELP PROGRAM [WORD]  usage, summary and options
 *       @COMMANDS PROGRAM     every command, as @HELP has it
 *   make-doc bash PROGRAMS_DIR            completion of regrlab
 *   make-doc zsh PROGRAMS_DIR
 *   make-doc example                      deploy/regrlab.conf.example, with this build's paths
 */
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/config-keys.h"
#include "daemon/openapi.h"
#include "doc/completion.h"
#include "doc/help.h"
#include "doc/roff.h"
#include "jobs/spec/error.h"
#include "jobs/spec/peek.h"

/* ---- the configuration ---- */

static void put_key(GString *out, const ConfigKey *key)
{
	g_autofree char *allowed = config_key_allowed(key), *head = NULL;
	g_autoptr(GString) text = g_string_new(key->help);

	head = g_strconcat(key->key, "=", NULL);
	g_string_append_printf(text, ". Takes %s%s%s%s.", allowed, key->unit ? " (" : "", key->unit ? key->unit : "", key->unit ? ")" : "");
	if (key->standard)
		g_string_append_printf(text, " Default: %s.", *key->standard ? key->standard : "empty");
	else
		g_string_append(text, " Must be there.");
	if (key->live)
		g_string_append(text, " A change takes effect on reload.");
	*text->str = g_ascii_toupper(*text->str);
	roff_item(out, head, text->str);
}

static void put_keys(GString *out)
{
	for (gsize i = 0; i < config_n_sections; i++) {
		const ConfigSection *section = &config_sections[i];

		g_string_append_printf(out, ".SS [%s%s]\n", section->section, section->name ? " NAME" : "");
		roff_text(out, section->help);
		g_string_append_c(out, '\n');
		for (gsize k = 0; k < config_n_keys; k++)
			if (g_str_equal(config_keys[k].section, section->section))
				put_key(out, &config_keys[k]);
	}
}

/* ---- the API ---- */

static void put_parameters(GString *out, JsonObject *operation)
{
	JsonArray *parameters = peek_array(operation, "parameters");

	for (guint i = 0; i < peek_length(parameters); i++) {
		JsonObject *one = peek_element(parameters, i);

		g_string_append(out, ".br\n\\fI");
		roff_text(out, peek_string(one, "name"));
		g_string_append(out, "\\fR: ");
		roff_text(out, peek_string(one, "description"));
		g_string_append_c(out, '\n');
	}
}

static void put_operation(GString *out, const char *path, const char *method, JsonObject *operation)
{
	g_autofree char *upper = g_ascii_strup(method, -1), *head = g_strconcat(upper, " ", path, NULL);
	g_autoptr(GList) members = json_object_get_members(peek_object(operation, "responses"));
	g_autoptr(GString) text = g_string_new(peek_string(operation, "summary"));

	g_string_append_printf(text, ". For: %s. Answers", peek_string(operation, "x-role"));
	for (GList *at = members; at; at = at->next)
		g_string_append_printf(text, " %s", (const char *)at->data);
	g_string_append_c(text, '.');
	roff_item(out, head, text->str);
	put_parameters(out, operation);
}

static void put_fields(GString *out, JsonObject *document)
{
	JsonObject *submit = peek_object(peek_object(peek_object(document, "paths"), "/api/v1/jobs"), "post");
	JsonObject *content = peek_object(peek_object(submit, "requestBody"), "content");
	JsonObject *fields = peek_object(peek_object(peek_object(content, "multipart/form-data"), "schema"), "properties");
	g_autoptr(GList) names = json_object_get_members(fields);

	g_string_append(out, ".SH FIELDS OF A SUBMISSION\n");
	for (GList *at = names; at; at = at->next)
		roff_item(out, at->data, peek_string(peek_object(fields, at->data), "description"));
}

static void put_routes(GString *out)
{
	g_autoptr(JsonObject) document = openapi_document();
	JsonObject *paths = peek_object(document, "paths");
	g_autoptr(GList) names = json_object_get_members(paths);

	g_string_append(out, ".SH ROUTES\n");
	for (GList *at = names; at; at = at->next) {
		JsonObject *path = peek_object(paths, at->data);
		g_autoptr(GList) methods = json_object_get_members(path);

		for (GList *method = methods; method; method = method->next)
			put_operation(out, at->data, method->data, peek_object(path, method->data));
	}
	put_fields(out, document);
}

/* ---- what programs say to --help ---- */

static gboolean put_help(GString *out, const char *dir, const char *name, const char *word, GError **error)
{
	g_autofree char *program = g_build_filename(dir, name, NULL);
	const char *argv[] = { program, word ? word : "--help", word ? "--help" : NULL, NULL };
	g_autoptr(Help) help = help_of(argv, error);
	const char *words;

	if (!help)
		return FALSE;
	words = strchr(help->usage, ' ');
	if (word && words && g_str_has_prefix(words + 1, word))
		words = strchr(words + 1, ' ');
	g_string_append_printf(out, ".PP\n\\fB%s%s%s\\fR", name, word ? " " : "", word ? word : "");
	roff_text(out, words ? words : "");
	g_string_append(out, "\n.PP\n");
	roff_paragraphs(out, help->summary);
	for (guint i = 0; i < help->commands->len; i++) {
		const HelpRow *row = g_ptr_array_index(help->commands, i);
		roff_item(out, row->name, row->text);
	}
	for (guint i = 0; i < help->options->len; i++) {
		const HelpRow *row = g_ptr_array_index(help->options, i);
		roff_item(out, row->name, row->text);
	}
	return TRUE;
}

static gboolean put_commands(GString *out, const char *dir, const char *name, GError **error)
{
	g_autofree char *program = g_build_filename(dir, name, NULL);
	g_autoptr(Help) help = help_of((const char *const[]){ program, "--help", NULL }, error);

	for (guint i = 0; help && i < help->commands->len; i++) {
		const HelpRow *row = g_ptr_array_index(help->commands, i);

		g_string_append_printf(out, ".SS %s\n", row->name);
		if (!put_help(out, dir, name, row->name, error))
			return FALSE;
	}
	return help != NULL;
}

/* ---- a page ---- */

static gboolean expand(GString *out, const char *line, const char *dir, GError **error)
{
	g_auto(GStrv) words = g_strsplit(line + 1, " ", -1);

	if (g_str_equal(words[0], "KEYS"))
		put_keys(out);
	else if (g_str_equal(words[0], "ROUTES"))
		put_routes(out);
	else if (g_str_equal(words[0], "HELP") && words[1])
		return put_help(out, dir, words[1], words[2], error);
	else if (g_str_equal(words[0], "COMMANDS") && words[1])
		return put_commands(out, dir, words[1], error);
	else
		return spec_error_set(error, SPEC_ERROR_VALUE, NULL, "there is no %s", line);
	return TRUE;
}

static char *man_page(const char *path, const char *dir, GError **error)
{
	g_autoptr(GString) out = g_string_new(NULL);
	g_autofree char *text = NULL;
	g_auto(GStrv) lines = NULL;

	if (!g_file_get_contents(path, &text, NULL, error))
		return NULL;
	lines = g_strsplit(g_strchomp(text), "\n", -1);
	for (char **line = lines; *line; line++) {
		if (**line != '@')
			g_string_append_printf(out, "%s\n", *line);
		else if (!expand(out, *line, dir, error))
			return NULL;
	}
	return g_string_free(g_steal_pointer(&out), FALSE);
}

int main(int argc, char **argv)
{
	g_autofree char *text = NULL;
	g_autoptr(GError) error = NULL;

	setlocale(LC_CTYPE, "C.UTF-8");
	if (argc == 4 && g_str_equal(argv[1], "man"))
		text = man_page(argv[2], argv[3], &error);
	else if (argc == 3 && (g_str_equal(argv[1], "bash") || g_str_equal(argv[1], "zsh"))) {
		g_autofree char *program = g_build_filename(argv[2], "regrlab", NULL);
		text = (g_str_equal(argv[1], "bash") ? completion_bash : completion_zsh)(program, &error);
	} else if (argc == 2 && g_str_equal(argv[1], "example"))
		text = config_example();
	if (!text) {
		fprintf(stderr, "make-doc: %s\n", error ? error->message : "wrong usage");
		return EXIT_FAILURE;
	}
	fputs(text, stdout);
	return fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
