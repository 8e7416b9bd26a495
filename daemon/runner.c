/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/runner.h"

#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "daemon/health.h"
#include "daemon/ingest.h"
#include "daemon/run-dir.h"
#include "daemon/spawn.h"
#include "db/store-access.h"

#define EXIT_LOCKED	75	/* another stage works in the directory */
#define LOCKED_WAIT_MS	2000
#define LOCKED_MAX	150	/* times */
#define TROUBLE_WAIT_MS	5000	/* the database cannot be written */
#define SILENCE_S	4200	/* without an event, on top of the longest step */
#define BATCHES_MAX	1000	/* of events taken in at once when a stage has ended */

struct Runner {
	Lab *lab;
	gint64 job;
	Stage stage;
	const ConfigHost *host;
	int slot;		/* of the host */
	char *dir;
	RunnerFunc func;
	gpointer data;

	GPid pid;		/* 0: nothing runs */
	guint child_id, poll_id, timer_id, kill_id;
	int status;		/* of the last program that ended, as of waitpid */
	gint64 events_size;	/* of events.jsonl when it was last looked at */
	gint64 event_us;	/* monotonic: when one last came, or the program started */
	gint64 started_us;	/* monotonic: when the program started */
	gint64 unbooked_us;	/* how long programs ran, of which the submitter's account does not know yet */

	gboolean ended;		/* an end event was taken in */
	gboolean cancelling, stopping;
	gboolean troubled;	/* logged that the database cannot be written */
	char *host_down;	/* why the stage could not use its host; NULL: it could */
	char *broken;		/* the run directory is not what it has to be: why */
	int starts, crashes, locked;
	struct {
		JobState state;
		const char *reason;
		char *message;
	} last;			/* how the job ends, when it is not the stage that says so */
};

static const char *stage_name(const Runner *runner)
{
	return runner->stage == STAGE_BUILD ? "build" : "measure";
}

#define TELL(runner, level, ...) \
	lab_log_stage(level, (runner)->job, stage_name(runner), (runner)->host ? (runner)->host->name : NULL, __VA_ARGS__)

static void set_timer(Runner *runner, guint delay_ms, GSourceFunc func)
{
	g_clear_handle_id(&runner->timer_id, g_source_remove);
	runner->timer_id = g_timeout_add(delay_ms, func, runner);
}

static void done(Runner *runner)
{
	g_clear_handle_id(&runner->timer_id, g_source_remove);
	runner->func(runner, RUNNER_DONE, runner->data);	/* frees it */
}

/* ---- the job's end, when the stage did not write it ---- */

static void note_trouble(Runner *runner, const GError *error)
{
	if (!runner->troubled)
		TELL(runner, G_LOG_LEVEL_WARNING, "cannot be stored, will be tried again: %s", error->message);
	runner->troubled = TRUE;
}

static gboolean try_finish(gpointer data)
{
	Runner *runner = data;
	g_autoptr(GError) error = NULL;

	runner->timer_id = 0;
	if (store_job_finish(runner->lab->db, runner->job, runner->last.state, runner->last.reason,
			     runner->last.message, runner->lab->now_ns(), &error)) {
		if (runner->last.state == JOB_INFRA_FAILED)
			TELL(runner, G_LOG_LEVEL_WARNING, "%s", runner->last.message);
		done(runner);
		return G_SOURCE_REMOVE;
	}
	note_trouble(runner, error);
	if (runner->stopping)
		done(runner);
	else
		set_timer(runner, TROUBLE_WAIT_MS, try_finish);
	return G_SOURCE_REMOVE;
}

/* Ends the job and the runner, as soon as the database can be written. reason is a literal. */
static void finish(Runner *runner, JobState state, const char *reason, const char *message)
{
	g_free(runner->last.message);
	runner->last.state = state;
	runner->last.reason = reason;
	runner->last.message = g_strdup(message);
	set_timer(runner, runner->troubled ? TROUBLE_WAIT_MS : 0, try_finish);
}

