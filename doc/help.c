/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "doc/help.h"

#include <gio/gio.h>
#include <string.h>

static void row_free(gpointer data)
{
	HelpRow *row = data;

	g_free(row->name);
	g_free(row->text);
	g_free(row);
}

void help_free(Help *help)
{
	if (!help)
		return;
	g_free(help->usage);
	g_free(help->summary);
	g_ptr_array_unref(help->options);
	g_ptr_array_unref(help->commands);
	g_free(help);
}

/* "  --name=VALUE     words" */
static HelpRow *read_row(const char *line, const char *pattern)
{
	g_autoptr(GRegex) regex = g_regex_new(pattern, 0, 0, NULL);
	g_autoptr(GMatchInfo) match = NULL;
	HelpRow *row;

	if (!g_regex_match(regex, line, 0, &match))
		return NULL;
	row = g_new0(HelpRow, 1);
	row->name = g_match_info_fetch(match, 1);
	row->text = g_match_info_fetch(match, 2);
	return row;
}

static void read_line(Help *help, GString *summary, const char *line, gboolean *in_options)
{
	HelpRow *row;

	if (g_str_has_suffix(line, "Options:")) {
		*in_options = TRUE;
	} else if (*in_options) {
		row = read_row(line, "^  ((?:-\\w, )?--[a-z][a-z-]*(?:=\\S+)?)(?:\\s+(.*))?$");
		if (row && strcmp(row->name, "-h, --help") == 0)
			row_free(row);
		else if (row)
			g_ptr_array_add(help->options, row);
	} else {
		row = read_row(line, "^  ([a-z][a-z-]*)\\s{2,}(.*)$");
		if (row)
			g_ptr_array_add(help->commands, row);
		else
			g_string_append_printf(summary, "%s\n", line);
	}
}

/* "Usage:" and the program on the next line (GOption), or on the same one. */
static gboolean read_usage(Help *help, char **lines, guint *ret_next)
{
	const char *line = lines[0];

	if (!line || !g_str_has_prefix(line, "Usage:"))
		return FALSE;
	*ret_next = 1;
	if (g_str_equal(line, "Usage:") && lines[1])
		line = lines[(*ret_next)++];
	else
		line += strlen("Usage:");
	help->usage = g_strstrip(g_strdup(line));
	return TRUE;
}

Help *help_of(const char *const *argv, GError **error)
{
	g_autoptr(GSubprocess) process = g_subprocess_newv(argv, G_SUBPROCESS_FLAGS_STDOUT_PIPE, error);
	g_autoptr(Help) help = g_new0(Help, 1);
	g_autoptr(GString) summary = g_string_new(NULL);
	g_autofree char *text = NULL;
	g_auto(GStrv) lines = NULL;
	gboolean in_options = FALSE;
	guint next = 0;

	help->options = g_ptr_array_new_with_free_func(row_free);
	help->commands = g_ptr_array_new_with_free_func(row_free);
	if (!process || !g_subprocess_communicate_utf8(process, NULL, NULL, &text, NULL, error))
		return NULL;
	lines = g_strsplit(text, "\n", -1);
	if (!g_subprocess_get_successful(process) || !read_usage(help, lines, &next)) {
		g_set_error(error, G_IO_ERROR, G_IO_ERROR_FAILED, "%s %s: no usage comes of it", argv[0], argv[1]);
		return NULL;
	}
	for (; lines[next]; next++)
		read_line(help, summary, lines[next], &in_options);
	help->summary = g_strstrip(g_strdup(summary->str));
	return g_steal_pointer(&help);
}

char *help_long_name(const HelpRow *option)
{
	const char *from = strstr(option->name, "--");

	return g_strndup(from, strcspn(from, "="));
}

gboolean help_takes_value(const HelpRow *option)
{
	return strchr(option->name, '=') != NULL;
}
