/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/backup.h"

#include <errno.h>
#include <gio/gio.h>
#include <string.h>
#include <sys/stat.h>

#include "db/backup.h"
#include "jobs/spec/file.h"

static gboolean io_error(GError **error, const char *what, const char *path)
{
	g_set_error(error, CONFIG_ERROR, CONFIG_ERROR_IO, "cannot %s %s: %s", what, path, g_strerror(errno));
	return FALSE;
}

static gboolean make_folder(const char *path, GError **error)
{
	return g_mkdir_with_parents(path, 0755) == 0 || io_error(error, "make", path);
}

static gboolean make_target(const char *path, GError **error)
{
	g_autoptr(GDir) there = NULL;

	if (!make_folder(path, error))
		return FALSE;
	there = g_dir_open(path, 0, error);
	if (!there)
		return FALSE;
	if (!g_dir_read_name(there))
		return TRUE;
	g_set_error(error, CONFIG_ERROR, CONFIG_ERROR_IO, "%s is not empty", path);
	return FALSE;
}

/* A file that is gone by now, or that is a link or the like, is none. */
static gboolean copy_file(const char *from_dir, const char *to_dir, const char *name, GError **error)
{
	g_autofree char *from = g_build_filename(from_dir, name, NULL), *to = g_build_filename(to_dir, name, NULL);
	g_autoptr(GFile) source = g_file_new_for_path(from), target = g_file_new_for_path(to);
	g_autoptr(GError) problem = NULL;
	struct stat status;

	if (lstat(from, &status) != 0 || !S_ISREG(status.st_mode))
		return TRUE;
	if (g_file_copy(source, target, G_FILE_COPY_NOFOLLOW_SYMLINKS | G_FILE_COPY_ALL_METADATA, NULL, NULL, NULL, &problem) ||
	    g_error_matches(problem, G_IO_ERROR, G_IO_ERROR_NOT_FOUND))
		return TRUE;
	g_propagate_prefixed_error(error, g_steal_pointer(&problem), "%s: ", from);
	return FALSE;
}

static gboolean copy_files(const char *from, const char *to, const char *const *but, GError **error)
{
	g_autoptr(GDir) dir = g_dir_open(from, 0, NULL);
	const char *name;

	if (!make_folder(to, error))
		return FALSE;
	while (dir && (name = g_dir_read_name(dir)))
		if (!g_strv_contains(but, name) && !g_str_has_suffix(name, ".tmp") && !copy_file(from, to, name, error))
			return FALSE;
	return TRUE;
}

static gboolean copy_run(const char *from, const char *to, GError **error)
{
	static const char *const first[] = { "events.jsonl", "samples.jsonl", NULL }, *const but[] = {
		"events.jsonl", "samples.jsonl", "lock", NULL };
	g_autofree char *from_artifacts = g_build_filename(from, "artifacts", NULL);
	g_autofree char *to_artifacts = g_build_filename(to, "artifacts", NULL);

	if (!make_folder(to, error))
		return FALSE;
	for (const char *const *name = first; *name; name++)
		if (!copy_file(from, to, *name, error))
			return FALSE;
	return copy_files(from, to, but, error) && copy_files(from_artifacts, to_artifacts, (const char *const[]){ NULL }, error);
}

static gboolean copy_runs(const char *from, const char *to, GError **error)
{
	g_autoptr(GDir) dir = g_dir_open(from, 0, error);
	const char *name;

	if (!dir || !make_folder(to, error))
		return FALSE;
	while ((name = g_dir_read_name(dir))) {
		g_autofree char *one = g_build_filename(from, name, NULL), *other = g_build_filename(to, name, NULL);

		if (strspn(name, "0123456789") == strlen(name) && !copy_run(one, other, error))
			return FALSE;
	}
	return TRUE;
}

gboolean backup_make(const Config *config, const char *dir, GError **error)
{
	static const char *const but[] = { "regrlab.db", "regrlab.db-wal", "regrlab.db-shm", "lock", NULL };
	g_autofree char *from = config_database(config), *to = g_build_filename(dir, "regrlab.db", NULL);
	g_autofree char *jobs = g_build_filename(config->state_dir, "jobs", NULL), *copies = g_build_filename(dir, "jobs", NULL);

	return make_target(dir, error) && db_backup(from, to, error) && copy_files(config->state_dir, dir, but, error) &&
	       copy_runs(jobs, copies, error) && file_sync_folder(dir, error);
}
