/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "jobs/kernel-cache.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "jobs/kernel-make.h"
#include "jobs/spec/file.h"

#define MAX_IMAGE_BYTES	(256 * 1024 * 1024)
#define MAX_META_BYTES	65536
#define MAX_RELEASE	64	/* as in utsname */

char *cache_key(const char *const *texts)
{
	g_autoptr(GChecksum) sum = g_checksum_new(G_CHECKSUM_SHA256);

	for (; *texts; texts++)	/* with the 0 at its end, so that no two lists run together alike */
		g_checksum_update(sum, (const guchar *)*texts, (gssize)strlen(*texts) + 1);
	return g_strdup(g_checksum_get_string(sum));
}

static char *kernels_dir(StageContext *stage)
{
	return g_build_filename(stage->place->cache_dir, "kernels", NULL);
}

static char *sum_of(const char *data, gsize size)
{
	return g_compute_checksum_for_data(G_CHECKSUM_SHA256, (const guchar *)data, size);
}

/* TRUE: meta.json is there and the image is the one it describes. */
static gboolean load(const char *dir, Kernel *kernel)
{
	g_autofree char *meta_path = g_build_filename(dir, "meta.json", NULL);
	g_autofree char *image_path = g_build_filename(dir, "bzImage", NULL);
	g_autoptr(JsonObject) meta = NULL;
	g_autofree char *image = NULL, *sum = NULL;
	gsize size;

	if (!file_read_json(meta_path, MAX_META_BYTES, &meta, NULL) ||
	    !file_read(image_path, MAX_IMAGE_BYTES, &image, &size, NULL))
		return FALSE;
	sum = sum_of(image, size);
	if (!g_str_equal(sum, json_object_get_string_member_with_default(meta, "kernel_sha256", "")))
		return FALSE;
	utimensat(AT_FDCWD, dir, NULL, 0);	/* when it was last used */
	kernel->path = g_steal_pointer(&image_path);
	kernel->sha256 = g_steal_pointer(&sum);
	kernel->bytes = (gint64)size;
	kernel->release = g_strdup(json_object_get_string_member_with_default(meta, "kernel_release", ""));
	return TRUE;
}

gboolean cache_lookup(StageContext *stage, const char *key, Kernel *kernel, gboolean *ret_found, int *ret_lock, GError **error)
{
	g_autofree char *kernels = kernels_dir(stage), *dir = g_build_filename(kernels, key, NULL);
	g_autofree char *lock = g_strconcat(dir, ".lock", NULL);

	if (g_mkdir_with_parents(kernels, 0755) < 0)
		return spec_error_set(error, SPEC_ERROR_IO, NULL, "cannot make %s: %s", kernels, g_strerror(errno));
	*ret_lock = lock_wait(stage, lock, "waiting for another job's build of the same kernel", error);
	if (*ret_lock < 0)
		return FALSE;
	*ret_found = load(dir, kernel);
	return TRUE;
}

static gboolean copy_file(const char *from_dir, const char *from, const char *to_dir, const char *to, GError **error)
{
	g_autofree char *target = g_build_filename(to_dir, to, NULL), *data = NULL;
	gsize size;

	return slot_file_read(from_dir, from, MAX_IMAGE_BYTES, &data, &size, error) && file_write(target, data, size, error);
}

/* An entry of the cache with its files; none is fine. */
static gboolean remove_entry(const char *path, GError **error)
{
	GDir *dir = g_dir_open(path, 0, NULL);
	const char *name;

	while (dir && (name = g_dir_read_name(dir))) {
		g_autofree char *file = g_build_filename(path, name, NULL);
		unlink(file);
	}
	if (dir)
		g_dir_close(dir);
	return rmdir(path) == 0 || errno == ENOENT ||
	       spec_error_set(error, SPEC_ERROR_IO, NULL, "cannot remove %s: %s", path, g_strerror(errno));
}

/* A release is a word. A build may have written anything. */
static gboolean read_release(const char *obj, char **ret_release, GError **error)
{
	char *text;

	if (!slot_file_read(obj, "include/config/kernel.release", MAX_META_BYTES, &text, NULL, error))
		return FALSE;
	text[strcspn(text, "\n")] = 0;
	text[MIN(strlen(text), MAX_RELEASE)] = 0;
	for (char *p = text; *p; p++)
		if (!g_ascii_isalnum(*p) && !strchr("._+-~", *p))
			*p = '?';
	*ret_release = text;
	return TRUE;
}

static gboolean write_meta(const char *dir, const char *obj, const char *compiler, Kernel *kernel, GError **error)
{
	g_autofree char *image_path = g_build_filename(dir, "bzImage", NULL);
	g_autofree char *meta_path = g_build_filename(dir, "meta.json", NULL);
	g_autofree char *release = NULL, *image = NULL, *sum = NULL;
	g_autoptr(JsonObject) meta = json_object_new();
	gsize size;

	if (!read_release(obj, &release, error) ||
	    !file_read(image_path, MAX_IMAGE_BYTES, &image, &size, error))
		return FALSE;
	sum = sum_of(image, size);
	json_object_set_string_member(meta, "commit", kernel->commit);
	json_object_set_string_member(meta, "tree_hash", kernel->tree_hash);
	json_object_set_string_member(meta, "config_sha256", kernel->config_sha256);
	json_object_set_string_member(meta, "compiler", compiler);
	json_object_set_string_member(meta, "kernel_release", release);
	json_object_set_string_member(meta, "kernel_sha256", sum);
	json_object_set_int_member(meta, "kernel_bytes", (gint64)size);
	json_object_set_double_member(meta, "build_s", kernel->build_s);
	return file_write_json(meta_path, meta, error);
}

gboolean cache_store(StageContext *stage, const char *key, const char *obj, const char *compiler, Kernel *kernel,
		     GError **error)
{
	g_autofree char *kernels = kernels_dir(stage), *dir = g_build_filename(kernels, key, NULL);
	g_autofree char *unfinished = g_strconcat(dir, ".tmp", NULL);
	g_autofree char *config = g_build_filename(unfinished, "config", NULL);

	if (!remove_entry(unfinished, error) || !remove_entry(dir, error))
		return FALSE;
	if (g_mkdir_with_parents(unfinished, 0755) < 0)
		return spec_error_set(error, SPEC_ERROR_IO, NULL, "cannot make %s: %s", unfinished, g_strerror(errno));
	if (!copy_file(obj, KERNEL_IMAGE, unfinished, "bzImage", error) ||
	    !copy_file(obj, "System.map", unfinished, "System.map", error) ||
	    !file_write(config, kernel->config, strlen(kernel->config), error) ||
	    !write_meta(unfinished, obj, compiler, kernel, error))
		return FALSE;
	if (rename(unfinished, dir) < 0)
		return spec_error_set(error, SPEC_ERROR_IO, NULL, "cannot rename %s: %s", unfinished, g_strerror(errno));
	if (!file_sync_folder(kernels, error))
		return FALSE;
	if (!load(dir, kernel))
		return spec_error_set(error, SPEC_ERROR_IO, NULL, "%s cannot be read back", dir);
	return TRUE;
}
