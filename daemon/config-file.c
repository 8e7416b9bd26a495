/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/config-file.h"

#include <string.h>

typedef struct {
	ConfigError code;
	int line;	/* 0: of none */
	char *text;
} Complaint;

struct ConfigFile {
	const char *name;
	char **lines;	/* without those that are no key file's, which are empty; blanks around them are gone */
	GKeyFile *keys;
	GPtrArray *complaints;
};

static void complaint_free(gpointer data)
{
	Complaint *complaint = data;

	g_free(complaint->text);
	g_free(complaint);
}

/* Takes text. */
static void add(ConfigFile *file, ConfigError code, int line, char *text)
{
	Complaint *complaint = g_new(Complaint, 1);

	*complaint = (Complaint){ code, line, text };
	g_ptr_array_add(file->complaints, complaint);
}

static gboolean is_header(const char *line)
{
	return *line == '[' && strchr(line, ']') == line + strlen(line) - 1;
}

static void check_lines(ConfigFile *file)
{
	gboolean inside = FALSE;

	for (int i = 0; file->lines[i]; i++) {
		char *line = g_strstrip(file->lines[i]);
		const char *why = NULL;

		if (!*line || *line == '#')
			continue;
		if (is_header(line))
			inside = TRUE;
		else if (*line == '[' || *line == '=' || !strchr(line, '='))
			why = "neither [SECTION] nor KEY=VALUE nor a comment that begins with #";
		else if (!inside)
			why = "a key before the first [SECTION]";
		if (!why)
			continue;
		add(file, CONFIG_ERROR_SYNTAX, i + 1, g_strdup_printf("%s:%d: %s", file->name, i + 1, why));
		*line = 0;
	}
}

ConfigFile *config_file_parse(const char *name, const char *data, gsize size)
{
	ConfigFile *file = g_new0(ConfigFile, 1);
	g_autofree char *text = g_strndup(data, size), *sound = NULL;
	g_autoptr(GError) problem = NULL;

	file->name = name;
	file->complaints = g_ptr_array_new_with_free_func(complaint_free);
	file->keys = g_key_file_new();
	file->lines = g_strsplit(text, "\n", -1);
	check_lines(file);
	sound = g_strjoinv("\n", file->lines);
	if (!g_key_file_load_from_data(file->keys, sound, strlen(sound), G_KEY_FILE_NONE, &problem) &&
	    !g_error_matches(problem, G_KEY_FILE_ERROR, G_KEY_FILE_ERROR_NOT_FOUND))
		add(file, CONFIG_ERROR_SYNTAX, 0, g_strdup_printf("%s: %s", name, problem->message));
	return file;
}

void config_file_free(ConfigFile *file)
{
	if (!file)
		return;
	g_strfreev(file->lines);
	g_key_file_unref(file->keys);
	g_ptr_array_unref(file->complaints);
	g_free(file);
}

GKeyFile *config_file_keys(const ConfigFile *file)
{
	return file->keys;
}

static gboolean has_key(const char *line, const char *key)
{
	gsize length = strlen(key);

	return strncmp(line, key, length) == 0 && line[length + strspn(line + length, " \t")] == '=';
}

/* The line of a group's header, or of a key in it (the last one counts, as for GKeyFile); 0: not there. */
static int line_of(const ConfigFile *file, const char *group, const char *key)
{
	g_autofree char *header = g_strdup_printf("[%s]", group);
	gboolean inside = FALSE;
	int found = 0;

	for (int i = 0; file->lines[i]; i++) {
		const char *line = file->lines[i];

		if (*line == '[')
			inside = g_str_equal(line, header);
		if (inside && (key ? has_key(line, key) : *line == '['))
			found = i + 1;
	}
	return found;
}

void config_file_complain(ConfigFile *file, ConfigError code, const char *group, const char *key, const char *format, ...)
{
	g_autofree char *message = NULL;
	g_autoptr(GString) text = g_string_new(file->name);
	int line = line_of(file, group, key);
	va_list args;

	va_start(args, format);
	message = g_strdup_vprintf(format, args);
	va_end(args);
	if (line)
		g_string_append_printf(text, ":%d", line);
	g_string_append_printf(text, ": [%s]%s%s: %s", group, key ? " " : "", key ? key : "", message);
	add(file, code, line, g_string_free(g_steal_pointer(&text), FALSE));
}

/* Those without a line come last. */
static gint in_order(gconstpointer a, gconstpointer b)
{
	const Complaint *one = *(const Complaint *const *)a, *other = *(const Complaint *const *)b;

	return one->line == other->line ? 0 : !one->line ? 1 : !other->line ? -1 : one->line - other->line;
}

gboolean config_file_good(ConfigFile *file, GError **error)
{
	g_autoptr(GString) text = g_string_new(NULL);
	const Complaint *first;

	if (!file->complaints->len)
		return TRUE;
	g_ptr_array_sort(file->complaints, in_order);
	first = g_ptr_array_index(file->complaints, 0);
	for (guint i = 0; i < file->complaints->len; i++) {
		const Complaint *complaint = g_ptr_array_index(file->complaints, i);

		g_string_append_printf(text, "%s%s", i ? "\n" : "", complaint->text);
	}
	g_set_error_literal(error, CONFIG_ERROR, (int)first->code, text->str);
	return FALSE;
}
