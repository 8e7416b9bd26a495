/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "jobs/spec/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "jobs/spec/json-text.h"

static gboolean io_error(GError **error, const char *what, const char *path)
{
	int saved_errno = errno;

	g_set_error(error, SPEC_ERROR, SPEC_ERROR_IO, "cannot %s %s: %s", what, path,
		    g_strerror(saved_errno));
	return FALSE;
}

static gboolean read_all(int fd, const char *path, gsize max_bytes, GByteArray *bytes,
			 GError **error)
{
	guint8 buffer[65536];
	ssize_t n;

	while ((n = read(fd, buffer, sizeof(buffer))) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return io_error(error, "read", path);
		if (bytes->len + (gsize)n > max_bytes)
			return spec_error_set(error, SPEC_ERROR_LIMIT, NULL,
					      "%s is larger than %" G_GSIZE_FORMAT " bytes", path,
					      max_bytes);
		g_byte_array_append(bytes, buffer, (guint)n);
	}
	return TRUE;
}

gboolean file_read_fd(int fd, const char *path, gsize max_bytes, char **ret_data, gsize *ret_size,
		      GError **error)
{
	g_autoptr(GByteArray) bytes = g_byte_array_new();
	gsize size;

	if (!read_all(fd, path, max_bytes, bytes, error))
		return FALSE;
	size = bytes->len;
	g_byte_array_append(bytes, (const guint8 *)"", 1);
	*ret_data = (char *)g_byte_array_free(g_steal_pointer(&bytes), FALSE);
	if (ret_size)
		*ret_size = size;
	return TRUE;
}

gboolean file_read(const char *path, gsize max_bytes, char **ret_data, gsize *ret_size,
		   GError **error)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	gboolean ok;

	if (fd < 0)
		return io_error(error, "open", path);
	ok = file_read_fd(fd, path, max_bytes, ret_data, ret_size, error);
	close(fd);
	return ok;
}

static gboolean write_all(int fd, const char *data, gsize size)
{
	while (size > 0) {
		ssize_t n = write(fd, data, size);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return FALSE;
		data += n;
		size -= (gsize)n;
	}
	return TRUE;
}

gboolean file_sync_folder(const char *folder, GError **error)
{
	int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	gboolean ok;

	if (fd < 0)
		return io_error(error, "open", folder);
	ok = fsync(fd) == 0 || io_error(error, "sync", folder);
	close(fd);
	return ok;
}

gboolean file_write(const char *path, const char *data, gsize size, GError **error)
{
	g_autofree char *tmp = g_strconcat(path, ".tmp", NULL), *folder = g_path_get_dirname(path);
	int fd = open(tmp, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);

	if (fd < 0)
		return io_error(error, "create", tmp);
	if (!write_all(fd, data, size) || fsync(fd) != 0) {
		io_error(error, "write", tmp);
		close(fd);
		unlink(tmp);
		return FALSE;
	}
	if (close(fd) != 0 || rename(tmp, path) != 0)
		return io_error(error, "write", path);
	return file_sync_folder(folder, error);
}

/* The four digits of an escape such as \u00e9 at text; -1: it is none. */
static int escape_value(const char *text, gsize size)
{
	int value = 0;

	if (size < 6 || text[0] != '\\' || text[1] != 'u')
		return -1;
	for (int i = 2; i < 6; i++) {
		if (!g_ascii_isxdigit(text[i]))
			return -1;
		value = value * 16 + g_ascii_xdigit_value(text[i]);
	}
	return value;
}

/* How long the escape at text is; 0: half of a surrogate pair, which is no character. */
static gsize escape_size(const char *text, gsize size)
{
	int value = escape_value(text, size), second;

	if (value < 0xd800 || value > 0xdfff)
		return 2;
	second = value < 0xdc00 ? escape_value(text + 6, size - 6) : -1;
	return second >= 0xdc00 && second <= 0xdfff ? 12 : 0;
}

