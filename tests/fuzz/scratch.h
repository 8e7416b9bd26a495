/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A folder of this process for targets that read files, and what they may find in it. */
#pragma once

#include <glib/gstdio.h>

static inline const char *scratch_folder(void)
{
	static char *path;

	if (!path)
		path = g_dir_make_tmp("regrlab-fuzz-XXXXXX", NULL);
	g_assert_nonnull(path);
	return path;
}

static inline void scratch_write(const char *name, const char *data, gsize size)
{
	g_autofree char *path = g_build_filename(scratch_folder(), name, NULL);

	/* no fsync: it would be most of the time that a target takes. That way GLib writes into what is there, and does not cut it */
	g_unlink(path);
	g_assert_true(g_file_set_contents_full(path, size ? data : "", (gssize)size, G_FILE_SET_CONTENTS_NONE, 0644, NULL));
}
