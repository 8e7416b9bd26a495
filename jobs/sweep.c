/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "jobs/sweep.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define DEPTH_MAX 200	/* of folders in folders */

int sweep_lock(const char *path)
{
	int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);

	if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0)
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

gboolean sweep_say(Sweep *sweep, const char *kind, const char *what, gint64 bytes, const char *why)
{
	g_print("%s %s %" G_GINT64_FORMAT " %s: %s\n", sweep->order->dry_run ? "would-remove" : "remove", kind, bytes, why, what);
	sweep->done++;
	sweep->bytes += bytes;
	return !sweep->order->dry_run;
}

void sweep_failed(Sweep *sweep, const char *what, const char *words)
{
	g_print("failed %s: %s\n", what, words);
	sweep->failed++;
}

/* By descriptors, so that a link that appears meanwhile leads nowhere. */
static gboolean empty_folder(int parent, const char *name, const char *but, int depth)
{
	int fd = depth < DEPTH_MAX ? openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) : -1;
	g_autofree char *path = g_strdup_printf("/proc/self/fd/%d", fd);
	g_autoptr(GDir) dir = fd >= 0 ? g_dir_open(path, 0, NULL) : NULL;
	gboolean good = dir != NULL;
	const char *entry;

	while (good && (entry = g_dir_read_name(dir))) {
		if (g_strcmp0(entry, but) == 0)
			continue;
		if (unlinkat(fd, entry, 0) == 0)
			continue;
		good = (errno == EISDIR || errno == EPERM) && empty_folder(fd, entry, NULL, depth + 1) &&
		       unlinkat(fd, entry, AT_REMOVEDIR) == 0;
	}
	if (fd >= 0)
		close(fd);
	return good;
}

void sweep_remove(Sweep *sweep, const char *kind, const char *path, const char *but, gint64 bytes, const char *why)
{
	struct stat status;

	if (lstat(path, &status) != 0 || !sweep_say(sweep, kind, path, bytes, why))
		return;
	if (S_ISDIR(status.st_mode) ? empty_folder(AT_FDCWD, path, but, 0) && (but || rmdir(path) == 0) : unlink(path) == 0)
		return;
	sweep_failed(sweep, path, g_strerror(errno));
}

static GHashTable *as_set(char **words)
{
	GHashTable *set = g_hash_table_new(g_str_hash, g_str_equal);

	for (; *words; words++)
		g_hash_table_add(set, *words);
	return set;
}

/* PATH/bzImage is what a job names; PATH is what is removed. */
static GHashTable *folders_of(char **paths)
{
	GHashTable *set = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, NULL);

	for (; *paths; paths++)
		g_hash_table_add(set, g_path_get_dirname(*paths));
	return set;
}

int sweep_main(const char *path)
{
	g_autoptr(SweepOrder) order = NULL;
	g_autoptr(GError) error = NULL;

	if (!sweep_order_load(path, &order, &error)) {
		g_printerr("regrlab-job sweep: %s\n", error->message);
		return EXIT_FAILURE;
	}
	Sweep sweep = {
		.order = order,
		.now_s = g_get_real_time() / G_USEC_PER_SEC,
		.live = as_set(order->live),
		.kernels = folders_of(order->kernels),
	};
	sweep_machine(&sweep);
	sweep_files(&sweep);
	g_print("swept: %u things of %" G_GINT64_FORMAT " bytes, %u failed\n", sweep.done, sweep.bytes, sweep.failed);
	g_hash_table_destroy(sweep.live);
	g_hash_table_destroy(sweep.kernels);
	return sweep.failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
