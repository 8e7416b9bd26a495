/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "jobs/sandbox-watch.h"

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "jobs/spec/file.h"

#define STAT_BYTES	4096
#define WALK_FDS	64
#define WALK_EVERY_US	(10 * G_USEC_PER_SEC)
#define LOW_BYTES	(G_GINT64_CONSTANT(1) << 30)	/* free on the disk: from here on a big program is ended */

/* ---- processes and memory ---- */

static char *read_proc(const char *pid, const char *name)
{
	g_autofree char *path = g_build_filename("/proc", pid, name, NULL);
	char *text = NULL;

	return file_read(path, STAT_BYTES, &text, NULL, NULL) ? text : NULL;
}

/* "12 (a name) S 11 ...": the name may hold anything. 0: it is gone. */
static int parent_of(const char *pid)
{
	g_autofree char *text = read_proc(pid, "stat");
	const char *end = text ? strrchr(text, ')') : NULL;

	return end && strlen(end) > 4 ? atoi(end + 4) : 0;
}

static gint64 resident_bytes(const char *pid)
{
	g_autofree char *text = read_proc(pid, "statm");
	const char *second = text ? strchr(text, ' ') : NULL;

	return second ? g_ascii_strtoll(second, NULL, 10) * sysconf(_SC_PAGESIZE) : 0;
}

typedef struct {
	int pid, parent;
} Process;

static GArray *list_processes(void)
{
	GArray *processes = g_array_new(FALSE, FALSE, sizeof(Process));
	GDir *dir = g_dir_open("/proc", 0, NULL);
	const char *name;

	while (dir && (name = g_dir_read_name(dir))) {
		Process process = { atoi(name), 0 };
		if (process.pid > 0 && (process.parent = parent_of(name)) > 0)
			g_array_append_val(processes, process);
	}
	if (dir)
		g_dir_close(dir);
	return processes;
}

/* The set of what descends from a process, itself not among them. */
static GHashTable *descendants(GArray *processes, pid_t root)
{
	GHashTable *found = g_hash_table_new(NULL, NULL);
	gboolean more = TRUE;

	while (more) {
		more = FALSE;
		for (guint i = 0; i < processes->len; i++) {
			const Process *process = &g_array_index(processes, Process, i);
			if ((process->parent == root || g_hash_table_contains(found, GINT_TO_POINTER(process->parent))) &&
			    g_hash_table_add(found, GINT_TO_POINTER(process->pid)))
				more = TRUE;
		}
	}
	return found;
}

static char *check_processes(const SandboxWatch *watch, pid_t pid)
{
	g_autoptr(GArray) processes = list_processes();
	g_autoptr(GHashTable) ours = descendants(processes, pid);
	GHashTableIter iter;
	gint64 memory = 0;
	gpointer key;

	if (g_hash_table_size(ours) > (guint)watch->processes)
		return g_strdup_printf("it had more than %d processes", watch->processes);
	g_hash_table_iter_init(&iter, ours);
	while (g_hash_table_iter_next(&iter, &key, NULL)) {
		char name[16];
		g_snprintf(name, sizeof(name), "%d", GPOINTER_TO_INT(key));
		memory += resident_bytes(name);
	}
	if (memory > watch->memory_bytes)
		return g_strdup_printf("it used more than %" G_GINT64_FORMAT " MiB of memory", watch->memory_bytes >> 20);
	return NULL;
}

/* ---- disk ---- */

/* What a walk found. */
typedef struct {
	gint64 bytes, files;
	gboolean unreadable;
} Walk;

static __thread Walk walk;	/* nftw() has no argument for it */

static int add_entry(const char *path G_GNUC_UNUSED, const struct stat *status, int kind, struct FTW *ftw G_GNUC_UNUSED)
{
	walk.bytes += status->st_blocks * 512;
	walk.files++;
	walk.unreadable |= kind == FTW_DNR;
	return walk.files > SANDBOX_FILES || walk.unreadable;
}

static void walk_all(const SandboxView *view)
{
	walk = (Walk){ 0 };
	for (gsize i = 0; i < view->n; i++)
		if (view->binds[i].writable && nftw(view->binds[i].path, add_entry, WALK_FDS, FTW_PHYS | FTW_MOUNT) < 0)
			walk.unreadable |= errno == ENAMETOOLONG;
}

static const char *first_writable(const SandboxView *view)
{
	for (gsize i = 0; i < view->n; i++)
		if (view->binds[i].writable)
			return view->binds[i].path;
	return NULL;
}

/* Walking takes time: it is done now and then, and when so much is gone from the disk that a limit may be near. */
static gboolean is_due(SandboxWatch *watch, const SandboxDisk *now)
{
	gint64 now_us = g_get_monotonic_time();

	if (!watch->walked_us) {
		watch->start = watch->walked = *now;
		watch->walked_us = now_us;
	}
	return now_us - watch->walked_us > WALK_EVERY_US || now->free_bytes < LOW_BYTES || watch->walked.free_bytes - now->free_bytes > watch->disk_bytes / 8 ||
	       watch->walked.free_files - now->free_files > SANDBOX_FILES / 8;
}

static char *check_disk(SandboxWatch *watch)
{
	const char *path = first_writable(watch->view);
	struct statvfs status;

	if (!path || statvfs(path, &status) < 0)
		return NULL;
	SandboxDisk now = { (gint64)status.f_bavail * (gint64)status.f_frsize, (gint64)status.f_favail };
	if (!is_due(watch, &now))
		return NULL;
	watch->walked = now;
	watch->walked_us = g_get_monotonic_time();
	walk_all(watch->view);
	if (walk.unreadable)
		return g_strdup("it made folders that nobody can look into");
	if (walk.files > SANDBOX_FILES)
		return g_strdup_printf("it made more than %d files", SANDBOX_FILES);
	/* the second is for files without a name, which no walk finds; others may have written as well */
	if (walk.bytes > watch->disk_bytes ||
	    (now.free_bytes < LOW_BYTES && watch->start.free_bytes - now.free_bytes > watch->disk_bytes))
		return g_strdup_printf("it used more than %" G_GINT64_FORMAT " MiB of disk", watch->disk_bytes >> 20);
	if (now.free_bytes < LOW_BYTES && walk.bytes > LOW_BYTES)
		return g_strdup_printf("it used %" G_GINT64_FORMAT " MiB of disk, and less than %" G_GINT64_FORMAT " MiB are free",
				       walk.bytes >> 20, (gint64)LOW_BYTES >> 20);
	return NULL;
}

char *sandbox_watch(pid_t pid, gpointer user)
{
	SandboxWatch *watch = user;
	char *why = check_processes(watch, pid);

	return why ? why : check_disk(watch);
}
