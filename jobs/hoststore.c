/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "jobs/hoststore-kinds.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "jobs/spec/file.h"

#define KEPT_PREFIX	"kept-"
#define SCRATCH_PREFIX	"disk-"
#define COPY_BYTES	(1024 * 1024)

G_DEFINE_QUARK(regrlab-host-store-error, host_store_error)

typedef struct {
	HostStore store;
	char *dir;
	uid_t uid;
	gid_t gid;
} Folder;

gboolean host_store_io_error(GError **error, const char *what, const char *path)
{
	g_set_error(error, HOST_STORE_ERROR, HOST_STORE_ERROR_IO, "cannot %s %s: %s", what, path, g_strerror(errno));
	return FALSE;
}

static gboolean may_enter(const char *path, uid_t uid, gid_t gid)
{
	struct stat status;

	if (uid == 0 || stat(path, &status) < 0)
		return TRUE;
	if (status.st_uid == uid)
		return status.st_mode & S_IXUSR;
	return status.st_mode & (status.st_gid == gid ? S_IXGRP : S_IXOTH);
}

gboolean host_store_reachable(const char *path, uid_t uid, gid_t gid, char **ret_closed)
{
	g_autofree char *part = g_strdup(path);

	for (char *slash = strchr(part + 1, '/');; slash = strchr(slash + 1, '/')) {
		if (slash)
			*slash = '\0';
		if (!may_enter(part, uid, gid)) {
			*ret_closed = g_steal_pointer(&part);
			return FALSE;
		}
		if (!slash)
			return TRUE;
		*slash = '/';
	}
}

static char *put_bytes(Folder *folder, const char *data, gsize size, GError **error)
{
	g_autofree char *digest = g_compute_checksum_for_data(G_CHECKSUM_SHA256, (const guchar *)data, size);
	g_autofree char *name = g_strconcat(KEPT_PREFIX, digest, NULL);
	g_autofree char *path = g_build_filename(folder->dir, name, NULL);

	/* renamed into place whole: what is there is right. Its time says when it was last used */
	if (utimensat(AT_FDCWD, path, NULL, 0) == 0)
		return g_steal_pointer(&path);
	if (!file_write(path, data, size, error))
		return NULL;
	if (chmod(path, 0644) < 0) {
		host_store_io_error(error, "open to all", path);
		return NULL;
	}
	return g_steal_pointer(&path);
}

static char *put_file(HostStore *store, const char *path, GError **error)
{
	g_autofree char *data = NULL;
	gsize size;

	return file_read(path, HOST_STORE_KEPT_MAX, &data, &size, error) ? put_bytes((Folder *)store, data, size, error) : NULL;
}

static char *put_joined(HostStore *store, const char *path, GBytes *tail, const char *name G_GNUC_UNUSED, GError **error)
{
	static const char zeros[HOST_STORE_ALIGN] = { 0 };
	g_autoptr(GByteArray) both = g_byte_array_new();
	g_autofree char *data = NULL;
	gsize size, tail_size;
	const guint8 *tail_data = g_bytes_get_data(tail, &tail_size);

	if (!file_read(path, HOST_STORE_KEPT_MAX, &data, &size, error))
		return NULL;
	g_byte_array_append(both, (const guint8 *)data, (guint)size);
	g_byte_array_append(both, (const guint8 *)zeros, (guint)(-size % HOST_STORE_ALIGN));
	g_byte_array_append(both, tail_data, (guint)tail_size);
	return put_bytes((Folder *)store, (const char *)both->data, both->len, error);
}

/* Copies the part of a file that has data. */
static gboolean copy_range(int from, int to, off_t start, off_t end)
{
	g_autofree char *buffer = g_malloc(COPY_BYTES);

	while (start < end) {
		ssize_t size = pread(from, buffer, (gsize)MIN(COPY_BYTES, end - start), start);
		if (size < 0 && errno == EINTR)
			continue;
		if (size <= 0 || pwrite(to, buffer, (gsize)size, start) != size)
			return FALSE;
		start += size;
	}
	return TRUE;
}

static gboolean copy_sparse(int from, int to)
{
	struct stat status;
	off_t data = 0;

	if (fstat(from, &status) < 0 || ftruncate(to, status.st_size) < 0)
		return FALSE;
	while ((data = lseek(from, data, SEEK_DATA)) >= 0) {
		off_t hole = lseek(from, data, SEEK_HOLE);
		if (hole < 0 || !copy_range(from, to, data, hole))
			return FALSE;
		data = hole;
	}
	return errno == ENXIO;	/* no data behind the last piece */
}