static void finish_cancelled(Runner *runner)
{
	finish(runner, JOB_CANCELLED, "cancelled", "cancelled before it came to an end");
}

/* ---- taking in ---- */

static gboolean signal_group(Runner *runner, int number)
{
	return runner->pid && kill(-runner->pid, number) == 0;
}

/* FALSE: the database cannot be written now. */
static gboolean take_in(Runner *runner, int *ret_events)
{
	IngestOutcome outcome = { 0 };
	g_autoptr(GError) error = NULL;

	*ret_events = 0;
	if (runner->broken)
		return TRUE;
	if (!ingest_job(runner->lab->db, runner->job, runner->dir, runner->lab->now_ns(), &outcome, &error)) {
		if (error->domain == DB_ERROR && error->code != DB_ERROR_CONFLICT) {
			note_trouble(runner, error);
			return FALSE;
		}
		runner->broken = g_strdup(error->message);
		signal_group(runner, SIGKILL);
		return TRUE;
	}
	runner->troubled = FALSE;
	runner->ended |= outcome.ended;
	if (outcome.host_down) {
		g_free(runner->host_down);
		runner->host_down = outcome.host_down;
		runner->func(runner, RUNNER_HOST_DOWN, runner->data);
	}
	*ret_events = outcome.events;
	if (outcome.events)
		runner->event_us = g_get_monotonic_time();
	if (outcome.moved) {
		runner->crashes = 0;
		runner->func(runner, RUNNER_CHANGED, runner->data);
	}
	return TRUE;
}

/* All that is there. FALSE: the database cannot be written now. */
static gboolean take_in_all(Runner *runner)
{
	int events, batches = 0;

	do
		if (!take_in(runner, &events))
			return FALSE;
	while (events && ++batches < BATCHES_MAX);
	return TRUE;
}

static gboolean has_new_events(Runner *runner)
{
	g_autofree char *path = g_build_filename(runner->dir, "events.jsonl", NULL);
	struct stat status;

	if (stat(path, &status) != 0 || status.st_size == runner->events_size)
		return FALSE;
	runner->events_size = status.st_size;
	return TRUE;
}

static void check_silence(Runner *runner)
{
	gint64 limit_s = SILENCE_S + (runner->stage == STAGE_BUILD ? runner->lab->config->build_timeout_s : 0);

	if (g_get_monotonic_time() - runner->event_us < limit_s * G_USEC_PER_SEC)
		return;
	TELL(runner, G_LOG_LEVEL_WARNING, "the %s stage said nothing for %" G_GINT64_FORMAT " s and is killed",
		stage_name(runner), limit_s);
	runner->event_us = g_get_monotonic_time();
	signal_group(runner, SIGKILL);
}

static gboolean poll_events(gpointer data)
{
	Runner *runner = data;
	int events;

	check_silence(runner);
	if (has_new_events(runner) && (!take_in(runner, &events) || events == INGEST_MAX_EVENTS))
		runner->events_size = -1;	/* there is more */
	return G_SOURCE_CONTINUE;
}

/* ---- starting ---- */

static void child_ended(GPid pid, int status, gpointer data);
static gboolean start(gpointer data);

/* What happens while the machine is in trouble is not held against a job. */
static gboolean wait_for_health(Runner *runner)
{
	if (!health_blocks(runner->lab->health))
		return FALSE;
	set_timer(runner, TROUBLE_WAIT_MS, start);
	return TRUE;
}

static void start_later(Runner *runner)
{
	set_timer(runner, 1000u << MIN(runner->crashes, 5), start);
}

/* A program that is just being replaced by a newer one cannot be started for a moment. */
static void start_failed(Runner *runner, const GError *error)
{
	if (wait_for_health(runner))
		return;
	if (++runner->crashes < RUNNER_MAX_CRASHES) {
		TELL(runner, G_LOG_LEVEL_WARNING, "the %s stage cannot be started: %s", stage_name(runner), error->message);
		start_later(runner);
		return;
	}
	g_autofree char *message = g_strdup_printf("the %s stage cannot be started: %s", stage_name(runner), error->message);

	finish(runner, JOB_INFRA_FAILED, "cannot-start", message);
}

