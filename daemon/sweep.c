/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/sweep.h"

#include <errno.h>
#include <glib/gstdio.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/queue.h"
#include "daemon/run-dir.h"
#include "daemon/spawn.h"
#include "db/store-sweep.h"
#include "jobs/spec/sweep.h"

#define FIRST_S	5		/* after the start: what an earlier life left */
#define AGAIN_S	60		/* until it is looked again whether nothing runs */
#define DAY_S	86400
#define DAY_US	(DAY_S * G_GINT64_CONSTANT(1000000))
#define NICE	19
#define MAX_S	(4 * 3600)	/* for a sweep that hangs on a host */

struct Sweeper {
	Lab *lab;
	char *dir;		/* STATE/sweep */
	GPid pid;
	guint timer_id, child_id, kill_id;
	gint64 due_us;		/* monotonic: when it is to be made whatever runs */
};

static void set(char **member, const char *value)
{
	g_free(*member);
	*member = g_strdup(value);
}

static SweepOrder *make_order(const Config *config, Db *db, GError **error)
{
	g_autoptr(SweepOrder) order = sweep_order_new();
	g_autoptr(GStrvBuilder) hosts = g_strv_builder_new();
	g_auto(GStrv) live = NULL, kernels = NULL;

	if (!store_owned(db, &order->last_job, &live, &kernels, error))
		return NULL;
	set(&order->state_dir, config->state_dir);
	set(&order->cache_dir, config->cache_dir);
	set(&order->job_program, config->job_program);
	for (guint i = 0; i < config->hosts->len; i++)
		g_strv_builder_add(hosts, ((const ConfigHost *)g_ptr_array_index(config->hosts, i))->uri);
	g_strfreev(order->hosts);
	g_strfreev(order->live);
	g_strfreev(order->kernels);
	order->hosts = g_strv_builder_end(hosts);
	order->live = g_steal_pointer(&live);
	order->kernels = g_steal_pointer(&kernels);
	order->grace_s = config->grace_s;
	order->logs = (SweepRule){ config->logs_days, config->logs_max_mib };
	order->artifacts = (SweepRule){ config->artifacts_days, config->artifacts_max_mib };
	order->kernels_kept = (SweepRule){ config->kernels_days, config->kernels_max_mib };
	order->worktrees = (SweepRule){ config->worktrees_days, config->worktrees_max_mib };
	return g_steal_pointer(&order);
}

/* ---- now and then ---- */

static gboolean look(gpointer data);

static void look_in(Sweeper *sweeper, guint seconds)
{
	g_clear_handle_id(&sweeper->timer_id, g_source_remove);
	sweeper->timer_id = g_timeout_add_seconds(seconds, look, sweeper);
}

static void child_ended(GPid pid, int status, gpointer data)
{
	Sweeper *sweeper = data;
	g_autofree char *tail = run_dir_log_tail(sweeper->dir);
	const char *last = strstr(tail, "swept: ");

	g_spawn_close_pid(pid);
	sweeper->pid = 0;
	sweeper->child_id = 0;
	g_clear_handle_id(&sweeper->kill_id, g_source_remove);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		lab_log(G_LOG_LEVEL_INFO, 0, "%s", last ? last : "swept");
	else
		lab_log(G_LOG_LEVEL_WARNING, 0, "the sweep failed; its log, %s/log, ends: %s", sweeper->dir, tail);
	look_in(sweeper, DAY_S);
	sweeper->due_us = g_get_monotonic_time() + 2 * DAY_US;
}

static gboolean kill_now(gpointer data)
{
	Sweeper *sweeper = data;

	sweeper->kill_id = 0;
	kill(-sweeper->pid, SIGKILL);
	return G_SOURCE_REMOVE;
}

static gboolean start(Sweeper *sweeper, GError **error)
{
	const Config *config = sweeper->lab->config;
	g_autofree char *file = g_build_filename(sweeper->dir, "order.json", NULL), *log = g_build_filename(sweeper->dir, "log", NULL);
	const char *argv[] = { config->job_program, "sweep", file, NULL };
	g_autoptr(SweepOrder) order = make_order(config, sweeper->lab->db, error);

	if (!order)
		return FALSE;
	order->daemon_pid = (int)getpid();
	if (g_mkdir_with_parents(sweeper->dir, 0755) != 0)
		return spec_error_set(error, SPEC_ERROR_IO, NULL, "%s: %s", sweeper->dir, g_strerror(errno));
	g_unlink(log);
	if (!sweep_order_save(order, file, error) || !spawn_stage(argv, log, NULL, &sweeper->pid, error))
		return FALSE;
	setpriority(PRIO_PROCESS, (id_t)sweeper->pid, NICE);
	sweeper->child_id = g_child_watch_add(sweeper->pid, child_ended, sweeper);
	sweeper->kill_id = g_timeout_add_seconds(MAX_S, kill_now, sweeper);
	return TRUE;
}

static gboolean look(gpointer data)
{
	Sweeper *sweeper = data;
	g_autoptr(GError) error = NULL;

	sweeper->timer_id = 0;
	if (!queue_idle(sweeper->lab->queue) && g_get_monotonic_time() < sweeper->due_us)
		look_in(sweeper, AGAIN_S);
	else if (!start(sweeper, &error)) {
		lab_log(G_LOG_LEVEL_WARNING, 0, "the sweep has to wait: %s", error->message);
		look_in(sweeper, AGAIN_S);
	}
	return G_SOURCE_REMOVE;
}

Sweeper *sweeper_new(Lab *lab)
{
	Sweeper *sweeper = g_new0(Sweeper, 1);

	sweeper->lab = lab;
	sweeper->dir = g_build_filename(lab->config->state_dir, "sweep", NULL);
	sweeper->due_us = g_get_monotonic_time() + DAY_US;
	look_in(sweeper, FIRST_S);
	return sweeper;
}

void sweeper_free(Sweeper *sweeper)
{
	if (!sweeper)
		return;
	if (sweeper->pid)
		kill(-sweeper->pid, SIGKILL);
	g_clear_handle_id(&sweeper->timer_id, g_source_remove);
	g_clear_handle_id(&sweeper->child_id, g_source_remove);
	g_clear_handle_id(&sweeper->kill_id, g_source_remove);
	g_free(sweeper->dir);
	g_free(sweeper);
}

/* ---- on request ---- */

static gboolean run_dry(const Config *config, const char *file, GError **error)
{
	char *argv[] = { config->job_program, (char *)"sweep", (char *)file, NULL };
	int status;

	return g_spawn_sync(NULL, argv, NULL, G_SPAWN_CHILD_INHERITS_STDIN, NULL, NULL, NULL, NULL, &status, error) &&
	       g_spawn_check_wait_status(status, error);
}

gboolean sweep_dry_run(const Config *config, GError **error)
{
	g_autofree char *path = config_database(config), *dir = g_dir_make_tmp("regrlab-sweep-XXXXXX", error);
	g_autofree char *file = dir ? g_build_filename(dir, "order.json", NULL) : NULL;
	g_autoptr(Db) db = dir ? db_open(path, error) : NULL;
	g_autoptr(SweepOrder) order = db ? make_order(config, db, error) : NULL;
	gboolean good = FALSE;

	if (order) {
		order->dry_run = TRUE;
		good = sweep_order_save(order, file, error) && run_dry(config, file, error);
	}
	if (dir) {
		g_unlink(file);
		g_rmdir(dir);
	}
	return good;
}
