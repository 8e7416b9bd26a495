/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "host/record.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "host/files.h"

#define HEADER	"regrlab-host 1\n"

G_DEFINE_QUARK(regrlab-host-error, host_error)

struct HostRecord {
	char *path, *folder;
	int folder_fd;		/* locked */
	int fd;			/* of the record, appending; -1: there is none yet */
	char *boot_id, *written_boot;
	GPtrArray *changes;
};

static gboolean io_error(GError **error, const char *what, const char *path)
{
	g_set_error(error, HOST_ERROR, HOST_ERROR_RECORD, "cannot %s %s: %s", what, path, g_strerror(errno));
	return FALSE;
}

static void change_free(gpointer data)
{
	HostChange *change = data;

	g_free(change->path);
	g_free(change->before);
	g_free(change->set);
	g_free(change);
}

void host_record_close(HostRecord *record)
{
	if (!record)
		return;
	if (record->fd >= 0)
		close(record->fd);
	if (record->folder_fd >= 0)
		close(record->folder_fd);
	g_clear_pointer(&record->changes, g_ptr_array_unref);
	g_free(record->path);
	g_free(record->folder);
	g_free(record->boot_id);
	g_free(record->written_boot);
	g_free(record);
}

/* ---- lines ---- */

static HostChange *find(const HostRecord *record, const char *path)
{
	for (guint i = 0; i < record->changes->len; i++) {
		HostChange *change = g_ptr_array_index(record->changes, i);
		if (g_str_equal(change->path, path))
			return change;
	}
	return NULL;
}

static void remember(HostRecord *record, const char *path, const char *before, const char *set)
{
	HostChange *change = find(record, path);

	if (!change) {
		change = g_new0(HostChange, 1);
		change->path = g_strdup(path);
		change->before = g_strdup(before);
		g_ptr_array_add(record->changes, change);
	}
	g_free(change->set);
	change->set = g_strdup(set);
}

static char *line_of(const char *path, const char *before, const char *set)
{
	/* only what would break lines and columns; the rest may be any UTF-8 */
	g_autofree char *old = g_strescape(before, NULL), *new = g_strescape(set, NULL);

	return g_strdup_printf("set\t%s\t%s\t%s\n", path, old, new);
}

static gboolean take_line(HostRecord *record, const char *line, GError **error)
{
	g_auto(GStrv) parts = g_strsplit(line, "\t", -1);

	if (g_str_has_prefix(line, "boot ")) {
		g_free(record->written_boot);
		record->written_boot = g_strdup(line + strlen("boot "));
		return TRUE;
	}
	if (g_strv_length(parts) != 4 || !g_str_equal(parts[0], "set") || parts[1][0] != '/' || strstr(parts[1], "/../")) {
		g_set_error(error, HOST_ERROR, HOST_ERROR_RECORD, "%s: '%.60s' is no line of a record", record->path, line);
		return FALSE;
	}
	g_autofree char *before = g_strcompress(parts[2]), *set = g_strcompress(parts[3]);
	remember(record, parts[1], before, set);
	return TRUE;
}

/* Reads what is there; *ret_whole is how many bytes of it are whole lines. */
static gboolean load(HostRecord *record, gsize *ret_whole, GError **error)
{
	g_autofree char *text = NULL, *reason = NULL;

	*ret_whole = 0;
	if (!host_file_read_raw("", record->path, &text, &reason)) {
		g_set_error(error, HOST_ERROR, HOST_ERROR_RECORD, "%s", reason);
		return FALSE;
	}
	const char *end = strrchr(text, '\n');
	*ret_whole = end ? (gsize)(end - text) + 1 : 0;
	text[*ret_whole] = '\0';
	if (!*text)
		return TRUE;
	if (!g_str_has_prefix(text, HEADER)) {
		g_set_error(error, HOST_ERROR, HOST_ERROR_RECORD, "%s is no record of regrlab-host", record->path);
		return FALSE;
	}
	g_auto(GStrv) lines = g_strsplit(text + strlen(HEADER), "\n", -1);
	for (char **line = lines; *line; line++)
		if (**line && !take_line(record, *line, error))
			return FALSE;
	return TRUE;
}

static gboolean append(int fd, const char *text, const char *path, GError **error)
{
	size_t size = strlen(text);

	while (size > 0) {
		ssize_t n = write(fd, text, size);
		if (n < 0 && errno != EINTR)
			return io_error(error, "write", path);
		if (n > 0) {
			text += n;
			size -= (size_t)n;
		}
	}
	return fsync(fd) == 0 || io_error(error, "sync", path);
}

