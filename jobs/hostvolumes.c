/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "jobs/hostvolumes.h"

#include <errno.h>
#include <fcntl.h>
#include <libxml/tree.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "jobs/hostmarks.h"
#include "jobs/hoststore-kinds.h"
#include "jobs/spec/file.h"
#include "jobs/vm-error.h"

#define KEPT_PREFIX	"kept-"
#define BOOT_PREFIX	"boot-"
#define RUN_PREFIX	"run-"
#define UPLOAD_WAIT_S	300	/* for another stage that uploads the same file */

typedef struct {
	HostStore store;
	virConnectPtr connection;
	virStoragePoolPtr pool;
	char *marks_dir, *own;	/* own: what the volumes of this run's boots begin with */
	char *lab_prefix;	/* the same of all runs of this lab */
	GArray *marks;		/* descriptors: what this stage uses; their locks end with them */
} Volumes;

/* ---- descriptions ---- */

static char *finish_xml(xmlDoc *document)
{
	xmlChar *text = NULL;
	int size = 0;

	xmlDocDumpMemory(document, &text, &size);
	char *xml = g_strndup((const char *)text, (gsize)size);
	xmlFree(text);
	xmlFreeDoc(document);
	return xml;
}

static char *pool_xml(const char *name, const char *dir)
{
	xmlDoc *document = xmlNewDoc(BAD_CAST "1.0");
	xmlNode *pool = xmlNewDocNode(document, NULL, BAD_CAST "pool", NULL);

	xmlDocSetRootElement(document, pool);
	xmlNewProp(pool, BAD_CAST "type", BAD_CAST "dir");
	xmlNewTextChild(pool, NULL, BAD_CAST "name", BAD_CAST name);
	xmlNewTextChild(xmlNewChild(pool, NULL, BAD_CAST "target", NULL), NULL, BAD_CAST "path", BAD_CAST dir);
	return finish_xml(document);
}

/* Readable for everybody: QEMU's user is the host's own matter. */
static char *volume_xml(const char *name, gint64 size)
{
	xmlDoc *document = xmlNewDoc(BAD_CAST "1.0");
	xmlNode *volume = xmlNewDocNode(document, NULL, BAD_CAST "volume", NULL);
	g_autofree char *bytes = g_strdup_printf("%" G_GINT64_FORMAT, size);

	xmlDocSetRootElement(document, volume);
	xmlNewTextChild(volume, NULL, BAD_CAST "name", BAD_CAST name);
	xmlNewTextChild(volume, NULL, BAD_CAST "capacity", BAD_CAST bytes);
	xmlNewTextChild(volume, NULL, BAD_CAST "allocation", BAD_CAST "0");
	xmlNode *target = xmlNewChild(volume, NULL, BAD_CAST "target", NULL);
	xmlNewProp(xmlNewChild(target, NULL, BAD_CAST "format", NULL), BAD_CAST "type", BAD_CAST "raw");
	xmlNode *rights = xmlNewChild(target, NULL, BAD_CAST "permissions", NULL);
	xmlNewTextChild(rights, NULL, BAD_CAST "mode", BAD_CAST "0644");
	return finish_xml(document);
}

/* ---- uploads ---- */

static int send_bytes(virStreamPtr stream G_GNUC_UNUSED, char *bytes, size_t size, void *data)
{
	ssize_t got;

	do
		got = read(*(int *)data, bytes, size);
	while (got < 0 && errno == EINTR);
	return (int)got;
}

/* What begins where the file is read now: data or a hole, and how long it is. */
static int find_hole(virStreamPtr stream G_GNUC_UNUSED, int *in_data, long long *length, void *data)
{
	int fd = *(int *)data;
	off_t here = lseek(fd, 0, SEEK_CUR), end = lseek(fd, 0, SEEK_END), start = lseek(fd, here, SEEK_DATA);
	off_t next = start == here ? lseek(fd, here, SEEK_HOLE) : start < 0 ? end : start;

	*in_data = start == here;
	*length = next - here;
	return here < 0 || end < 0 || next < 0 || lseek(fd, here, SEEK_SET) < 0 ? -1 : 0;
}

static int skip_hole(virStreamPtr stream G_GNUC_UNUSED, long long length, void *data)
{
	return lseek(*(int *)data, length, SEEK_CUR) < 0 ? -1 : 0;
}

static gboolean end_stream(virStreamPtr stream, gboolean sent, GError **error)
{
	gboolean done = sent && virStreamFinish(stream) == 0;

	if (!done) {
		vm_error_libvirt(error, "the upload");
		virStreamAbort(stream);
	}
	virStreamFree(stream);
	return done;
}

