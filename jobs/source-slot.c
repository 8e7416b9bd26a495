/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "jobs/source-slot.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "jobs/source-git.h"
#include "jobs/source-tree.h"
#include "jobs/spec/file.h"

#define POLL_MS		250
#define PATIENCE_S	120	/* before another slot is made: builds share their CPUs, and a new slot builds everything */

/* Above .gitattributes of the tree: files are checked out as they are. */
#define ATTRIBUTES	"* -text -eol -ident -filter -working-tree-encoding\n"

/* An open file that is locked, or -1: *ret_busy tells whether another has it. */
static int try_lock(const char *path, gboolean *ret_busy, GError **error)
{
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);

	*ret_busy = FALSE;
	if (fd < 0) {
		spec_error_set(error, SPEC_ERROR_IO, NULL, "cannot open %s: %s", path, g_strerror(errno));
		return -1;
	}
	if (flock(fd, LOCK_EX | LOCK_NB) == 0)
		return fd;
	*ret_busy = errno == EWOULDBLOCK;
	if (!*ret_busy)
		spec_error_set(error, SPEC_ERROR_IO, NULL, "cannot lock %s: %s", path, g_strerror(errno));
	close(fd);
	return -1;
}

static gboolean pause_unless_stopped(StageContext *stage, const char *step, GError **error)
{
	struct pollfd stop = { .fd = stage->stop_fd, .events = POLLIN };

	stage_progress(stage, step, 0, 0, -1);
	poll(&stop, 1, POLL_MS);
	if (!stage_stopping(stage))
		return TRUE;
	g_set_error(error, CHILD_ERROR, CHILD_ERROR_STOPPED, "stopped while %s", step);
	return FALSE;
}

int lock_wait(StageContext *stage, const char *path, const char *step, GError **error)
{
	for (;;) {
		gboolean busy;
		int fd = try_lock(path, &busy, error);
		if (fd >= 0 || !busy || !pause_unless_stopped(stage, step, error))
			return fd;
	}
}

/* ---- slots ---- */

void slot_release(Slot *slot)
{
	if (!slot)
		return;
	if (slot->lock_fd >= 0)
		close(slot->lock_fd);
	g_free(slot->dir);
	g_free(slot->src);
	g_free(slot->obj);
	g_free(slot->patched);
	g_free(slot);
}

static char *marker(const Slot *slot)
{
	return g_build_filename(slot->dir, "building", NULL);
}

gboolean slot_build_begin(Slot *slot, GError **error)
{
	g_autofree char *path = marker(slot);

	return file_write(path, "", 0, error);
}

void slot_build_end(Slot *slot)
{
	g_autofree char *path = marker(slot);

	unlink(path);
}

/* ---- folders that programs wrote: only programs in the sandbox follow what is in them ---- */

static gboolean run_in(StageContext *stage, const char *const *argv, const SandboxView *view, GError **error)
{
	ChildSpec spec = { .argv = argv, .timeout_ms = GIT_TIMEOUT_MS };
	g_auto(ChildResult) result = { 0 };

	return stage_run(stage, &spec, view, &result, error) && child_check(&spec, &result, error);
}

/* Removes a folder of the slot with all that is in it; no such folder is fine. */
static gboolean folder_remove(StageContext *stage, const char *path, GError **error)
{
	SandboxView view = { 0 };

	if (access(path, F_OK) < 0)
		return TRUE;
	sandbox_view_add(&view, path, NULL, TRUE);
	/* a folder may have been made unreadable on purpose */
	if (!run_in(stage, GIT_ARGS("chmod", "-R", "u+rwX", "--", path), &view, error) ||
	    !run_in(stage, GIT_ARGS("find", path, "-mindepth", "1", "-delete"), &view, error))
		return FALSE;
	return rmdir(path) == 0 || spec_error_set(error, SPEC_ERROR_IO, NULL, "cannot remove %s: %s", path, g_strerror(errno));
}

gboolean slot_drop_copy(StageContext *stage, Slot *slot, GError **error)
{
	return folder_remove(stage, slot->patched, error);
}

gboolean slot_copy_objects(StageContext *stage, Slot *slot, GError **error)
{
	g_autofree char *from = g_strconcat(slot->obj, "/.", NULL);
	SandboxView view = { 0 };

	if (!slot_drop_copy(stage, slot, error) || !stage_sandbox(stage, error) ||
	    !sandbox_make_folder(stage->sandbox, slot->patched, error))
		return FALSE;
	sandbox_view_add(&view, slot->obj, NULL, FALSE);
	sandbox_view_add(&view, slot->patched, NULL, TRUE);
	return run_in(stage, GIT_ARGS("cp", "-a", "--reflink=auto", "--", from, slot->patched), &view, error);
}

/* ---- getting one ---- */

