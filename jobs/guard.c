/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "jobs/guard.h"

struct Guard {
	GMutex mutex;
	GCond changed;
	GThread *thread;
	GuardFunc func;
	gpointer data;
	const char *what;	/* NULL: nothing is watched */
	gint64 end_us;
	gboolean ending;
};

static gpointer watch(gpointer data)
{
	Guard *guard = data;

	g_mutex_lock(&guard->mutex);
	while (!guard->ending) {
		if (!guard->what) {
			g_cond_wait(&guard->changed, &guard->mutex);
		} else if (!g_cond_wait_until(&guard->changed, &guard->mutex, guard->end_us) && guard->what &&
			   g_get_monotonic_time() >= guard->end_us) {
			const char *what = guard->what;

			guard->what = NULL;
			guard->func(what, guard->data);
		}
	}
	g_mutex_unlock(&guard->mutex);
	return NULL;
}

Guard *guard_new(GuardFunc func, gpointer data)
{
	Guard *guard = g_new0(Guard, 1);

	g_mutex_init(&guard->mutex);
	g_cond_init(&guard->changed);
	guard->func = func;
	guard->data = data;
	guard->thread = g_thread_new("guard", watch, guard);
	return guard;
}

static void change(Guard *guard, const char *what, int seconds, gboolean ending)
{
	g_mutex_lock(&guard->mutex);
	guard->what = what;
	guard->end_us = g_get_monotonic_time() + seconds * G_USEC_PER_SEC;
	guard->ending = ending;
	g_cond_signal(&guard->changed);
	g_mutex_unlock(&guard->mutex);
}

void guard_set(Guard *guard, const char *what, int seconds)
{
	if (guard)
		change(guard, what, seconds, FALSE);
}

void guard_clear(Guard *guard)
{
	if (guard)
		change(guard, NULL, 0, FALSE);
}

void guard_free(Guard *guard)
{
	if (!guard)
		return;
	change(guard, NULL, 0, TRUE);
	g_thread_join(guard->thread);
	g_mutex_clear(&guard->mutex);
	g_cond_clear(&guard->changed);
	g_free(guard);
}
