/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "jobs/spec/file.h"
#include "jobs/stats/boundary.h"

#define FILE_MAX_BYTES (1024 * 1024)
#define KEEP_FILES 2000u      /* in the folder; what is more is removed when it is old enough */
#define KEEP_S (24 * 3600)

/* All that goes in, as text. */
static char *inputs(const SampleArm *arm, const gint64 *start_ns, const StatsLooks *looks, const double *alphas,
		    gsize alpha_count, guint paths, gint64 seed)
{
	GString *text = g_string_new("regrlab-boundary 1\n");

	g_string_append_printf(text, "paths %u seed %" G_GINT64_FORMAT "\n", paths, seed);
	for (gsize k = 0; k < looks->count; k++)
		g_string_append_printf(text, "look %zu %a\n", looks->boots[k], looks->fraction[k]);
	for (gsize j = 0; j < alpha_count; j++)
		g_string_append_printf(text, "alpha %a\n", alphas[j]);
	for (gsize i = 0; i < looks->boots[looks->count - 1]; i++)
		g_string_append_printf(text, "boot %c %" G_GINT64_FORMAT "\n", arm[i] == SAMPLE_ARM_BASE ? 'A' : 'B',
				       start_ns[i] - start_ns[0]);
	return g_string_free(text, FALSE);
}

/* The inputs' digest, the values, and a digest of both. */
static char *contents(const char *digest, const double *p, gsize count)
{
	g_autoptr(GString) text = g_string_new(digest);
	g_autofree char *sum = NULL;

	g_string_append_c(text, '\n');
	for (gsize i = 0; i < count; i++)
		g_string_append_printf(text, "%a\n", p[i]);
	sum = g_compute_checksum_for_string(G_CHECKSUM_SHA256, text->str, -1);
	g_string_append_printf(text, "%s\n", sum);
	return g_string_free(g_steal_pointer(&text), FALSE);
}

static gboolean read_values(const char *path, const char *digest, gsize count, double *ret_p)
{
	g_autofree char *text = NULL, *again = NULL;
	g_autofree double *p = g_new(double, count);
	const char *line;

	if (!file_read(path, FILE_MAX_BYTES, &text, NULL, NULL))
		return FALSE;
	line = strchr(text, '\n');
	for (gsize i = 0; i < count && line; i++) {
		p[i] = g_ascii_strtod(line + 1, NULL);
		line = strchr(line + 1, '\n');
	}
	/* what was read is right if it would be written like this */
	if (line)
		again = contents(digest, p, count);
	if (g_strcmp0(again, text) != 0)
		return FALSE;
	memcpy(ret_p, p, count * sizeof *p);
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

void stats_boundary_cached(const char *dir, const SampleArm *arm, const gint64 *start_ns, const StatsLooks *looks,
			   const double *alphas, gsize alpha_count, guint paths, gint64 seed, double *ret_p)
{
	g_autofree char *text = inputs(arm, start_ns, looks, alphas, alpha_count, paths, seed);
	g_autofree char *digest = g_compute_checksum_for_string(G_CHECKSUM_SHA256, text, -1);
	g_autofree char *path = dir ? g_build_filename(dir, digest, NULL) : NULL, *whole = NULL;
	gsize count = alpha_count * looks->count;

	if (path && read_values(path, digest, count, ret_p))
		return;
	stats_boundary(arm, start_ns, looks, alphas, alpha_count, paths, seed, ret_p);
	if (!path || g_mkdir_with_parents(dir, 0755) != 0)
		return;
	whole = contents(digest, ret_p, count);
	file_write(path, whole, strlen(whole), NULL);
	prune(dir);
}