/* ---- opening ---- */

static gboolean open_folder(HostRecord *record, GError **error)
{
	if (g_mkdir_with_parents(record->folder, 0755) != 0)
		return io_error(error, "make", record->folder);
	record->folder_fd = open(record->folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (record->folder_fd < 0)
		return io_error(error, "open", record->folder);
	if (flock(record->folder_fd, LOCK_EX | LOCK_NB) == 0)
		return TRUE;
	g_set_error(error, HOST_ERROR, HOST_ERROR_BUSY, "%s is in use: another prepare or restore is at work", record->folder);
	return FALSE;
}

static gboolean open_file(HostRecord *record, GError **error)
{
	gsize whole;

	record->fd = open(record->path, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW);
	if (record->fd < 0)
		return errno == ENOENT || io_error(error, "open", record->path);
	if (!load(record, &whole, error))
		return FALSE;
	return ftruncate(record->fd, (off_t)whole) == 0 || io_error(error, "cut", record->path);
}

HostRecord *host_record_open(const char *path, const char *boot_id, GError **error)
{
	g_autoptr(HostRecord) record = g_new0(HostRecord, 1);

	record->fd = record->folder_fd = -1;
	record->path = g_strdup(path);
	record->folder = g_path_get_dirname(path);
	record->boot_id = g_strdup(boot_id);
	record->changes = g_ptr_array_new_with_free_func(change_free);
	return open_folder(record, error) && open_file(record, error) ? g_steal_pointer(&record) : NULL;
}

const GPtrArray *host_record_changes(const HostRecord *record)
{
	return record->changes;
}

gboolean host_record_is_stale(const HostRecord *record)
{
	return record->changes->len && g_strcmp0(record->written_boot, record->boot_id) != 0;
}

/* ---- changing ---- */

static gboolean sync_folder(HostRecord *record, GError **error)
{
	return fsync(record->folder_fd) == 0 || io_error(error, "sync", record->folder);
}

/* A new file with the changes that are remembered, in the place of the old one. */
static gboolean write_anew(HostRecord *record, GError **error)
{
	g_autofree char *tmp = g_strconcat(record->path, ".new", NULL);
	g_autoptr(GString) text = g_string_new(HEADER);
	int fd = open(tmp, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0644);

	if (fd < 0)
		return io_error(error, "create", tmp);
	g_string_append_printf(text, "boot %s\n", record->boot_id);
	for (guint i = 0; i < record->changes->len; i++) {
		const HostChange *change = g_ptr_array_index(record->changes, i);
		g_autofree char *line = line_of(change->path, change->before, change->set);
		g_string_append(text, line);
	}
	if (!append(fd, text->str, tmp, error)) {
		close(fd);
		return FALSE;
	}
	if (rename(tmp, record->path) != 0) {
		close(fd);
		return io_error(error, "replace", record->path);
	}
	if (record->fd >= 0)
		close(record->fd);
	record->fd = fd;
	g_free(record->written_boot);
	record->written_boot = g_strdup(record->boot_id);
	return sync_folder(record, error);
}

gboolean host_record_intend(HostRecord *record, const char *path, const char *before, const char *set, GError **error)
{
	const HostChange *known = find(record, path);
	g_autofree char *line = line_of(path, known ? known->before : before, set);

	g_assert(!host_record_is_stale(record));
	if (known && g_str_equal(known->set, set))
		return TRUE;
	/* the first, or after a death before the header was whole */
	if ((record->fd < 0 || !record->written_boot) && !write_anew(record, error))
		return FALSE;
	if (!append(record->fd, line, record->path, error))
		return FALSE;
	remember(record, path, before, set);
	return TRUE;
}

gboolean host_record_rewrite(HostRecord *record, gboolean (*keep)(const HostChange *change, gpointer user), gpointer user,
			     GError **error)
{
	for (guint i = record->changes->len; i-- > 0;)
		if (!keep(g_ptr_array_index(record->changes, i), user))
			g_ptr_array_remove_index(record->changes, i);
	return write_anew(record, error);
}

gboolean host_record_forget(HostRecord *record, GError **error)
{
	if (record->fd < 0)
		return TRUE;
	if (unlink(record->path) != 0)
		return io_error(error, "remove", record->path);
	close(record->fd);
	record->fd = -1;
	g_ptr_array_set_size(record->changes, 0);
	return sync_folder(record, error);
}
