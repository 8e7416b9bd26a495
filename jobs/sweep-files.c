/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Run directories, kernels, worktrees, temporary files. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "jobs/sweep.h"

#define DAY_S	86400
#define MIB	(1024 * 1024)
#define HEX	"0123456789abcdef"
#define KEY_MIN	9	/* a dash and digits of a worktree's key */

/* Something that a rule may say is not kept. */
typedef struct {
	char *path;
	gint64 used_s, bytes;
} Thing;

static void thing_clear(gpointer data)
{
	g_free(((Thing *)data)->path);
}

static GArray *things_new(void)
{
	GArray *things = g_array_new(FALSE, FALSE, sizeof(Thing));

	g_array_set_clear_func(things, thing_clear);
	return things;
}

static int longest_unused_first(gconstpointer a, gconstpointer b)
{
	const Thing *one = a, *other = b;

	return one->used_s == other->used_s ? strcmp(one->path, other->path) : one->used_s < other->used_s ? -1 : 1;
}

/* What a file or a folder takes, links not followed. */
static gint64 bytes_of(const char *path)
{
	struct stat status;
	gint64 bytes = 0;

	if (lstat(path, &status) != 0)
		return 0;
	if (S_ISDIR(status.st_mode)) {
		g_autoptr(GDir) dir = g_dir_open(path, 0, NULL);
		const char *name;

		while (dir && (name = g_dir_read_name(dir))) {
			g_autofree char *entry = g_build_filename(path, name, NULL);

			bytes += bytes_of(entry);
		}
	}
	return bytes + (gint64)status.st_blocks * 512;
}

static gboolean recent(const Sweep *sweep, gint64 used_s)
{
	return sweep->now_s - used_s < sweep->order->grace_s;
}

static void add_thing(GArray *things, const char *path, gboolean measured)
{
	struct stat status;

	if (lstat(path, &status) != 0)
		return;
	Thing thing = { g_strdup(path), status.st_mtim.tv_sec, measured ? bytes_of(path) : 0 };
	g_array_append_val(things, thing);
}

typedef void (*RemoveFunc)(Sweep *sweep, const Thing *thing, const char *why);

static void apply_rule(Sweep *sweep, GArray *things, const SweepRule *rule, RemoveFunc remove_one)
{
	gint64 all = 0;

	g_array_sort(things, longest_unused_first);
	for (guint i = 0; i < things->len; i++)
		all += g_array_index(things, Thing, i).bytes;
	for (guint i = 0; i < things->len; i++) {
		const Thing *thing = &g_array_index(things, Thing, i);
		gboolean old = rule->days && sweep->now_s - thing->used_s > (gint64)rule->days * DAY_S;
		gboolean much = rule->max_mib && all > (gint64)rule->max_mib * MIB;

		if (recent(sweep, thing->used_s) || (!old && !much))
			continue;
		all -= thing->bytes;
		remove_one(sweep, thing, old ? "unused for longer than is kept" : "more than is kept");
	}
}

/* Calls func with each entry of a folder. */
typedef void (*EntryFunc)(Sweep *sweep, const char *name, const char *path, gpointer data);

static void each_entry(Sweep *sweep, const char *folder, EntryFunc func, gpointer data)
{
	g_autoptr(GDir) dir = g_dir_open(folder, 0, NULL);
	const char *name;

	while (dir && (name = g_dir_read_name(dir))) {
		g_autofree char *path = g_build_filename(folder, name, NULL);

		func(sweep, name, path, data);
	}
}

/* ---- run directories ---- */

typedef struct {
	GArray *logs, *artifacts;
} Runs;

static void remove_temporary(Sweep *sweep, const char *name, const char *path, gpointer data G_GNUC_UNUSED)
{
	struct stat status;

	if (g_str_has_suffix(name, ".tmp") && lstat(path, &status) == 0 && S_ISREG(status.st_mode) &&
	    !recent(sweep, status.st_mtim.tv_sec))
		sweep_remove(sweep, "temporary", path, NULL, status.st_size, "of a write that never ended");
}

static gboolean is_number(const char *name)
{
	return *name >= '1' && *name <= '9' && strlen(name) <= 18 && strspn(name, "0123456789") == strlen(name);
}

static void look_at_run(Sweep *sweep, const char *name, const char *path, gpointer data)
{
	g_autofree char *lock = g_build_filename(path, "lock", NULL), *log = g_build_filename(path, "log", NULL);
	g_autofree char *artifacts = g_build_filename(path, "artifacts", NULL);
	Runs *runs = data;
	struct stat status;

	if (!is_number(name) || lstat(path, &status) != 0 || !S_ISDIR(status.st_mode) || g_hash_table_contains(sweep->live, name))
		return;
	if (atoll(name) <= sweep->order->last_job) {
		add_thing(runs->logs, log, TRUE);
		add_thing(runs->artifacts, artifacts, TRUE);
		each_entry(sweep, path, remove_temporary, NULL);
		return;
	}
	int fd = sweep_lock(lock);
	if (!recent(sweep, status.st_mtim.tv_sec) && (fd >= 0 || access(lock, F_OK) != 0))
		sweep_remove(sweep, "run-directory", path, NULL, bytes_of(path), "of no job");
	if (fd >= 0)
		close(fd);
}

