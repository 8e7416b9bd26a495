/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What runs when: at most one build, and on each host as many measurements as
 * it has places. Whose turn it is says turns.h, which host a job gets
 * dispatch.h; a measurement that waits goes before a build. A build and a
 * measurement that would disturb each other (cpus_build_disturbs(), and the
 * clock is not icount) do not run at the same time.
 */
#pragma once

#include "daemon/hosts.h"
#include "daemon/lab.h"

/* lab is kept. Jobs that were building or measuring when the daemon ended are started again. */
Queue *queue_new(Lab *lab);
void queue_free(Queue *queue);	/* every stage must have ended, or is killed */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Queue, queue_free)

/* Something changed: looks for work when the loop is idle. */
void queue_kick(Queue *queue);

/* A job changed in the database other than through the calls below. A new one needs no more than a kick. */
void queue_changed(Queue *queue, gint64 job);

/* Cancels at whatever stage; *ret_state as afterwards (a running stage takes a moment to end). */
gboolean queue_cancel(Queue *queue, gint64 job, JobState *ret_state, GError **error);

/* Ends all stages so that they can be resumed; then calls func. */
void queue_stop(Queue *queue, GSourceFunc func, gpointer data);

gboolean queue_idle(const Queue *queue);	/* nothing is built or measured */
gint64 queue_building(const Queue *queue);	/* the job that is built; 0: none */
Host *queue_host(const Queue *queue, const char *name);	/* one that is configured; the queue's */

/* A build that began now would disturb what is measured. */
gboolean queue_build_disturbs(const Queue *queue);

/* As it stands in its line since the last of the calls below; NULL: it has ended. The queue's, until the next of them. */
const LineJob *queue_find(Queue *queue, gint64 job);

/* Whether there is a host that a job could be measured on, if it were up and idle. */
gboolean queue_has_host(Queue *queue, const JobSpec *spec);

/* The names of that many hosts for the same comparison; NULL: fewer fit. Ends with NULL; the caller's. */
char **queue_spread(Queue *queue, const JobSpec *spec, guint count);

/* Those that wait in a state, whose turn comes next: an array of StoreJob that owns them; and how many there are. */
gboolean queue_next(Queue *queue, JobState state, guint limit, GPtrArray **ret_jobs, guint *ret_all, GError **error);

/* How many are before it in its line, counted from 1; 0: it does not wait. */
gboolean queue_position(Queue *queue, const StoreJob *job, int *ret_position, GError **error);

guint64 queue_stages_started(const Queue *queue);
guint64 queue_stages_crashed(const Queue *queue);
