/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "jobs/spec/series-diff.h"

#include <string.h>

#define MAX_PATH_BYTES	4096
#define MAX_HUNK_LINES	1000000

typedef struct {
	GPtrArray *files;
	GHashTable *seen;
	const char *next;	/* what follows the current line */
	const char *end;
	guint64 old_left, new_left;	/* lines that the current hunk still has */
	gboolean in_git_header;	/* between "diff --git" and the first hunk: modes and renames */
} Scan;

static gboolean component_is_unsafe(const char *name, gsize size)
{
	static const char *const bad[] = { ".", "..", ".git", "git~1" };

	for (gsize i = 0; i < G_N_ELEMENTS(bad); i++)
		if (size == strlen(bad[i]) && g_ascii_strncasecmp(name, bad[i], size) == 0)
			return TRUE;
	return size == 0;
}

gboolean diff_path_is_unsafe(const char *path)
{
	if (strlen(path) > MAX_PATH_BYTES)
		return TRUE;
	for (const char *p = path; *p; p++)
		if (g_ascii_iscntrl(*p))
			return TRUE;
	for (;;) {
		gsize size = strcspn(path, "/");
		if (component_is_unsafe(path, size))
			return TRUE;
		if (!path[size])
			return FALSE;
		path += size + 1;
	}
}

/* A line without its end; FALSE at the end of the body. */
static gboolean next_line(Scan *scan, const char **ret_line, gsize *ret_size)
{
	if (scan->next >= scan->end)
		return FALSE;

	const char *line = scan->next;
	const char *newline = memchr(line, '\n', (gsize)(scan->end - line));
	gsize size = (gsize)((newline ? newline : scan->end) - line);

	scan->next = newline ? newline + 1 : scan->end;
	if (size > 0 && line[size - 1] == '\r')
		size--;
	*ret_line = line;
	*ret_size = size;
	return TRUE;
}

static gboolean starts(const char *line, gsize size, const char *prefix)
{
	gsize length = strlen(prefix);

	return size >= length && memcmp(line, prefix, length) == 0;
}

/* "text" in git's quotes; *ret_used is how much of text that was. NULL: the quotes do not close. */
static char *unquote(const char *text, gsize size, gsize *ret_used)
{
	gsize end = 1;

	while (end < size && text[end] != '"')
		end += text[end] == '\\' ? 2 : 1;
	if (end >= size)
		return NULL;
	g_autofree char *inner = g_strndup(text + 1, end - 1);
	*ret_used = end + 1;
	return g_strcompress(inner);
}

/* A name as it stands after "+++ " or "rename to ": quoted, or up to a tab or the end. */
static char *read_name(const char *text, gsize size)
{
	gsize used;

	if (size > 0 && *text == '"')
		return unquote(text, size, &used);
	const char *tab = memchr(text, '\t', size);
	return g_strndup(text, tab ? (gsize)(tab - text) : size);
}

static gboolean unsafe(GError **error, const char *path, const char *why)
{
	g_autofree char *shown = g_strescape(path, NULL);

	return spec_error_set(error, SPEC_ERROR_UNSAFE, "series", "the path '%.200s' %s", shown, why);
}

/* strip: the name has a first component (a/, b/, linux/) that is not part of the path. */
static gboolean add_path(Scan *scan, const char *name, gboolean strip, GError **error)
{
	if (!name)
		return spec_error_set(error, SPEC_ERROR_SYNTAX, "series", "a quoted path does not end");
	if (strip && g_str_equal(name, "/dev/null"))
		return TRUE;

	const char *slash = strip ? strchr(name, '/') : NULL;
	const char *path = slash ? slash + 1 : name;
	if (*name == '/' || diff_path_is_unsafe(path))
		return unsafe(error, *name == '/' ? name : path, "leaves the tree or is git's own");
	if (g_hash_table_add(scan->seen, g_strdup(path)))
		g_ptr_array_add(scan->files, g_strdup(path));
	return TRUE;
}

/*
 * "a/PATH b/PATH" of "diff --git": only for changes that name their path
 * nowhere else (modes, binaries, empty files), and there both are the same.
 */
static gboolean add_git_line(Scan *scan, const char *text, gsize size, GError **error)
{
	if (size > 0 && *text == '"') {
		gsize used;
		g_autofree char *name = unquote(text, size, &used);
		return add_path(scan, name, TRUE, error);
	}
	if (size % 2 == 0)
		return TRUE;
	gsize half = size / 2;
	g_autofree char *first = g_strndup(text, half);
	g_autofree char *second = g_strndup(text + half + 1, half);
	const char *path = strchr(first, '/'), *other = strchr(second, '/');
	if (text[half] != ' ' || !path || !other || !g_str_equal(path, other))
		return TRUE;
	return add_path(scan, first, TRUE, error);
}

static gboolean check_mode(Scan *scan, const char *mode, gsize size, GError **error)
{
	const char *last = scan->files->len ? g_ptr_array_index(scan->files, scan->files->len - 1) : "?";

	if (starts(mode, size, "120000"))
		return unsafe(error, last, "would be a symbolic link");
	if (starts(mode, size, "160000"))
		return unsafe(error, last, "would be a submodule");
	return TRUE;
}

