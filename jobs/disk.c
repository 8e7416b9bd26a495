/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "jobs/disk.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define MKFS_TIMEOUT_MS	(120 * 1000)
#define LAYOUT		1	/* part of the name: to be raised when the options below change */

static gboolean io_error(GError **error, const char *what, const char *path)
{
	return spec_error_set(error, SPEC_ERROR_IO, NULL, "cannot %s %s: %s", what, path, g_strerror(errno));
}

static gboolean make_sparse(const char *path, gint64 size_bytes, GError **error)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	gboolean made = fd >= 0 && ftruncate(fd, size_bytes) == 0;

	if (!made)
		io_error(error, "make", path);
	if (fd >= 0)
		close(fd);
	return made;
}

static gboolean make_filesystem(StageContext *stage, const char *path, GError **error)
{
	static const char *const env[] = { "E2FSPROGS_FAKE_TIME=946684800", "SOURCE_DATE_EPOCH=946684800", NULL };
	const char *const argv[] = {
		"mkfs.ext4", "-q", "-F", "-b", "4096", "-m", "0", "-N", "1024", "-L", "regrlab",
		"-O", "^has_journal,^resize_inode,^metadata_csum",
		"-U", "72656772-6c61-4b00-8000-000000000001",
		"-E", "hash_seed=72656772-6c61-4b00-8000-000000000002,lazy_itable_init=0,nodiscard,root_owner=0:0",
		path, NULL,
	};
	ChildSpec spec = { .argv = argv, .env = env, .timeout_ms = MKFS_TIMEOUT_MS };
	g_auto(ChildResult) result = { 0 };
	SandboxView view = { 0 };

	sandbox_view_add(&view, path, NULL, TRUE);
	return stage_sandbox(stage, error) && sandbox_give(stage->sandbox, path, error) &&
	       stage_run(stage, &spec, &view, &result, error) && child_check(&spec, &result, error);
}

char *disk_template(StageContext *stage, int size_mib, GError **error)
{
	g_autofree char *dir = g_build_filename(stage->place->cache_dir, "disks", NULL);
	g_autofree char *path = g_strdup_printf("%s/ext4-%d-%d-mib.img", dir, LAYOUT, size_mib);
	g_autofree char *new_path = g_strdup_printf("%s.%" G_GINT64_FORMAT, path, stage->spec->job);

	if (g_file_test(path, G_FILE_TEST_IS_REGULAR))
		return g_steal_pointer(&path);
	if (g_mkdir_with_parents(dir, 0755) < 0) {
		io_error(error, "make", dir);
		return NULL;
	}
	if (!make_sparse(new_path, (gint64)size_mib * 1024 * 1024, error) || !make_filesystem(stage, new_path, error)) {
		unlink(new_path);
		return NULL;
	}
	if (rename(new_path, path) < 0) {
		io_error(error, "put in place", path);
		unlink(new_path);
		return NULL;
	}
	return g_steal_pointer(&path);
}
