/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "jobs/spec/event.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "jobs/spec/file.h"

struct EventLog {
	int fd;
	gint64 last_seq;
};

static gboolean io_error(GError **error, const char *what)
{
	int saved_errno = errno;

	g_set_error(error, SPEC_ERROR, SPEC_ERROR_IO, "cannot %s events.jsonl: %s", what,
		    g_strerror(saved_errno));
	return FALSE;
}

/* ---- reading ---- */

typedef struct {
	int fd;
	GByteArray *pending;	/* what is read and not yet given out */
	gint64 offset;		/* of pending's first byte */
	gint64 expect_seq;	/* 0: any */
} Reader;

static gboolean read_member_int(JsonObject *object, const char *name, gint64 *ret_value)
{
	JsonNode *node = json_object_get_member(object, name);

	if (!node || !JSON_NODE_HOLDS_VALUE(node) || json_node_get_value_type(node) != G_TYPE_INT64)
		return FALSE;
	*ret_value = json_node_get_int(node);
	return TRUE;
}

static const char *read_member_string(JsonObject *object, const char *name)
{
	JsonNode *node = json_object_get_member(object, name);

	if (!node || !JSON_NODE_HOLDS_VALUE(node) || json_node_get_value_type(node) != G_TYPE_STRING)
		return NULL;
	return json_node_get_string(node);
}

static gboolean take_line(Reader *reader, const char *line, gsize size, EventFunc func,
			  gpointer data, GError **error)
{
	g_autoptr(JsonObject) object = NULL;
	const char *type;
	gint64 seq, time_ns;

	if (!json_object_from_data(line, size, &object, error)) {
		g_prefix_error(error, "events.jsonl at byte %" G_GINT64_FORMAT ": ", reader->offset);
		return FALSE;
	}
	type = read_member_string(object, "type");
	if (!type || !read_member_int(object, "seq", &seq) ||
	    !read_member_int(object, "time_ns", &time_ns) || seq < 1 || seq > EVENT_MAX_EVENTS)
		return spec_error_set(error, SPEC_ERROR_SYNTAX, NULL,
				      "events.jsonl at byte %" G_GINT64_FORMAT
				      ": not an event with seq, time_ns and type", reader->offset);
	if (reader->expect_seq && seq != reader->expect_seq)
		return spec_error_set(error, SPEC_ERROR_SYNTAX, NULL,
				      "events.jsonl at byte %" G_GINT64_FORMAT
				      ": event %" G_GINT64_FORMAT " where %" G_GINT64_FORMAT
				      " was due", reader->offset, seq, reader->expect_seq);
	if (!func(seq, type, object, data, error))
		return FALSE;
	reader->expect_seq = seq + 1;
	return TRUE;
}

/* One more piece of the file; *ret_more is FALSE at its end. */
static gboolean fill(Reader *reader, gboolean *ret_more, GError **error)
{
	guint8 buffer[65536];
	ssize_t n;

	do {
		n = read(reader->fd, buffer, sizeof(buffer));
	} while (n < 0 && errno == EINTR);
	if (n < 0)
		return io_error(error, "read");
	if (reader->pending->len + (gsize)n > EVENT_MAX_LINE_BYTES + sizeof(buffer))
		return spec_error_set(error, SPEC_ERROR_LIMIT, NULL,
				      "events.jsonl at byte %" G_GINT64_FORMAT
				      ": a line longer than %d bytes", reader->offset,
				      EVENT_MAX_LINE_BYTES);
	g_byte_array_append(reader->pending, buffer, (guint)n);
	*ret_more = n > 0;
	return TRUE;
}

static gboolean read_events(Reader *reader, guint max_events, EventFunc func, gpointer data,
			    GError **error)
{
	gboolean more = TRUE;
	guint taken = 0;

	while (more) {
		gsize start = 0;
		const guint8 *end;

		if (!fill(reader, &more, error))
			return FALSE;
		while (reader->pending->len > start &&
		       (end = memchr(reader->pending->data + start, '\n', reader->pending->len - start))) {
			gsize size = (gsize)(end - (reader->pending->data + start));

			if (!take_line(reader, (const char *)reader->pending->data + start, size, func,
				       data, error))
				return FALSE;
			start += size + 1;
			reader->offset += (gint64)size + 1;
			if (max_events && ++taken == max_events)
				return TRUE;
		}
		g_byte_array_remove_range(reader->pending, 0, (guint)start);
	}
	return TRUE;
}