/*
 * What json-glib's parser must not get. It calls itself for each bracket: how
 * many it will meet is looked at before. It takes comments and single quotes,
 * which are not JSON and in which brackets could hide. And it makes text that
 * is not UTF-8 of halves of surrogate pairs.
 */
static gboolean is_sound(const char *data, gsize size)
{
	gboolean in_string = FALSE;
	int depth = 0;

	for (gsize i = 0, step; i < size; i += step) {
		step = in_string && data[i] == '\\' ? escape_size(data + i, size - i) : 1;
		if (!step)
			return FALSE;
		if (data[i] == '"')
			in_string = !in_string;
		else if (in_string)
			continue;
		else if (strchr("'/#", data[i]) ||
			 ((data[i] == '[' || data[i] == '{') && ++depth > JSON_MAX_DEPTH))
			return FALSE;
		else if (data[i] == ']' || data[i] == '}')
			depth--;
	}
	return TRUE;
}

gboolean json_object_from_data(const char *data, gsize size, JsonObject **ret_object,
			       GError **error)
{
	g_autoptr(JsonParser) parser = json_parser_new_immutable();
	g_autoptr(GError) problem = NULL;
	JsonNode *root;

	if (size > G_MAXSSIZE || memchr(data, 0, size) || !g_utf8_validate(data, (gssize)size, NULL))
		return spec_error_set(error, SPEC_ERROR_SYNTAX, NULL, "not UTF-8 text");
	if (!is_sound(data, size))
		return spec_error_set(error, SPEC_ERROR_SYNTAX, NULL,
				      "not JSON: brackets deeper than %d, half a character, or quotes or comments of another language",
				      JSON_MAX_DEPTH);
	if (!json_parser_load_from_data(parser, data, (gssize)size, &problem))
		return spec_error_set(error, SPEC_ERROR_SYNTAX, NULL, "not JSON: %s",
				      problem->message);
	root = json_parser_get_root(parser);
	if (!root || !JSON_NODE_HOLDS_OBJECT(root))
		return spec_error_set(error, SPEC_ERROR_SYNTAX, NULL, "not a JSON object");
	*ret_object = json_node_dup_object(root);
	return TRUE;
}

static int by_name(gconstpointer a, gconstpointer b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

char **file_names(const char *folder, const char *suffix, GError **error)
{
	g_autoptr(GError) problem = NULL;
	g_autoptr(GDir) dir = g_dir_open(folder, 0, &problem);
	g_autoptr(GPtrArray) names = g_ptr_array_new();

	if (!dir) {
		spec_error_set(error, SPEC_ERROR_IO, NULL, "%s", problem->message);
		return NULL;
	}
	for (const char *name; (name = g_dir_read_name(dir));)
		if (g_str_has_suffix(name, suffix) && *name != '.')
			g_ptr_array_add(names, g_strndup(name, strlen(name) - strlen(suffix)));
	g_ptr_array_sort(names, by_name);
	g_ptr_array_add(names, NULL);
	return (char **)g_ptr_array_free(g_steal_pointer(&names), FALSE);
}

char *json_object_to_line(JsonObject *object)
{
	g_autoptr(JsonNode) node = json_node_new(JSON_NODE_OBJECT);

	json_node_set_object(node, object);
	return json_text(node, FALSE);
}

gboolean file_read_json(const char *path, gsize max_bytes, JsonObject **ret_object, GError **error)
{
	g_autofree char *data = NULL;
	gsize size;

	if (!file_read(path, max_bytes, &data, &size, error))
		return FALSE;
	if (json_object_from_data(data, size, ret_object, error))
		return TRUE;
	g_prefix_error(error, "%s: ", path);
	return FALSE;
}

gboolean file_write_json(const char *path, JsonObject *object, GError **error)
{
	g_autofree char *line = json_object_to_line(object);
	g_autofree char *text = g_strconcat(line, "\n", NULL);

	return file_write(path, text, strlen(text), error);
}
