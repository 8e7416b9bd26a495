/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One boot of one kernel, from its files on the host to what came of it. */
#pragma once

#include "jobs/guest.h"
#include "jobs/measure-watch.h"
#include "jobs/stage.h"
#include "jobs/vm.h"

#define BOOT_MACHINE		"pc"	/* QEMU's machine type */
#define BOOT_CONSOLE_TAIL	8192	/* bytes of a failed boot's console in events */

/* What all boots of a job share. Borrowed. */
typedef struct {
	StageContext *stage;
	VmHost *host;
	const GuestPlan *plan;
	VmAccelerator accelerator;
	JobClock clock;
	WatchLimits limits;
	const char *lab, *run;		/* the lab's and the run directory's names on the host */
	const char *disk_template;	/* NULL: no disk */
	int memory_mib;
	const HostPlacement *placement;	/* NULL: anywhere */
} BootSetup;

typedef struct {
	const GuestRun *run;
	const BenchmarkMetric *metric;
	int pass;
	double value;
} BootSample;

typedef struct {
	const char *reason;	/* as in the boot event; empty: valid */
	char *detail;		/* a sentence; empty if valid */
	gint64 start_ns, end_ns;
	gint64 hello_ns, first_sample_ns;	/* 0: none came. All four CLOCK_REALTIME */
	JsonObject *hello;	/* NULL: none came */
	GArray *samples;	/* of BootSample */
	GString *counters;	/* lines, as jobs/measure-counters.h has them */
	char *console;		/* all of it that was kept, safe text */
	char *console_tail;
	char *domain_xml;	/* NULL if libvirt gave none */
	char *threads;		/* where QEMU's threads are; NULL if not to be seen */
} BootResult;

void boot_result_free(BootResult *result);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(BootResult, boot_result_free)

/* The kernel command line of all boots. */
const char *boot_cmdline(VmAccelerator accelerator);

/* What a run directory and a lab are called on a host: short digests of this machine and a path. The caller's. */
char *boot_run_name(const char *dir);
char *boot_lab_name(const char *cache_dir);

/*
 * Boots kernel (a path on the host) as boot number boot (-1: the probe) and
 * watches it to its end; tick, if given, is called about once a second. FALSE
 * is the lab's own failure (or CHILD_ERROR_STOPPED: the stage was told to
 * stop); whatever the guest does is a result. The domain is gone afterwards in
 * either case.
 */
gboolean boot_once(const BootSetup *setup, int boot, const char *kernel, void (*tick)(gpointer), gpointer user,
		   BootResult **ret_result, GError **error);