static gboolean was_cut(gint64 size, gint64 offset, GError **error)
{
	return spec_error_set(error, SPEC_ERROR_SYNTAX, NULL,
			      "events.jsonl has %" G_GINT64_FORMAT " bytes, and had at least %" G_GINT64_FORMAT, size, offset);
}

static gboolean check_size(int fd, gint64 offset, GError **error)
{
	off_t size = lseek(fd, 0, SEEK_END);

	if (size < 0)
		return io_error(error, "seek in");
	if (size < offset)
		return was_cut(size, offset, error);
	return lseek(fd, offset, SEEK_SET) >= 0 || io_error(error, "seek in");
}

gboolean event_read(const char *dir, gint64 *offset, guint max_events, EventFunc func,
		    gpointer data, GError **error)
{
	g_autofree char *path = g_build_filename(dir, "events.jsonl", NULL);
	g_autoptr(GByteArray) pending = g_byte_array_new();
	Reader reader = { .pending = pending, .offset = *offset };
	gboolean ok;

	reader.fd = open(path, O_RDONLY | O_CLOEXEC);
	if (reader.fd < 0)
		return errno == ENOENT ? *offset == 0 || was_cut(0, *offset, error) : io_error(error, "open");
	if (*offset == 0)
		reader.expect_seq = 1;
	ok = check_size(reader.fd, *offset, error) && read_events(&reader, max_events, func, data, error);
	close(reader.fd);
	*offset = reader.offset;
	return ok;
}

gboolean event_sync(const char *dir, GError **error)
{
	g_autofree char *path = g_build_filename(dir, "events.jsonl", NULL);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	gboolean ok;

	if (fd < 0)
		return io_error(error, "open");
	ok = fdatasync(fd) == 0 || io_error(error, "sync");
	close(fd);
	return ok;
}

/* ---- writing ---- */

static gboolean remember_seq(gint64 seq, const char *type G_GNUC_UNUSED,
			     JsonObject *object G_GNUC_UNUSED, gpointer data,
			     GError **error G_GNUC_UNUSED)
{
	*(gint64 *)data = seq;
	return TRUE;
}

EventLog *event_log_open(const char *dir, GError **error)
{
	g_autofree char *path = g_build_filename(dir, "events.jsonl", NULL);
	g_autoptr(EventLog) log = g_new0(EventLog, 1);
	gint64 offset = 0;

	log->fd = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
	if (log->fd < 0) {
		io_error(error, "open");
		return NULL;
	}
	if (!event_read(dir, &offset, 0, remember_seq, &log->last_seq, error))
		return NULL;
	if (ftruncate(log->fd, offset) != 0) {
		io_error(error, "cut");
		return NULL;
	}
	if (!file_sync_folder(dir, error))	/* its name, if it is new */
		return NULL;
	return g_steal_pointer(&log);
}

void event_log_close(EventLog *log)
{
	if (!log)
		return;
	if (log->fd >= 0)
		close(log->fd);
	g_free(log);
}

/* A line is whole or not there: what a failed write left is cut off again. */
static gboolean append_line(EventLog *log, const char *line, gsize size, GError **error)
{
	off_t before = lseek(log->fd, 0, SEEK_END);
	gsize done = 0;

	if (before < 0)
		return io_error(error, "seek in");
	while (done < size) {
		ssize_t n = write(log->fd, line + done, size - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0) {
			io_error(error, "append to");
			if (ftruncate(log->fd, before) != 0)
				g_prefix_error(error, "and an unfinished line stays: ");
			return FALSE;
		}
		done += (gsize)n;
	}
	return TRUE;
}

gboolean event_log_append(EventLog *log, const char *type, JsonObject *members, gboolean durable,
			  GError **error)
{
	g_autoptr(JsonObject) object = members ? members : json_object_new();
	g_autofree char *line = NULL, *text = NULL;

	if (log->last_seq >= EVENT_MAX_EVENTS)
		return spec_error_set(error, SPEC_ERROR_LIMIT, NULL, "more than %d events",
				      EVENT_MAX_EVENTS);
	json_object_set_int_member(object, "seq", log->last_seq + 1);
	json_object_set_int_member(object, "time_ns", g_get_real_time() * 1000);
	json_object_set_string_member(object, "type", type);
	line = json_object_to_line(object);
	text = g_strconcat(line, "\n", NULL);
	if (!append_line(log, text, strlen(text), error))
		return FALSE;
	log->last_seq++;
	if (durable && fsync(log->fd) != 0)
		return io_error(error, "sync");
	return TRUE;
}
