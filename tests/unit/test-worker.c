/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/worker.h"

#define TASKS 20

typedef struct {
	GThread *loop;		/* the thread of the main loop */
	GMutex mutex;
	GCond changed;
	gboolean loop_ran;
	GMainLoop *main;
	guint worked, done;
} Shared;

typedef struct {
	Shared *shared;
	guint number;
} One;

static void set_up(Shared *shared)
{
	*shared = (Shared){ .loop = g_thread_self() };
	g_mutex_init(&shared->mutex);
	g_cond_init(&shared->changed);
	shared->main = g_main_loop_new(NULL, FALSE);
}

static void tear_down(Shared *shared)
{
	g_mutex_clear(&shared->mutex);
	g_cond_clear(&shared->changed);
	g_main_loop_unref(shared->main);
}

static void count_work(gpointer data)
{
	One *one = data;

	g_assert_true(g_thread_self() != one->shared->loop);
	g_assert_cmpuint(one->shared->worked++, ==, one->number);
}

static void count_done(gpointer data)
{
	One *one = data;

	g_assert_true(g_thread_self() == one->shared->loop);
	g_assert_cmpuint(one->shared->done++, ==, one->number);
	if (one->shared->done == TASKS)
		g_main_loop_quit(one->shared->main);
}

/* One after the other, and what is done is told where the loop is. */
static void test_order(void)
{
	g_autoptr(Worker) worker = worker_new();
	One tasks[TASKS];
	Shared shared;

	set_up(&shared);
	for (guint i = 0; i < TASKS; i++) {
		tasks[i] = (One){ &shared, i };
		worker_ask(worker, count_work, count_done, &tasks[i]);
	}
	g_main_loop_run(shared.main);
	g_assert_cmpuint(shared.done, ==, TASKS);
	tear_down(&shared);
}

static gboolean loop_runs(gpointer data)
{
	Shared *shared = data;

	g_mutex_lock(&shared->mutex);
	shared->loop_ran = TRUE;
	g_cond_signal(&shared->changed);
	g_mutex_unlock(&shared->mutex);
	return G_SOURCE_REMOVE;
}

static void wait_for_loop(gpointer data)
{
	Shared *shared = data;

	g_mutex_lock(&shared->mutex);
	while (!shared->loop_ran)
		g_cond_wait(&shared->changed, &shared->mutex);
	g_mutex_unlock(&shared->mutex);
}

static void quit(gpointer data)
{
	g_main_loop_quit(((Shared *)data)->main);
}

/* Work that cannot end before the loop has done something else. */
static void test_loop_goes_on(void)
{
	g_autoptr(Worker) worker = worker_new();
	Shared shared;

	set_up(&shared);
	worker_ask(worker, wait_for_loop, quit, &shared);
	g_idle_add(loop_runs, &shared);
	g_main_loop_run(shared.main);
	g_assert_true(shared.loop_ran);
	tear_down(&shared);
}

/* Nothing that was asked for is lost at the end, also without a loop. */
static void test_end(void)
{
	Worker *worker = worker_new();
	One tasks[TASKS - 1];
	Shared shared;

	set_up(&shared);
	for (guint i = 0; i < TASKS - 1; i++) {
		tasks[i] = (One){ &shared, i };
		worker_ask(worker, count_work, count_done, &tasks[i]);
	}
	worker_free(worker);
	g_assert_cmpuint(shared.done, ==, TASKS - 1);
	g_assert_false(g_main_context_pending(NULL));
	tear_down(&shared);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/thread/order", test_order);
	g_test_add_func("/thread/loop-goes-on", test_loop_goes_on);
	g_test_add_func("/thread/end", test_end);
	return g_test_run();
}
