/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "jobs/measure-samples.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "jobs/spec/file.h"

#define BLOCK_BYTES	(64 * 1024)

static gboolean io_error(GError **error, const char *what)
{
	return spec_error_set(error, SPEC_ERROR_IO, NULL, "cannot %s samples.jsonl: %s", what, g_strerror(errno));
}

static int open_samples(const char *dir, int flags)
{
	g_autofree char *path = g_build_filename(dir, "samples.jsonl", NULL);

	return open(path, flags | O_CREAT | O_CLOEXEC, 0644);
}

/* Where the line after the given number of lines begins; -1 if there are fewer, or they cannot be read. */
static off_t offset_of_line(int fd, gint64 lines)
{
	g_autofree char *block = g_malloc(BLOCK_BYTES);
	off_t offset = 0;

	while (lines > 0) {
		ssize_t got = pread(fd, block, BLOCK_BYTES, offset);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return -1;
		for (ssize_t i = 0; i < got; i++)
			if (block[i] == '\n' && --lines == 0)
				return offset + i + 1;
		offset += got;
	}
	return offset;
}

gboolean measure_samples_cut(const char *dir, gint64 lines, GError **error)
{
	int fd = open_samples(dir, O_RDWR);

	if (fd < 0)
		return io_error(error, "open");
	off_t end = offset_of_line(fd, lines);
	gboolean cut = end >= 0 && ftruncate(fd, end) == 0 && fsync(fd) == 0;
	if (end < 0)
		spec_error_set(error, SPEC_ERROR_VALUE, NULL, "samples.jsonl has fewer than the %" G_GINT64_FORMAT
			       " lines that the events count", lines);
	else if (!cut)
		io_error(error, "cut");
	close(fd);
	return cut;
}

static gboolean write_all(int fd, const char *data, gsize size)
{
	while (size > 0) {
		ssize_t written = write(fd, data, size);
		if (written < 0 && errno == EINTR)
			continue;
		if (written < 0)
			return FALSE;
		data += written;
		size -= (gsize)written;
	}
	return TRUE;
}

gboolean measure_samples_append(const char *dir, const JobSpec *spec, const char *host, JobClock clock, int boot, int pair,
				SampleArm arm, const BootResult *result, GError **error)
{
	g_autoptr(GString) text = g_string_new(NULL);

	for (guint i = 0; i < result->samples->len; i++) {
		const BootSample *from = &g_array_index(result->samples, BootSample, i);
		Sample sample = {
			.job = spec->job,
			.arm = arm,
			.boot = boot,
			.pair = pair,
			.host = host,
			.clock = job_clock_name(clock),
			.benchmark = from->run->set->benchmark,
			.params = from->run->set->params,
			.run = from->run->run,
			.pass = from->pass,
			.metric = from->metric->name,
			.unit = from->metric->unit,
			.better = from->metric->higher_is_better ? SAMPLE_BETTER_HIGHER : SAMPLE_BETTER_LOWER,
			.value = from->value,
			.boot_start_ns = result->start_ns,
			.valid = *result->reason == '\0',
			.reason = result->reason,
		};
		if (!sample_check(&sample, error))
			return FALSE;
		sample_append_json(text, &sample);
		g_string_append_c(text, '\n');
	}
	int fd = open_samples(dir, O_WRONLY | O_APPEND);
	gboolean written = fd >= 0 && write_all(fd, text->str, text->len) && fsync(fd) == 0;
	if (!written)
		io_error(error, "write");
	if (fd >= 0)
		close(fd);
	return written;
}

SampleTable *measure_samples_load(const char *dir, gint64 skip, GError **error)
{
	g_autofree char *path = g_build_filename(dir, "samples.jsonl", NULL);
	g_autofree char *text = NULL;
	gsize size;

	if (!file_read(path, SAMPLE_TEXT_MAX_BYTES, &text, &size, error))
		return NULL;
	const char *start = text, *end = text + size;
	for (; skip > 0 && start < end; skip--)
		start += strcspn(start, "\n") + 1;
	return sample_table_from_jsonl(start, (gsize)(end - start), NULL, error);
}
