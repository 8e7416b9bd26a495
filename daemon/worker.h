/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A thread for what would hold up the main loop. One thing at a time, in the
 * order in which it was asked for, so that the memory of one is all it takes;
 * at a lower priority than the loop.
 */
#pragma once

#include <glib.h>

typedef struct Worker Worker;
typedef void (*WorkFunc)(gpointer data);

Worker *worker_new(void);
/* Waits until all is done. NULL is fine. */
void worker_free(Worker *worker);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Worker, worker_free)

/* work(data) in the thread, then done(data) in the default main context. */
void worker_ask(Worker *worker, WorkFunc work, WorkFunc done, gpointer data);
