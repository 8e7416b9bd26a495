/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/lookout.h"

#include <signal.h>

#include "daemon/run-dir.h"
#include "daemon/spawn.h"
#include "jobs/spec/file.h"

#define FACTS_MAX_BYTES (64 * 1024)

struct Lookout {
	Lab *lab;
	const ConfigHost *host;
	LookoutFunc func;
	gpointer data;
	char *dir;
	GPid pid;		/* 0: no look goes on */
	guint timer_id, child_id, kill_id;
	guint failures;		/* in a row */
};

static gboolean look(gpointer data);

static void look_in(Lookout *lookout, guint delay_s)
{
	g_clear_handle_id(&lookout->timer_id, g_source_remove);
	lookout->timer_id = g_timeout_add_seconds(delay_s, look, lookout);
}

static guint backoff_s(const Lookout *lookout)
{
	return MIN(LOOKOUT_BACKOFF_S << MIN(lookout->failures, 10), LOOKOUT_BACKOFF_MAX_S);
}

static void tell(Lookout *lookout, const char *message, JsonObject *facts)
{
	if (*message) {
		look_in(lookout, backoff_s(lookout));
		lookout->failures++;
	} else {
		lookout->failures = 0;
		look_in(lookout, LOOKOUT_EVERY_S);
	}
	lookout->func(message, facts, lookout->data);
}

static void child_ended(GPid pid, int status G_GNUC_UNUSED, gpointer data)
{
	Lookout *lookout = data;
	g_autofree char *path = g_build_filename(lookout->dir, "host.json", NULL);
	g_autoptr(JsonObject) facts = NULL;
	const char *message;

	kill(-pid, SIGKILL);
	g_spawn_close_pid(pid);
	lookout->pid = 0;
	lookout->child_id = 0;
	g_clear_handle_id(&lookout->kill_id, g_source_remove);
	if (!file_read_json(path, FACTS_MAX_BYTES, &facts, NULL)) {
		tell(lookout, "looking at it ended without a word: its log is in the lab's state directory, hosts/NAME/log", NULL);
		return;
	}
	message = json_object_get_string_member_with_default(facts, "message", "");
	if (!*message && !json_object_get_boolean_member_with_default(facts, "up", FALSE))
		message = "it is down";
	tell(lookout, message, facts);
}

static gboolean kill_now(gpointer data)
{
	Lookout *lookout = data;

	lookout->kill_id = 0;
	kill(-lookout->pid, SIGKILL);
	return G_SOURCE_REMOVE;
}

static gboolean look(gpointer data)
{
	Lookout *lookout = data;
	const char *argv[] = { lookout->lab->config->job_program, "look", lookout->dir, NULL };
	g_autofree char *log = g_build_filename(lookout->dir, "log", NULL);
	g_autoptr(GError) error = NULL;

	lookout->timer_id = 0;
	if (lookout->pid)
		return G_SOURCE_REMOVE;
	if (!run_dir_prepare_host(lookout->lab, lookout->dir, lookout->host, &error) ||
	    !spawn_stage(argv, log, NULL, &lookout->pid, &error)) {
		tell(lookout, error->message, NULL);
		return G_SOURCE_REMOVE;
	}
	lookout->child_id = g_child_watch_add(lookout->pid, child_ended, lookout);
	lookout->kill_id = g_timeout_add_seconds(LOOKOUT_KILL_S, kill_now, lookout);
	return G_SOURCE_REMOVE;
}

void lookout_note_failure(Lookout *lookout)
{
	look_in(lookout, backoff_s(lookout));
	lookout->failures++;
}

Lookout *lookout_new(Lab *lab, const ConfigHost *host, LookoutFunc func, gpointer data)
{
	Lookout *lookout = g_new0(Lookout, 1);

	lookout->lab = lab;
	lookout->host = host;
	lookout->func = func;
	lookout->data = data;
	lookout->dir = g_build_filename(lab->config->state_dir, "hosts", host->name, NULL);
	look_in(lookout, 0);
	return lookout;
}

void lookout_free(Lookout *lookout)
{
	if (!lookout)
		return;
	if (lookout->pid)
		kill(-lookout->pid, SIGKILL);
	g_clear_handle_id(&lookout->timer_id, g_source_remove);
	g_clear_handle_id(&lookout->child_id, g_source_remove);
	g_clear_handle_id(&lookout->kill_id, g_source_remove);
	g_free(lookout->dir);
	g_free(lookout);
}