static gboolean upload_file(Volumes *volumes, virStorageVolPtr volume, int fd, GError **error)
{
	virStreamPtr stream = virStreamNew(volumes->connection, 0);

	if (!stream)
		return vm_error_libvirt(error, "the upload");
	return end_stream(stream, virStorageVolUpload(volume, stream, 0, 0, VIR_STORAGE_VOL_UPLOAD_SPARSE_STREAM) == 0 &&
				  virStreamSparseSendAll(stream, send_bytes, find_hole, skip_hole, &fd) == 0, error);
}

static gboolean upload_bytes(Volumes *volumes, virStorageVolPtr volume, gint64 offset, GBytes *bytes, GError **error)
{
	virStreamPtr stream = virStreamNew(volumes->connection, 0);
	gsize size, done = 0;
	const char *data = g_bytes_get_data(bytes, &size);

	if (!stream)
		return vm_error_libvirt(error, "the upload");
	gboolean good = virStorageVolUpload(volume, stream, (guint64)offset, size, 0) == 0;
	while (good && done < size) {
		int sent = virStreamSend(stream, data + done, size - done);

		good = sent > 0;
		done += good ? (gsize)sent : 0;
	}
	return end_stream(stream, good, error);
}

/* ---- what is kept ---- */

static virStorageVolPtr find(Volumes *volumes, const char *name)
{
	return virStorageVolLookupByName(volumes->pool, name);
}

static void delete_volume(Volumes *volumes, const char *name)
{
	virStorageVolPtr volume = find(volumes, name);

	if (!volume)
		return;
	virStorageVolDelete(volume, 0);
	virStorageVolFree(volume);
}

static virStorageVolPtr send_file(Volumes *volumes, const char *path, const char *name, GError **error)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat status;
	virStorageVolPtr volume = NULL;

	if (fd < 0 || fstat(fd, &status) < 0) {
		host_store_io_error(error, "open", path);
	} else {
		g_autofree char *xml = volume_xml(name, status.st_size);

		delete_volume(volumes, name);	/* of an upload that was cut short */
		volume = virStorageVolCreateXML(volumes->pool, xml, 0);
		if (!volume)
			vm_error_libvirt(error, name);
		else if (!upload_file(volumes, volume, fd, error))
			g_clear_pointer(&volume, virStorageVolFree);
	}
	if (fd >= 0)
		close(fd);
	return volume;
}

static char *kept_name(const char *path, GError **error)
{
	g_autoptr(GChecksum) sum = g_checksum_new(G_CHECKSUM_SHA256);
	g_autofree guchar *buffer = g_malloc(1 << 20);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t got = fd < 0 ? -1 : 1;

	while (got > 0) {
		got = read(fd, buffer, 1 << 20);
		if (got < 0 && errno == EINTR)
			got = 1;
		else if (got > 0)
			g_checksum_update(sum, buffer, got);
	}
	if (got < 0)
		host_store_io_error(error, "read", path);
	if (fd >= 0)
		close(fd);
	return got < 0 ? NULL : g_strconcat(KEPT_PREFIX, g_checksum_get_string(sum), NULL);
}

/* A mark that says that this stage uses the volume, until it ends. NULL without error: it is not there whole. */
static virStorageVolPtr use(Volumes *volumes, const char *name, int mark)
{
	virStorageVolPtr volume = mark_is_set(mark) ? find(volumes, name) : NULL;

	if (volume) {
		mark_touch(mark);
		g_array_append_val(volumes->marks, mark);
	}
	return volume;
}

static virStorageVolPtr keep(Volumes *volumes, const char *path, GError **error)
{
	g_autofree char *name = kept_name(path, error);
	int mark = name ? mark_lock(volumes->marks_dir, name, MARK_SHARED, UPLOAD_WAIT_S) : -1;
	virStorageVolPtr volume = mark < 0 ? NULL : use(volumes, name, mark);

	if (volume || !name)
		return volume;
	if (mark >= 0)
		close(mark);
	mark = mark_lock(volumes->marks_dir, name, MARK_ALONE, UPLOAD_WAIT_S);
	if (mark < 0) {
		host_store_io_error(error, "lock the mark of", name);
		return NULL;
	}
	volume = use(volumes, name, mark);	/* somebody else was faster */
	if (volume)
		return volume;
	mark_clear(mark);
	volume = send_file(volumes, path, name, error);
	if (volume && !mark_set(mark)) {
		host_store_io_error(error, "set the mark of", name);
		g_clear_pointer(&volume, virStorageVolFree);
	}
	close(mark);
	if (!volume)
		return NULL;
	mark = mark_lock(volumes->marks_dir, name, MARK_SHARED, UPLOAD_WAIT_S);
	if (mark >= 0)
		g_array_append_val(volumes->marks, mark);
	return volume;
}

