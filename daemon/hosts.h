/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The hosts as they are now: what runs on them, and what more they take. */
#pragma once

#include "daemon/dispatch.h"
#include "daemon/lab.h"
#include "daemon/lookout.h"
#include "daemon/runner.h"

typedef struct Hosts Hosts;

typedef struct {
	Hosts *hosts;
	const ConfigHost *config;
	DispatchHost place;	/* for dispatch() */
	gboolean shared;	/* builds run on its CPUs */
	GPtrArray *running;	/* one a slot, of HostJob or NULL; owned */

	gboolean down, drained;
	char *message;		/* why it is down; empty: it is not */
	gint64 since_ns;	/* it is down or drained; 0: it is neither */
	JsonObject *facts;	/* of the last look that found it up; NULL: none yet */

	/* hosts.c's own */
	Lookout *lookout;	/* NULL: the embedded driver, which is part of the stage */
	guint retry_id;		/* the same without a lookout */
	guint failures;
} Host;

typedef struct {
	Runner *runner;		/* owned */
	const Need *need;	/* the queue's line owns it */
} HostJob;

/* Something changed that the queue should know. */
typedef void (*HostsFunc)(gpointer data);

/* One for each host of the configuration, which is kept. */
Hosts *hosts_new(Lab *lab, HostsFunc changed, gpointer data);
void hosts_free(Hosts *hosts);	/* kills what runs on them */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Hosts, hosts_free)

guint hosts_count(const Hosts *hosts);
Host *hosts_get(const Hosts *hosts, guint i);		/* in the order of the configuration */
Host *hosts_find(const Hosts *hosts, const char *name);	/* NULL: none such */

/* What dispatch() takes: of DispatchHost, up to date; the hosts'. */
const GPtrArray *hosts_places(Hosts *hosts, gboolean building);

/* Takes runner, into a slot that is free: dispatch() saw to it that there is one. */
void host_add(Host *host, Runner *runner, const Need *need);
void hosts_remove(Hosts *hosts, Runner *runner);	/* frees it */

void host_set_need(Host *host, guint slot, const Need *need);	/* it is known better now */

gint64 host_job(const Host *host, guint slot);		/* what is measured there; 0: nothing */
const char *host_state(const Host *host);	/* down, drained, draining (something runs on), measuring, idle */
gint64 host_first_job(const Host *host);		/* the same, of the first slot that is not free */

Host *hosts_host(const Hosts *hosts, const Runner *runner);	/* where it runs; NULL: nowhere */
Runner *hosts_runner(const Hosts *hosts, gint64 job);	/* NULL: nobody measures it */
void hosts_each_runner(const Hosts *hosts, void (*func)(Runner *runner));
gboolean hosts_idle(const Hosts *hosts);

/* A build that began now would disturb what is measured. */
gboolean hosts_build_disturbs(const Hosts *hosts);

/* A stage could not use it: down, until a look finds it up again. */
void host_set_down(Host *host, const char *message);

/* No more jobs, or jobs again; what runs there runs on. who: for the history. */
gboolean host_drain(Host *host, gboolean drained, const char *who, GError **error);

/* Whether a job with boots there should go on waiting for it: it is up, or has not been away for long. */
gboolean host_worth_waiting(const Host *host);
