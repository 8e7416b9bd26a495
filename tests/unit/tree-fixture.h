/* SPDX-License-Identifier: GPL-2.0-or-later */
/* For tests of the build stage: small files, and the real git. */
#pragma once

#include <glib/gstdio.h>

#define ARGV(...) ((const char *const[]){ __VA_ARGS__, NULL })

static void write_text(const char *dir, const char *name, const char *text)
{
	g_autofree char *path = g_build_filename(dir, name, NULL), *folder = g_path_get_dirname(path);

	g_assert_cmpint(g_mkdir_with_parents(folder, 0755), ==, 0);
	g_assert_true(g_file_set_contents(path, text, -1, NULL));
}

static char *read_text(const char *dir, const char *name)
{
	g_autofree char *path = g_build_filename(dir, name, NULL);
	char *text = NULL;

	g_file_get_contents(path, &text, NULL, NULL);
	return text;
}