/* A repository without objects of its own: those of the tree are borrowed, not copied. */
static gboolean init_source(StageContext *stage, Slot *slot, GError **error)
{
	g_autoptr(TreeFolders) tree = NULL;
	g_autofree char *line = NULL;
	g_autofree char *alternates = g_build_filename(slot->src, ".git/objects/info/alternates", NULL);
	g_autofree char *info = g_build_filename(slot->src, ".git/info", NULL);
	g_autofree char *attributes = g_build_filename(info, "attributes", NULL);
	g_autofree char *ready = g_build_filename(slot->dir, "ready", NULL);

	if (access(ready, F_OK) == 0)
		return TRUE;
	if (!tree_folders(stage->place->tree_path, &tree, error) || !folder_remove(stage, slot->src, error) ||
	    !sandbox_make_folder(stage->sandbox, slot->src, error) ||
	    !git_run(stage, slot->src, GIT_ARGS("init", "--quiet", "--template=", "."), NULL, error))
		return FALSE;
	line = g_strconcat(tree->objects[0], "\n", NULL);
	if (g_mkdir_with_parents(info, 0755) < 0)
		return spec_error_set(error, SPEC_ERROR_IO, NULL, "cannot make %s: %s", info, g_strerror(errno));
	return file_write(alternates, line, strlen(line), error) &&
	       file_write(attributes, ATTRIBUTES, strlen(ATTRIBUTES), error) && file_write(ready, "", 0, error);
}

/* What an interrupted stage may have left. */
static gboolean repair(StageContext *stage, Slot *slot, GError **error)
{
	g_autofree char *building = marker(slot);
	g_autofree char *index_lock = g_build_filename(slot->src, ".git/index.lock", NULL);
	g_autofree char *am = g_build_filename(slot->src, ".git/rebase-apply", NULL);

	unlink(index_lock);
	if (!slot_drop_copy(stage, slot, error) || !folder_remove(stage, am, error))
		return FALSE;
	if (access(building, F_OK) == 0) {
		stage_log(stage, "an earlier build was interrupted: its objects are thrown away");
		if (!folder_remove(stage, slot->obj, error))
			return FALSE;
		unlink(building);
	}
	return sandbox_make_folder(stage->sandbox, slot->obj, error);
}

/* Folders that another user's stage has left. */
static gboolean give(StageContext *stage, Slot *slot, GError **error)
{
	const char *const folders[] = { slot->src, slot->obj, slot->patched };

	for (gsize i = 0; i < G_N_ELEMENTS(folders); i++)
		if (access(folders[i], F_OK) == 0 && !sandbox_give(stage->sandbox, folders[i], error))
			return FALSE;
	return TRUE;
}

/* Slot N if it is free; NULL without an error if it is not. */
static Slot *try_slot(StageContext *stage, const char *key, int number, GError **error)
{
	g_autoptr(Slot) slot = g_new0(Slot, 1);
	g_autofree char *name = g_strdup_printf("%s-%s.%d", stage->place->tree, key, number);
	gboolean busy;

	slot->lock_fd = -1;
	slot->dir = g_build_filename(stage->place->cache_dir, "worktrees", name, NULL);
	slot->src = g_build_filename(slot->dir, "src", NULL);
	slot->obj = g_build_filename(slot->dir, "obj", NULL);
	slot->patched = g_build_filename(slot->dir, "obj-patched", NULL);
	if (g_mkdir_with_parents(slot->dir, 0755) < 0) {
		spec_error_set(error, SPEC_ERROR_IO, NULL, "cannot make %s: %s", slot->dir, g_strerror(errno));
		return NULL;
	}
	g_autofree char *lock = g_build_filename(slot->dir, "lock", NULL);
	slot->lock_fd = try_lock(lock, &busy, error);
	return slot->lock_fd >= 0 ? g_steal_pointer(&slot) : NULL;
}

static gboolean slot_exists(StageContext *stage, const char *key, int number)
{
	g_autofree char *name = g_strdup_printf("%s-%s.%d", stage->place->tree, key, number);
	g_autofree char *ready = g_build_filename(stage->place->cache_dir, "worktrees", name, "ready", NULL);

	return access(ready, F_OK) == 0;
}

/* The first that is free; one that does not exist yet only after a while. */
static Slot *try_slots(StageContext *stage, const char *key, gboolean patient, GError **error)
{
	g_autoptr(GError) problem = NULL;
	Slot *slot = NULL;

	for (int number = 0; number < SLOT_POOL && !slot && !problem; number++)
		if (number == 0 || !patient || slot_exists(stage, key, number))
			slot = try_slot(stage, key, number, &problem);
	if (problem)
		g_propagate_error(error, g_steal_pointer(&problem));
	return slot;
}

gboolean slot_acquire(StageContext *stage, const char *key, Slot **ret_slot)
{
	gint64 patient_until_us = g_get_monotonic_time() + PATIENCE_S * G_USEC_PER_SEC;
	g_autoptr(GError) error = NULL;
	g_autoptr(Slot) slot = NULL;

	while (!slot) {
		slot = try_slots(stage, key, g_get_monotonic_time() < patient_until_us, &error);
		if (!slot && (error || !pause_unless_stopped(stage, "waiting for another job's build", &error)))
			return stage_fail_error(stage, "worktree", g_steal_pointer(&error));
	}
	if (!stage_sandbox(stage, &error) || !give(stage, slot, &error) || !init_source(stage, slot, &error) ||
	    !repair(stage, slot, &error))
		return stage_fail_error(stage, "worktree", g_steal_pointer(&error));
	*ret_slot = g_steal_pointer(&slot);
	return TRUE;
}