static void remove_log(Sweep *sweep, const Thing *thing, const char *why)
{
	sweep_remove(sweep, "log", thing->path, NULL, thing->bytes, why);
}

static void remove_artifacts(Sweep *sweep, const Thing *thing, const char *why)
{
	sweep_remove(sweep, "artifacts", thing->path, NULL, thing->bytes, why);
}

static void sweep_runs(Sweep *sweep)
{
	g_autofree char *jobs = g_build_filename(sweep->order->state_dir, "jobs", NULL);
	g_autoptr(GArray) logs = things_new(), artifacts = things_new();
	Runs runs = { logs, artifacts };

	each_entry(sweep, jobs, look_at_run, &runs);
	apply_rule(sweep, logs, &sweep->order->logs, remove_log);
	apply_rule(sweep, artifacts, &sweep->order->artifacts, remove_artifacts);
}

/* ---- kernels: CACHE/kernels/KEY, KEY.lock, KEY.tmp ---- */

static void remove_kernel(Sweep *sweep, const Thing *thing, const char *why)
{
	g_autofree char *lock = g_strconcat(thing->path, ".lock", NULL);
	int fd = sweep_lock(lock);

	if (fd < 0)
		return;
	sweep_remove(sweep, "kernel", thing->path, NULL, thing->bytes, why);
	close(fd);
}

static void look_at_kernel(Sweep *sweep, const char *name, const char *path, gpointer data)
{
	gsize digits = strspn(name, HEX);
	struct stat status;

	if (digits != 64 || lstat(path, &status) != 0 || !S_ISDIR(status.st_mode))
		return;
	if (!name[digits]) {
		if (!g_hash_table_contains(sweep->kernels, path))
			add_thing(data, path, TRUE);
		return;
	}
	if (!g_str_equal(name + digits, ".tmp") || recent(sweep, status.st_mtim.tv_sec))
		return;
	g_autofree char *key = g_strndup(path, strlen(path) - strlen(".tmp")), *lock = g_strconcat(key, ".lock", NULL);
	int fd = sweep_lock(lock);
	if (fd < 0)
		return;
	sweep_remove(sweep, "temporary", path, NULL, bytes_of(path), "of a kernel that was never whole");
	close(fd);
}

/* ---- worktrees: CACHE/worktrees/TREE-KEY.N with lock, ready, src, obj ---- */

/* The lock stays: who waits for it must get the same one. Without `ready` the rest is made anew. */
static void remove_worktree(Sweep *sweep, const Thing *thing, const char *why)
{
	g_autofree char *lock = g_build_filename(thing->path, "lock", NULL), *ready = g_build_filename(thing->path, "ready", NULL);
	int fd = sweep_lock(lock);

	if (fd < 0)
		return;
	if (!sweep->order->dry_run)
		unlink(ready);
	sweep_remove(sweep, "worktree", thing->path, "lock", thing->bytes, why);
	close(fd);
}

static void look_at_worktree(Sweep *sweep, const char *name, const char *path, gpointer data)
{
	const char *dash = strrchr(name, '-'), *dot = dash ? dash + 1 + strspn(dash + 1, HEX) : NULL;
	g_autofree char *lock = g_build_filename(path, "lock", NULL), *src = g_build_filename(path, "src", NULL);
	g_autofree char *obj = g_build_filename(path, "obj", NULL), *ready = g_build_filename(path, "ready", NULL);
	struct stat status;

	if (!dot || *dot != '.' || dot - dash < KEY_MIN || !dot[1] || strspn(dot + 1, "0123456789") != strlen(dot + 1) ||
	    lstat(path, &status) != 0 || !S_ISDIR(status.st_mode) || access(lock, F_OK) != 0)
		return;
	if (access(src, F_OK) != 0 && access(obj, F_OK) != 0)
		return;		/* swept already */
	Thing thing = { g_strdup(path), status.st_mtim.tv_sec, bytes_of(path) };
	if (access(ready, F_OK) == 0) {
		g_array_append_val((GArray *)data, thing);
		return;
	}
	if (!recent(sweep, thing.used_s))
		remove_worktree(sweep, &thing, "of a checkout that never became whole");
	thing_clear(&thing);
}

static void sweep_cache(Sweep *sweep)
{
	g_autofree char *kernels = g_build_filename(sweep->order->cache_dir, "kernels", NULL);
	g_autofree char *configs = g_build_filename(sweep->order->cache_dir, "configs", NULL);
	g_autofree char *worktrees = g_build_filename(sweep->order->cache_dir, "worktrees", NULL);
	g_autoptr(GArray) old_kernels = things_new(), old_worktrees = things_new();

	each_entry(sweep, kernels, look_at_kernel, old_kernels);
	apply_rule(sweep, old_kernels, &sweep->order->kernels_kept, remove_kernel);
	each_entry(sweep, configs, remove_temporary, NULL);
	each_entry(sweep, worktrees, look_at_worktree, old_worktrees);
	apply_rule(sweep, old_worktrees, &sweep->order->worktrees, remove_worktree);
}

void sweep_files(Sweep *sweep)
{
	each_entry(sweep, sweep->order->state_dir, remove_temporary, NULL);
	sweep_runs(sweep);
	sweep_cache(sweep);
}
