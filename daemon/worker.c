/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/worker.h"

#include <sys/resource.h>
#include <unistd.h>

#define NICE 5

typedef struct {
	WorkFunc work, done;	/* work NULL: the thread ends */
	gpointer data;
} Task;

struct Worker {
	GThread *thread;
	GAsyncQueue *asked, *finished;	/* of Task */
};

static gboolean collect(gpointer data)
{
	Worker *worker = data;
	Task *task;

	while ((task = g_async_queue_try_pop(worker->finished))) {
		task->done(task->data);
		g_free(task);
	}
	return G_SOURCE_REMOVE;
}

static gpointer run(gpointer data)
{
	Worker *worker = data;
	Task *task;

	setpriority(PRIO_PROCESS, (id_t)gettid(), NICE);	/* of this thread alone */
	while ((task = g_async_queue_pop(worker->asked))->work) {
		task->work(task->data);
		g_async_queue_push(worker->finished, task);
		g_idle_add_full(G_PRIORITY_DEFAULT, collect, worker, NULL);
	}
	g_free(task);
	return NULL;
}

Worker *worker_new(void)
{
	Worker *worker = g_new0(Worker, 1);

	worker->asked = g_async_queue_new();
	worker->finished = g_async_queue_new();
	worker->thread = g_thread_new("worker", run, worker);
	return worker;
}

void worker_ask(Worker *worker, WorkFunc work, WorkFunc done, gpointer data)
{
	Task *task = g_new(Task, 1);

	*task = (Task){ work, done, data };
	g_async_queue_push(worker->asked, task);
}

void worker_free(Worker *worker)
{
	if (!worker)
		return;
	worker_ask(worker, NULL, NULL, NULL);
	g_thread_join(worker->thread);
	collect(worker);
	while (g_source_remove_by_user_data(worker))
		continue;
	g_async_queue_unref(worker->asked);
	g_async_queue_unref(worker->finished);
	g_free(worker);
}