/* What was written while no daemon ran comes first: it may be the end. FALSE: nothing is to be started now. */
static gboolean take_in_before(Runner *runner)
{
	if (!take_in_all(runner))
		set_timer(runner, TROUBLE_WAIT_MS, start);
	else if (runner->broken)
		finish(runner, JOB_INFRA_FAILED, "run-directory", runner->broken);
	else if (runner->ended)
		done(runner);
	else
		return TRUE;
	return FALSE;
}

static gboolean start(gpointer data)
{
	Runner *runner = data;
	const cpu_set_t *cpus = runner->stage == STAGE_BUILD ? &runner->lab->build_cpus : &runner->lab->stage_cpus;
	const char *argv[] = { runner->lab->config->job_program, stage_name(runner), runner->dir, NULL };
	g_autofree char *log = g_build_filename(runner->dir, "log", NULL);
	g_autoptr(GError) error = NULL;

	runner->timer_id = 0;
	if (runner->cancelling) {
		finish_cancelled(runner);
		return G_SOURCE_REMOVE;
	}
	if (wait_for_health(runner) || !take_in_before(runner))
		return G_SOURCE_REMOVE;
	if (!run_dir_prepare(runner->lab, runner->job, runner->dir, runner->host, runner->slot, &error) ||
	    !spawn_stage(argv, log, cpus, &runner->pid, &error)) {
		start_failed(runner, error);
		return G_SOURCE_REMOVE;
	}
	runner->starts++;
	runner->started_us = runner->event_us = g_get_monotonic_time();
	runner->events_size = -1;
	runner->child_id = g_child_watch_add(runner->pid, child_ended, runner);
	runner->poll_id = g_timeout_add(RUNNER_POLL_MS, poll_events, runner);
	TELL(runner, G_LOG_LEVEL_MESSAGE, "the %s stage is started%s%s", stage_name(runner), runner->host ? " on " : "",
	     runner->host ? runner->host->name : "");
	runner->func(runner, RUNNER_STARTED, runner->data);
	return G_SOURCE_REMOVE;
}

/* ---- the program has ended ---- */

static char *how_it_ended(int status)
{
	if (WIFSIGNALED(status))
		return g_strdup_printf("killed by signal %d, %s", WTERMSIG(status), g_strsignal(WTERMSIG(status)));
	return g_strdup_printf("exit status %d", WEXITSTATUS(status));
}

static void give_up(Runner *runner)
{
	g_autofree char *how = how_it_ended(runner->status);
	g_autofree char *tail = run_dir_log_tail(runner->dir);
	g_autofree char *message = g_strdup_printf("the %s stage ended %d times without saying how (%s)%s%s",
						   stage_name(runner), runner->crashes, how,
						   *tail ? "; its log ends: " : "", tail);

	finish(runner, JOB_INFRA_FAILED, "stage-died", message);
}

static void crashed(Runner *runner)
{
	g_autofree char *how = how_it_ended(runner->status);

	TELL(runner, G_LOG_LEVEL_WARNING, "the %s stage ended without saying how: %s", stage_name(runner), how);
	runner->func(runner, RUNNER_CRASHED, runner->data);
	if (wait_for_health(runner))
		return;
	runner->crashes++;
	if (runner->crashes >= RUNNER_MAX_CRASHES || runner->starts >= RUNNER_MAX_STARTS)
		give_up(runner);
	else
		start_later(runner);
}

static void locked(Runner *runner)
{
	if (++runner->locked > LOCKED_MAX)
		finish(runner, JOB_INFRA_FAILED, "run-directory-locked", "another stage works in the job's run directory");
	else
		set_timer(runner, LOCKED_WAIT_MS, start);
}

static void book_time(Runner *runner)
{
	g_autoptr(GError) error = NULL;

	if (!runner->unbooked_us)
		return;
	if (store_machine_time_add(runner->lab->db, runner->job, runner->unbooked_us * 1000, runner->lab->now_ns(), &error))
		runner->unbooked_us = 0;
	else
		note_trouble(runner, error);
}

