/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "jobs/stats/value-file.h"

#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "jobs/spec/file.h"

#define FILE_MAX_BYTES (1024 * 1024)
#define KEEP_FILES 2000u      /* in the folder; what is more is removed when it is old enough */
#define KEEP_S (24 * 3600)

/* The inputs' digest, the values, and a digest of both. */
static char *contents(const char *digest, const double *values, gsize count)
{
	g_autoptr(GString) text = g_string_new(digest);
	g_autofree char *sum = NULL;

	g_string_append_c(text, '\n');
	for (gsize i = 0; i < count; i++)
		g_string_append_printf(text, "%a\n", values[i]);
	sum = g_compute_checksum_for_string(G_CHECKSUM_SHA256, text->str, -1);
	g_string_append_printf(text, "%s\n", sum);
	return g_string_free(g_steal_pointer(&text), FALSE);
}

gboolean stats_values_read(const char *dir, const char *inputs, gsize count, double *ret_values)
{
	g_autofree char *digest = g_compute_checksum_for_string(G_CHECKSUM_SHA256, inputs, -1);
	g_autofree char *path = dir ? g_build_filename(dir, digest, NULL) : NULL, *text = NULL, *again = NULL;
	g_autofree double *values = g_new(double, count);
	const char *line;

	if (!path || !file_read(path, FILE_MAX_BYTES, &text, NULL, NULL))
		return FALSE;
	line = strchr(text, '\n');
	for (gsize i = 0; i < count && line; i++) {
		values[i] = g_ascii_strtod(line + 1, NULL);
		line = strchr(line + 1, '\n');
	}
	/* what was read is right if it would be written like this */
	if (line)
		again = contents(digest, values, count);
	if (g_strcmp0(again, text) != 0)
		return FALSE;
	memcpy(ret_values, values, count * sizeof *values);
	return TRUE;
}

/* Each job has a schedule of its own, so old files are of no more use. */
static void prune(const char *dir)
{
	g_autoptr(GDir) folder = g_dir_open(dir, 0, NULL);
	g_autoptr(GPtrArray) names = g_ptr_array_new_with_free_func(g_free);
	const char *name;

	while (folder && (name = g_dir_read_name(folder)))
		g_ptr_array_add(names, g_build_filename(dir, name, NULL));
	for (guint i = 0; names->len > KEEP_FILES && i < names->len; i++) {
		struct stat status;

		if (stat(g_ptr_array_index(names, i), &status) == 0 && time(NULL) - status.st_mtime > KEEP_S)
			g_unlink(g_ptr_array_index(names, i));
	}
}

void stats_values_write(const char *dir, const char *inputs, const double *values, gsize count)
{
	g_autofree char *digest = g_compute_checksum_for_string(G_CHECKSUM_SHA256, inputs, -1);
	g_autofree char *path = NULL, *whole = NULL;

	if (!dir || g_mkdir_with_parents(dir, 0755) != 0)
		return;
	path = g_build_filename(dir, digest, NULL);
	whole = contents(digest, values, count);
	file_write(path, whole, strlen(whole), NULL);
	prune(dir);
}