/* The lines between "diff --git" and the first hunk. */
static gboolean take_git_header(Scan *scan, const char *line, gsize size, GError **error)
{
	static const char *const names[] = { "rename from ", "rename to ", "copy from ", "copy to " };
	static const char *const modes[] = { "new file mode ", "new mode " };

	for (gsize i = 0; i < G_N_ELEMENTS(names); i++) {
		if (!starts(line, size, names[i]))
			continue;
		gsize length = strlen(names[i]);
		g_autofree char *name = read_name(line + length, size - length);
		return add_path(scan, name, FALSE, error);
	}
	for (gsize i = 0; i < G_N_ELEMENTS(modes); i++)
		if (starts(line, size, modes[i]))
			return check_mode(scan, line + strlen(modes[i]), size - strlen(modes[i]), error);
	if (starts(line, size, "index ")) {
		const char *space = memchr(line + 6, ' ', size - 6);
		if (space)
			return check_mode(scan, space + 1, size - (gsize)(space + 1 - line), error);
	}
	return TRUE;
}

static gboolean read_count(const char **p, const char *end, guint64 *ret_count)
{
	guint64 value = 0;

	if (*p >= end || !g_ascii_isdigit(**p))
		return FALSE;
	for (; *p < end && g_ascii_isdigit(**p); (*p)++) {
		value = value * 10 + (guint64)(**p - '0');
		if (value > MAX_HUNK_LINES * G_GUINT64_CONSTANT(1000))
			return FALSE;
	}
	*ret_count = value;
	return TRUE;
}

/* "12,7 " or "12 " (one line). */
static gboolean read_range(const char **p, const char *end, guint64 *ret_lines)
{
	guint64 start;

	*ret_lines = 1;
	if (!read_count(p, end, &start))
		return FALSE;
	if (*p < end && **p == ',') {
		(*p)++;
		if (!read_count(p, end, ret_lines))
			return FALSE;
	}
	return *p < end && *(*p)++ == ' ';
}

static gboolean take_hunk(Scan *scan, const char *line, gsize size, GError **error)
{
	const char *p = line + strlen("@@ -"), *end = line + size;

	if (!read_range(&p, end, &scan->old_left) || p >= end || *p++ != '+' ||
	    !read_range(&p, end, &scan->new_left) || end - p < 2 || p[0] != '@' || p[1] != '@' ||
	    scan->old_left > MAX_HUNK_LINES || scan->new_left > MAX_HUNK_LINES) {
		g_autofree char *text = g_strndup(line, MIN(size, 80)), *shown = g_strescape(text, NULL);
		return spec_error_set(error, SPEC_ERROR_SYNTAX, "series", "'%s' is not the head of a hunk", shown);
	}
	scan->in_git_header = FALSE;
	return TRUE;
}

/* TRUE while the line belongs to the hunk. */
static gboolean in_hunk(Scan *scan, const char *line, gsize size)
{
	if (scan->old_left == 0 && scan->new_left == 0)
		return FALSE;

	char first = size ? *line : ' ';
	if (first == '-') {
		scan->old_left -= scan->old_left > 0;
	} else if (first == '+') {
		scan->new_left -= scan->new_left > 0;
	} else if (first == ' ' || first == '\t') {
		scan->old_left -= scan->old_left > 0;
		scan->new_left -= scan->new_left > 0;
	} else if (first != '\\') {
		scan->old_left = scan->new_left = 0;	/* cut short: git will say so */
		return FALSE;
	}
	return TRUE;
}

/* "--- x" is a header only with "+++ y" on the next line. */
static gboolean take_names(Scan *scan, const char *line, gsize size, GError **error)
{
	const char *before = scan->next, *plus;
	gsize plus_size;

	if (!next_line(scan, &plus, &plus_size))
		return TRUE;
	if (!starts(plus, plus_size, "+++ ")) {
		scan->next = before;
		return TRUE;
	}
	g_autofree char *from = read_name(line + 4, size - 4);
	g_autofree char *to = read_name(plus + 4, plus_size - 4);
	return add_path(scan, from, TRUE, error) && add_path(scan, to, TRUE, error);
}

static gboolean take_line(Scan *scan, const char *line, gsize size, GError **error)
{
	if (in_hunk(scan, line, size))
		return TRUE;
	if (starts(line, size, "diff --git ")) {
		scan->in_git_header = TRUE;
		return add_git_line(scan, line + 11, size - 11, error);
	}
	if (starts(line, size, "--- "))
		return take_names(scan, line, size, error);
	if (starts(line, size, "@@ -") && scan->files->len)
		return take_hunk(scan, line, size, error);
	return scan->in_git_header ? take_git_header(scan, line, size, error) : TRUE;
}

gboolean diff_scan(const char *body, gsize size, GPtrArray *files, GError **error)
{
	g_autoptr(GHashTable) seen = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);
	Scan scan = { .files = files, .seen = seen, .next = body, .end = body + size };
	const char *line;
	gsize length;

	while (next_line(&scan, &line, &length))
		if (!take_line(&scan, line, length, error))
			return FALSE;
	return TRUE;
}