static void ended(Runner *runner)
{
	g_autofree char *how = how_it_ended(runner->status);

	if (runner->ended)
		TELL(runner, G_LOG_LEVEL_MESSAGE, "the %s stage came to its end", stage_name(runner));
	else
		TELL(runner, G_LOG_LEVEL_MESSAGE, "the %s stage is stopped with the daemon (%s)", stage_name(runner), how);
	done(runner);
}

/* Everything that the program wrote is taken in before it is judged. */
static gboolean settle(gpointer data)
{
	Runner *runner = data;
	gboolean good = take_in_all(runner);

	runner->timer_id = 0;
	book_time(runner);
	if (!good && !runner->stopping)
		set_timer(runner, TROUBLE_WAIT_MS, settle);
	else if (runner->broken)
		finish(runner, JOB_INFRA_FAILED, "run-directory", runner->broken);
	else if ((runner->ended || runner->stopping) && !(runner->cancelling && runner->host_down))
		ended(runner);
	else if (runner->cancelling)
		finish_cancelled(runner);
	else if (WIFEXITED(runner->status) && WEXITSTATUS(runner->status) == EXIT_LOCKED)
		locked(runner);
	else
		crashed(runner);
	return G_SOURCE_REMOVE;
}

static void child_ended(GPid pid, int status, gpointer data)
{
	Runner *runner = data;

	kill(-pid, SIGKILL);	/* what it left behind in its group */
	g_spawn_close_pid(pid);
	runner->pid = 0;
	runner->child_id = 0;
	runner->status = status;
	runner->unbooked_us += g_get_monotonic_time() - runner->started_us;
	g_clear_handle_id(&runner->poll_id, g_source_remove);
	g_clear_handle_id(&runner->kill_id, g_source_remove);
	set_timer(runner, 0, settle);
}

/* ---- ending it ---- */

static gboolean kill_now(gpointer data)
{
	Runner *runner = data;

	runner->kill_id = 0;
	signal_group(runner, SIGKILL);
	return G_SOURCE_REMOVE;
}

static void terminate(Runner *runner)
{
	if (!runner->pid) {
		/* it waits to be started, or for the database */
		set_timer(runner, 0, settle);
		return;
	}
	signal_group(runner, SIGTERM);
	if (!runner->kill_id)
		runner->kill_id = g_timeout_add(RUNNER_KILL_AFTER_MS, kill_now, runner);
}

void runner_cancel(Runner *runner)
{
	if (runner->cancelling)
		return;
	runner->cancelling = TRUE;
	terminate(runner);
}

void runner_stop(Runner *runner)
{
	runner->stopping = TRUE;
	terminate(runner);
}

const char *runner_host_trouble(const Runner *runner)
{
	return runner->host_down;
}

gint64 runner_job(const Runner *runner)
{
	return runner->job;
}

Runner *runner_new(Lab *lab, gint64 job, Stage stage, const ConfigHost *host, RunnerFunc func, gpointer data)
{
	Runner *runner = g_new0(Runner, 1);

	runner->lab = lab;
	runner->job = job;
	runner->stage = stage;
	runner->host = host;
	runner->dir = lab_job_dir(lab, job);
	runner->func = func;
	runner->data = data;
	set_timer(runner, 0, start);
	return runner;
}

void runner_set_slot(Runner *runner, int slot)
{
	runner->slot = slot;
}

void runner_free(Runner *runner)
{
	if (!runner)
		return;
	signal_group(runner, SIGKILL);
	g_clear_handle_id(&runner->child_id, g_source_remove);
	g_clear_handle_id(&runner->poll_id, g_source_remove);
	g_clear_handle_id(&runner->timer_id, g_source_remove);
	g_clear_handle_id(&runner->kill_id, g_source_remove);
	g_free(runner->last.message);
	g_free(runner->broken);
	g_free(runner->host_down);
	g_free(runner->dir);
	g_free(runner);
}
