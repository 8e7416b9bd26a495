/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "host/files.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static gboolean give_reason(char **ret_reason, const char *path, int number)
{
	if (ret_reason)
		*ret_reason = g_strdup_printf("%s: %s", path, g_strerror(number));
	return FALSE;
}

/* Reads to the end or the limit; the errno of a failure, else 0. */
static int read_to_end(int fd, GString *text)
{
	char buffer[16384];
	ssize_t n;

	while (text->len < HOST_FILE_MAX_BYTES && (n = read(fd, buffer, sizeof(buffer))) != 0) {
		if (n < 0 && errno != EINTR)
			return errno;
		if (n > 0)
			g_string_append_len(text, buffer, n);
	}
	return 0;
}

gboolean host_file_read_raw(const char *root, const char *path, char **ret_text, char **ret_reason)
{
	g_autofree char *full = g_strconcat(root, path, NULL);
	g_autoptr(GString) text = g_string_new(NULL);
	int fd = open(full, O_RDONLY | O_CLOEXEC | O_NOCTTY);

	if (fd < 0)
		return give_reason(ret_reason, path, errno);
	int failed = read_to_end(fd, text);
	close(fd);
	if (failed)
		return give_reason(ret_reason, path, failed);
	*ret_text = g_utf8_make_valid(text->str, (gssize)strlen(text->str));
	return TRUE;
}

gboolean host_file_read(const char *root, const char *path, char **ret_text, char **ret_reason)
{
	if (!host_file_read_raw(root, path, ret_text, ret_reason))
		return FALSE;
	g_strstrip(*ret_text);
	return TRUE;
}

gboolean host_file_read_int(const char *root, const char *path, gint64 *ret_value, char **ret_reason)
{
	g_autofree char *text = NULL;
	char *end;

	if (!host_file_read(root, path, &text, ret_reason))
		return FALSE;
	gint64 value = g_ascii_strtoll(text, &end, 10);
	if (end == text) {
		if (ret_reason)
			*ret_reason = g_strdup_printf("%s: '%.40s' is no number", path, text);
		return FALSE;
	}
	*ret_value = value;
	return TRUE;
}

gboolean host_file_exists(const char *root, const char *path)
{
	g_autofree char *full = g_strconcat(root, path, NULL);

	return access(full, F_OK) == 0;
}

static int by_number(gconstpointer a, gconstpointer b)
{
	const char *left = *(char *const *)a, *right = *(char *const *)b;
	gsize digits_left = strcspn(left, "0123456789"), digits_right = strcspn(right, "0123456789");
	guint64 x = g_ascii_strtoull(left + digits_left, NULL, 10), y = g_ascii_strtoull(right + digits_right, NULL, 10);

	if (digits_left == digits_right && strncmp(left, right, digits_left) == 0 && x != y)
		return x < y ? -1 : 1;
	return strcmp(left, right);
}

GPtrArray *host_file_list(const char *root, const char *path, const char *prefix)
{
	g_autofree char *full = g_strconcat(root, path, NULL);
	g_autoptr(GDir) dir = g_dir_open(full, 0, NULL);
	GPtrArray *names = g_ptr_array_new_with_free_func(g_free);
	const char *name;

	while (dir && (name = g_dir_read_name(dir)))
		if (g_str_has_prefix(name, prefix))
			g_ptr_array_add(names, g_strdup(name));
	g_ptr_array_sort(names, by_number);
	return names;
}

gboolean host_file_write(const char *root, const char *path, const char *text, char **ret_reason)
{
	g_autofree char *full = g_strconcat(root, path, NULL);
	int fd = open(full, O_WRONLY | O_TRUNC | O_CLOEXEC | O_NOCTTY);
	size_t size = strlen(text);

	if (fd < 0)
		return give_reason(ret_reason, path, errno);
	ssize_t n;
	do
		n = write(fd, text, size);
	while (n < 0 && errno == EINTR);
	int failed = n == (ssize_t)size ? 0 : n < 0 ? errno : EIO;
	if (close(fd) != 0 && !failed)
		failed = errno;
	return failed ? give_reason(ret_reason, path, failed) : TRUE;
}

char *host_file_choice(const char *text)
{
	const char *open_bracket = strchr(text, '['), *end = open_bracket ? strchr(open_bracket, ']') : NULL;

	if (end)
		return g_strndup(open_bracket + 1, (gsize)(end - open_bracket - 1));
	return g_strstrip(g_strdup(text));
}