/* Takes the volume. */
static char *path_of(virStorageVolPtr volume, GError **error)
{
	char *path = volume ? virStorageVolGetPath(volume) : NULL, *copy = g_strdup(path);

	if (volume && !path)
		vm_error_libvirt(error, "the path of a volume");
	free(path);
	if (volume)
		virStorageVolFree(volume);
	return copy;
}

static char *put_file(HostStore *store, const char *path, GError **error)
{
	return path_of(keep((Volumes *)store, path, error), error);
}

/* ---- what a boot has of its own ---- */

static virStorageVolPtr clone_kept(Volumes *volumes, const char *path, const char *name, gint64 size, GError **error)
{
	virStorageVolPtr kept = keep(volumes, path, error), volume;
	g_autofree char *xml = volume_xml(name, size);

	if (!kept)
		return NULL;
	delete_volume(volumes, name);
	volume = virStorageVolCreateXMLFrom(volumes->pool, xml, kept, 0);
	if (!volume)
		vm_error_libvirt(error, name);
	virStorageVolFree(kept);
	return volume;
}

static gboolean size_of(const char *path, gint64 *ret_size, GError **error)
{
	struct stat status;

	if (stat(path, &status) < 0)
		return host_store_io_error(error, "look at", path);
	*ret_size = status.st_size;
	return TRUE;
}

static char *put_joined(HostStore *store, const char *path, GBytes *tail, const char *name, GError **error)
{
	Volumes *volumes = (Volumes *)store;
	g_autofree char *own = g_strconcat(volumes->own, name, ".initrd", NULL);
	virStorageVolPtr volume;
	gint64 size;

	if (!size_of(path, &size, error))
		return NULL;
	size += -size & (HOST_STORE_ALIGN - 1);
	volume = clone_kept(volumes, path, own, size + (gint64)g_bytes_get_size(tail), error);
	if (volume && !upload_bytes(volumes, volume, size, tail, error))
		g_clear_pointer(&volume, virStorageVolFree);
	return path_of(volume, error);
}

static char *scratch(HostStore *store, const char *image, const char *name, GError **error)
{
	Volumes *volumes = (Volumes *)store;
	g_autofree char *own = g_strconcat(volumes->own, name, ".disk", NULL);
	gint64 size;

	return size_of(image, &size, error) ? path_of(clone_kept(volumes, image, own, size, error), error) : NULL;
}

static void remove_path(HostStore *store, const char *path)
{
	g_autofree char *name = g_path_get_basename(path);

	/* what is kept stays, for the next */
	if (g_str_has_prefix(name, BOOT_PREFIX))
		delete_volume((Volumes *)store, name);
}

/* ---- room ---- */

typedef void (*EachVolume)(Volumes *volumes, virStorageVolPtr volume, const char *name, gpointer data);

static gboolean each_volume(Volumes *volumes, EachVolume func, gpointer data)
{
	virStorageVolPtr *list = NULL;
	int count = virStoragePoolListAllVolumes(volumes->pool, &list, 0);

	for (int i = 0; i < count; i++) {
		func(volumes, list[i], virStorageVolGetName(list[i]), data);
		virStorageVolFree(list[i]);
	}
	free(list);
	return count >= 0;
}

typedef struct {
	char *name;
	gint64 used_s, bytes;
} Kept;

static void kept_clear(gpointer data)
{
	g_free(((Kept *)data)->name);
}

static void note_kept(Volumes *volumes, virStorageVolPtr volume, const char *name, gpointer data)
{
	virStorageVolInfo info;

	if (!g_str_has_prefix(name, KEPT_PREFIX) || virStorageVolGetInfo(volume, &info) < 0)
		return;
	Kept kept = { g_strdup(name), mark_used_s(volumes->marks_dir, name), (gint64)info.allocation };
	g_array_append_val(data, kept);
}

static int newest_first(gconstpointer a, gconstpointer b)
{
	const Kept *one = a, *other = b;

	return one->used_s == other->used_s ? strcmp(one->name, other->name) : one->used_s < other->used_s ? 1 : -1;
}

static void evict(Volumes *volumes, const char *name)
{
	g_autofree char *path = g_build_filename(volumes->marks_dir, name, NULL);
	int mark = mark_lock(volumes->marks_dir, name, MARK_ALONE, 0);

	if (mark < 0)
		return;	/* in use */
	delete_volume(volumes, name);
	unlink(path);
	close(mark);
}

