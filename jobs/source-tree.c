/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "jobs/source-tree.h"

#include <string.h>

#include "jobs/spec/file.h"

#define MAX_BYTES	65536
#define MAX_OBJECTS	8	/* folders that borrow from each other */

void tree_folders_free(TreeFolders *folders)
{
	if (!folders)
		return;
	g_free(folders->link);
	g_free(folders->git);
	g_free(folders->common);
	g_strfreev(folders->objects);
	g_free(folders);
}

/* The first line of a file as a path, as seen from a folder; NULL: no such file. */
static char *read_path(const char *folder, const char *name, const char *prefix)
{
	g_autofree char *path = g_build_filename(folder, name, NULL), *text = NULL;

	if (!file_read(path, MAX_BYTES, &text, NULL, NULL) || !g_str_has_prefix(text, prefix))
		return NULL;
	text[strcspn(text, "\n")] = 0;
	return g_canonicalize_filename(text + strlen(prefix), folder);
}

static void add_objects(GPtrArray *objects, const char *folder)
{
	g_autofree char *path = g_build_filename(folder, "info/alternates", NULL), *text = NULL;

	if (objects->len >= MAX_OBJECTS)
		return;
	g_ptr_array_add(objects, g_strdup(folder));
	if (!file_read(path, MAX_BYTES, &text, NULL, NULL))
		return;
	g_auto(GStrv) lines = g_strsplit(text, "\n", 0);
	for (char **line = lines; *line; line++) {
		g_autofree char *other = **line && **line != '#' ? g_canonicalize_filename(*line, folder) : NULL;
		if (other)
			add_objects(objects, other);
	}
}

gboolean tree_folders(const char *tree, TreeFolders **ret_folders, GError **error)
{
	g_autoptr(TreeFolders) folders = g_new0(TreeFolders, 1);
	g_autoptr(GPtrArray) objects = g_ptr_array_new();
	g_autofree char *inner = g_build_filename(tree, ".git", NULL);

	folders->git = g_file_test(inner, G_FILE_TEST_IS_DIR) ? g_strdup(inner) : read_path(tree, ".git", "gitdir: ");
	if (!folders->git)
		folders->git = g_strdup(tree);
	if (g_file_test(inner, G_FILE_TEST_IS_REGULAR))
		folders->link = g_steal_pointer(&inner);
	folders->common = read_path(folders->git, "commondir", "");
	if (!folders->common)
		folders->common = g_strdup(folders->git);

	g_autofree char *first = g_build_filename(folders->common, "objects", NULL);
	if (!g_file_test(first, G_FILE_TEST_IS_DIR))
		return spec_error_set(error, SPEC_ERROR_IO, NULL, "%s is no git repository", tree);
	add_objects(objects, first);
	g_ptr_array_add(objects, NULL);
	folders->objects = (char **)g_ptr_array_free(g_steal_pointer(&objects), FALSE);
	*ret_folders = g_steal_pointer(&folders);
	return TRUE;
}

void tree_folders_show_objects(const TreeFolders *folders, SandboxView *view)
{
	for (char **path = folders->objects; *path; path++)
		sandbox_view_add(view, *path, NULL, FALSE);
}

void tree_folders_show_all(const TreeFolders *folders, SandboxView *view, gboolean writable)
{
	for (char **path = folders->objects + 1; *path; path++)
		sandbox_view_add(view, *path, NULL, FALSE);
	sandbox_view_add(view, folders->common, NULL, writable);
	if (folders->link)
		sandbox_view_add(view, folders->link, NULL, FALSE);
	if (!g_str_equal(folders->git, folders->common))
		sandbox_view_add(view, folders->git, NULL, writable);
}