static char *scratch(HostStore *store, const char *image, const char *name, GError **error)
{
	const Folder *folder = (Folder *)store;
	g_autofree char *file = g_strconcat(SCRATCH_PREFIX, name, NULL);
	g_autofree char *path = g_build_filename(folder->dir, file, NULL);
	int from = open(image, O_RDONLY | O_CLOEXEC), to = -1;
	gboolean done = FALSE;

	unlink(path);
	if (from < 0)
		host_store_io_error(error, "open", image);
	else if ((to = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600)) < 0)
		host_store_io_error(error, "make", path);
	else if (!copy_sparse(from, to))
		host_store_io_error(error, "copy the disk to", path);
	else if (folder->uid != geteuid() && fchown(to, folder->uid, folder->gid) < 0)
		host_store_io_error(error, "give QEMU", path);
	else
		done = TRUE;
	if (from >= 0)
		close(from);
	if (to >= 0)
		close(to);
	if (!done)
		unlink(path);
	return done ? g_steal_pointer(&path) : NULL;
}

static void remove_file(HostStore *store, const char *path)
{
	const Folder *folder = (Folder *)store;
	g_autofree char *dir = g_path_get_dirname(path);

	g_assert(g_str_equal(dir, folder->dir));
	unlink(path);
}

typedef struct {
	char *path;
	gint64 used_s, bytes;
} Kept;

static void kept_clear(gpointer data)
{
	g_free(((Kept *)data)->path);
}

static int newest_first(gconstpointer a, gconstpointer b)
{
	const Kept *one = a, *other = b;

	return one->used_s == other->used_s ? strcmp(one->path, other->path) : one->used_s < other->used_s ? 1 : -1;
}

static void prune(HostStore *store, gint64 max_bytes, gint64 max_age_s)
{
	const Folder *folder = (Folder *)store;
	g_autoptr(GDir) dir = g_dir_open(folder->dir, 0, NULL);
	g_autoptr(GArray) files = g_array_new(FALSE, FALSE, sizeof(Kept));
	gint64 now_s = g_get_real_time() / G_USEC_PER_SEC, bytes = 0;
	const char *name;

	g_array_set_clear_func(files, kept_clear);
	while (dir && (name = g_dir_read_name(dir))) {
		g_autofree char *path = g_build_filename(folder->dir, name, NULL);
		struct stat status;
		if (lstat(path, &status) < 0 || !S_ISREG(status.st_mode))
			continue;
		if (g_str_has_prefix(name, SCRATCH_PREFIX) && now_s - status.st_mtim.tv_sec > max_age_s)
			unlink(path);
		if (!g_str_has_prefix(name, KEPT_PREFIX))
			continue;
		Kept kept = { g_steal_pointer(&path), status.st_mtim.tv_sec, status.st_size };
		g_array_append_val(files, kept);
	}
	g_array_sort(files, newest_first);
	for (guint i = 0; i < files->len; i++) {
		const Kept *kept = &g_array_index(files, Kept, i);
		bytes += kept->bytes;
		if (bytes > max_bytes)
			unlink(kept->path);
	}
}

static void folder_free(HostStore *store)
{
	Folder *folder = (Folder *)store;

	g_free(folder->dir);
	g_free(folder);
}

static const HostStoreKind folder_kind = { folder_free, put_file, put_joined, scratch, remove_file, prune };

HostStore *host_store_new(const char *dir, uid_t uid, gid_t gid, GError **error)
{
	g_autofree char *closed = NULL;

	if (uid == (uid_t)-1) {
		uid = geteuid();
		gid = getegid();
	}
	if (g_mkdir_with_parents(dir, 0755) < 0) {
		host_store_io_error(error, "make", dir);
		return NULL;
	}
	if (!host_store_reachable(dir, uid, gid, &closed)) {
		g_set_error(error, HOST_STORE_ERROR, HOST_STORE_ERROR_ACCESS,
			    "QEMU runs as user %u and cannot enter %s: put the lab's state where everybody may go, "
			    "or open that directory (chmod o+x)",
			    (guint)uid, closed);
		return NULL;
	}
	Folder *folder = g_new0(Folder, 1);
	folder->store.kind = &folder_kind;
	folder->dir = g_strdup(dir);
	folder->uid = uid;
	folder->gid = gid;
	return &folder->store;
}

/* ---- of any kind ---- */

void host_store_free(HostStore *store)
{
	if (store)
		store->kind->free(store);
}

char *host_store_put_file(HostStore *store, const char *path, GError **error)
{
	return store->kind->put_file(store, path, error);
}

char *host_store_put_joined(HostStore *store, const char *path, GBytes *tail, const char *name, GError **error)
{
	return store->kind->put_joined(store, path, tail, name, error);
}

char *host_store_scratch(HostStore *store, const char *image, const char *name, GError **error)
{
	return store->kind->scratch(store, image, name, error);
}

void host_store_remove(HostStore *store, const char *path)
{
	store->kind->remove(store, path);
}

void host_store_prune(HostStore *store, gint64 max_bytes, gint64 max_age_s)
{
	store->kind->prune(store, max_bytes, max_age_s);
}
