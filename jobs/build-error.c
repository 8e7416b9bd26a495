/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "jobs/build-error.h"

#include <stdlib.h>
#include <string.h>

#include "jobs/spec/text.h"

#define BEFORE		6	/* lines of context */
#define AFTER		12
#define MAX_LINE	1000	/* bytes kept of a line */

/* What a line is; a smaller one is the better answer. */
typedef enum {
	KIND_COMPILER,	/* "mm/x.c:12:3: error: ..." */
	KIND_LINKER,	/* "ld: mm/x.o: in function `f': ... undefined reference" */
	KIND_TOOL,	/* "error: ...", "ERROR: modpost: ...", Kconfig */
	KIND_MAKE,	/* "make[2]: *** [...] Error 1" */
	KIND_NONE,
} Kind;

struct BuildErrors {
	char *source;		/* with a slash at its end */
	GQueue recent;		/* of char *: the last BEFORE lines */
	Kind kind;		/* of the best error so far */
	char *file, *error;
	int line;
	GString *context;
	int after;		/* lines that the context still takes */
	gboolean disturbed;
};

BuildErrors *build_errors_new(const char *source)
{
	BuildErrors *errors = g_new0(BuildErrors, 1);

	errors->source = g_strconcat(source, "/", NULL);
	g_queue_init(&errors->recent);
	errors->kind = KIND_NONE;
	errors->context = g_string_new(NULL);
	return errors;
}

void build_errors_free(BuildErrors *errors)
{
	if (!errors)
		return;
	g_queue_clear_full(&errors->recent, g_free);
	g_string_free(errors->context, TRUE);
	g_free(errors->source);
	g_free(errors->file);
	g_free(errors->error);
	g_free(errors);
}

/* "FILE:LINE:" or "FILE:LINE:COLUMN:" at the head of a line; what follows in *ret_rest. */
static gboolean read_place(const char *text, char **ret_file, int *ret_line, const char **ret_rest)
{
	const char *colon = strchr(text, ':');

	if (!colon || colon == text || !g_ascii_isdigit(colon[1]) || memchr(text, ' ', (gsize)(colon - text)))
		return FALSE;
	const char *rest = colon + 1 + strspn(colon + 1, "0123456789");
	if (*rest != ':')
		return FALSE;
	rest++;
	gsize digits = strspn(rest, "0123456789");
	if (digits && rest[digits] == ':')
		rest += digits + 1;
	*ret_file = g_strndup(text, (gsize)(colon - text));
	*ret_line = atoi(colon + 1);
	*ret_rest = rest + strspn(rest, " ");
	return TRUE;
}

/* "ld: mm/x.o: in function `f':" and "mm/x.c:(.text+0x1): undefined reference to `g'". */
static gboolean read_linker(const char *text, char **ret_file, const char **ret_error)
{
	static const char *const words[] = { "undefined reference to", "multiple definition of", "relocation truncated" };

	for (gsize i = 0; i < G_N_ELEMENTS(words); i++) {
		const char *at = strstr(text, words[i]), *place = strstr(text, ":(");
		if (!at)
			continue;
		if (g_str_has_prefix(text, "ld: "))
			text += strlen("ld: ");
		const char *colon = place && place < at ? place : strchr(text, ':');
		*ret_file = colon && colon > text && colon < at ? g_strndup(text, (gsize)(colon - text)) : g_strdup("");
		*ret_error = at;
		return TRUE;
	}
	return FALSE;
}

static Kind classify(const char *text, char **ret_file, int *ret_line, const char **ret_error)
{
	static const char *const tools[] = { "error: ", "ERROR: ", "FAILED: ", "fatal: ", "ld: ", "objtool: error", "gcc: " };
	static const char *const kinds[] = { "error: ", "fatal error: ", "Error: ", "internal compiler error: ",
					     "syntax error", "error, " };
	const char *rest;

	*ret_line = 0;
	if (read_linker(text, ret_file, ret_error))
		return KIND_LINKER;
	if (read_place(text, ret_file, ret_line, &rest)) {
		for (gsize i = 0; i < G_N_ELEMENTS(kinds); i++)
			if (g_str_has_prefix(rest, kinds[i])) {
				*ret_error = rest;
				return KIND_COMPILER;
			}
		g_clear_pointer(ret_file, g_free);
		*ret_line = 0;
	}
	*ret_file = g_strdup("");
	*ret_error = text;
	for (gsize i = 0; i < G_N_ELEMENTS(tools); i++)
		if (g_str_has_prefix(text, tools[i]) && !strstr(text, "warning: "))
			return KIND_TOOL;
	return g_str_has_prefix(text, "make") && strstr(text, "*** ") ? KIND_MAKE : KIND_NONE;
}

static void add_context(BuildErrors *errors, const char *line)
{
	g_string_append_printf(errors->context, "%s\n", line);
}

static char *tidy(const BuildErrors *errors, const char *line)
{
	g_autofree char *cut = g_strndup(line, MAX_LINE);
	g_autofree char *plain = text_plain(cut);
	GString *text = g_string_new(plain);

	g_string_replace(text, errors->source, "", 0);
	g_strchomp(text->str);
	return g_string_free(text, FALSE);
}

static void take_error(BuildErrors *errors, Kind kind, const char *file, int line, const char *error)
{
	errors->kind = kind;
	g_free(errors->file);
	g_free(errors->error);
	errors->file = g_strdup(file);
	errors->error = g_strdup(error);
	errors->line = line;
	g_string_truncate(errors->context, 0);
	for (GList *item = errors->recent.head; item; item = item->next)
		add_context(errors, item->data);
	errors->after = AFTER + 1;
}

/*
 * gcc's words when its compiler proper was killed, make's when a command of a rule was, and what they and a shell say on a
 * machine that has no room for one process more.
 */
static gboolean says_disturbed(const char *line)
{
	static const char *const words[] = { "Killed signal terminated program", "Resource temporarily unavailable", "Cannot fork",
					     "Cannot allocate memory", "out of memory allocating" };

	for (gsize i = 0; i < G_N_ELEMENTS(words); i++)
		if (strstr(line, words[i]))
			return TRUE;
	return g_str_has_prefix(line, "make") && strstr(line, ": *** [") && g_str_has_suffix(line, "] Killed");
}

gboolean build_errors_disturbed(const BuildErrors *errors)
{
	return errors->disturbed;
}

void build_errors_line(BuildErrors *errors, const char *raw)
{
	g_autofree char *line = tidy(errors, raw), *file = NULL;
	const char *error;
	int number;
	Kind kind = classify(line, &file, &number, &error);

	errors->disturbed |= says_disturbed(line);
	if (kind < errors->kind)
		take_error(errors, kind, file, number, error);
	if (errors->after > 0) {
		add_context(errors, line);
		errors->after--;
	}
	g_queue_push_tail(&errors->recent, g_steal_pointer(&line));
	if (errors->recent.length > BEFORE)
		g_free(g_queue_pop_head(&errors->recent));
}

JsonObject *build_errors_detail(const BuildErrors *errors)
{
	g_autoptr(GString) tail = g_string_new(NULL);
	JsonObject *detail = json_object_new();

	for (GList *item = errors->recent.head; item; item = item->next)
		g_string_append_printf(tail, "%s\n", (const char *)item->data);
	json_object_set_string_member(detail, "file", errors->file ? errors->file : "");
	json_object_set_int_member(detail, "line", errors->line);
	json_object_set_string_member(detail, "error", errors->error ? errors->error : "");
	json_object_set_string_member(detail, "context", errors->kind == KIND_NONE ? tail->str : errors->context->str);
	return detail;
}