static void prune(HostStore *store, gint64 max_bytes, gint64 max_age_s G_GNUC_UNUSED)
{
	Volumes *volumes = (Volumes *)store;
	g_autoptr(GArray) kept = g_array_new(FALSE, FALSE, sizeof(Kept));
	gint64 bytes = 0;

	g_array_set_clear_func(kept, kept_clear);
	each_volume(volumes, note_kept, kept);
	g_array_sort(kept, newest_first);
	for (guint i = 0; i < kept->len; i++) {
		const Kept *one = &g_array_index(kept, Kept, i);

		bytes += one->bytes;
		if (bytes > max_bytes)
			evict(volumes, one->name);
	}
}

/* ---- what dead stages left ---- */

gboolean host_run_is_dead(const char *marks_dir, const char *run)
{
	g_autofree char *name = g_strconcat(RUN_PREFIX, run, NULL);
	g_autofree char *path = g_build_filename(marks_dir, name, NULL);
	int mark = mark_lock(marks_dir, name, MARK_ALONE, 0);

	if (mark < 0)	/* somebody has it, or it cannot be told (a full disk, no descriptor): then it lives */
		return FALSE;
	unlink(path);
	close(mark);
	return TRUE;
}

static void sweep_one(Volumes *volumes, virStorageVolPtr volume, const char *name, gpointer data)
{
	if (!g_str_has_prefix(name, volumes->lab_prefix))
		return;
	g_autofree char *run = g_strndup(name + strlen(volumes->lab_prefix), strcspn(name + strlen(volumes->lab_prefix), "-"));
	if ((g_str_has_prefix(name, volumes->own) || host_run_is_dead(volumes->marks_dir, run)) &&
	    virStorageVolDelete(volume, 0) == 0)
		++*(int *)data;
}

int host_volumes_sweep(HostStore *store)
{
	int swept = 0;

	return each_volume((Volumes *)store, sweep_one, &swept) ? swept : -1;
}

/* ---- opening ---- */

static virStoragePoolPtr open_pool(virConnectPtr connection, const char *dir)
{
	virStoragePoolPtr pool = virStoragePoolLookupByTargetPath(connection, dir);
	g_autofree char *digest = g_compute_checksum_for_string(G_CHECKSUM_SHA256, dir, -1);
	g_autofree char *name = g_strdup_printf("regrlab-%.8s", digest);
	g_autofree char *xml = pool_xml(name, dir);

	if (pool && virStoragePoolIsActive(pool) == 1)
		return pool;
	if (pool && virStoragePoolCreate(pool, VIR_STORAGE_POOL_CREATE_WITH_BUILD) == 0)
		return pool;
	if (pool)
		virStoragePoolFree(pool);
	pool = virStoragePoolCreateXML(connection, xml, VIR_STORAGE_POOL_CREATE_WITH_BUILD);
	/* another stage may have made it just now */
	return pool ? pool : virStoragePoolLookupByName(connection, name);
}

static void volumes_free(HostStore *store)
{
	Volumes *volumes = (Volumes *)store;

	if (volumes->pool)
		virStoragePoolFree(volumes->pool);
	for (guint i = 0; i < volumes->marks->len; i++)
		close(g_array_index(volumes->marks, int, i));
	g_array_unref(volumes->marks);
	g_free(volumes->marks_dir);
	g_free(volumes->own);
	g_free(volumes->lab_prefix);
	g_free(volumes);
}

static const HostStoreKind volumes_kind = { volumes_free, put_file, put_joined, scratch, remove_path, prune };

HostStore *host_volumes_new(virConnectPtr connection, const char *pool_dir, const char *marks_dir, const char *lab,
			    const char *run, GError **error)
{
	g_autofree char *mark_name = g_strconcat(RUN_PREFIX, run, NULL);
	Volumes *volumes = g_new0(Volumes, 1);
	int mark = mark_lock(marks_dir, mark_name, MARK_SHARED, UPLOAD_WAIT_S);

	volumes->store.kind = &volumes_kind;
	volumes->connection = connection;
	volumes->marks_dir = g_strdup(marks_dir);
	volumes->lab_prefix = g_strdup_printf(BOOT_PREFIX "%s-", lab);
	volumes->own = g_strdup_printf("%s%s-", volumes->lab_prefix, run);
	volumes->marks = g_array_new(FALSE, FALSE, sizeof(int));
	if (mark < 0) {
		host_store_io_error(error, "lock", marks_dir);
	} else {
		g_array_append_val(volumes->marks, mark);
		volumes->pool = open_pool(connection, *pool_dir ? pool_dir : HOST_VOLUMES_DIR);
		if (volumes->pool)
			return &volumes->store;
		vm_error_libvirt(error, "the storage pool");
	}
	volumes_free(&volumes->store);
	return NULL;
}
