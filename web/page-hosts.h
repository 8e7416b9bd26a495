/* SPDX-License-Identifier: GPL-2.0-or-later */
/* /hosts: the machines that run virtual machines for us. */
#pragma once

#include <json-glib/json-glib.h>

typedef struct {
	const char *name;
	const char *uri;	/* of libvirt */
	const char *vm_cpus;	/* list format; empty: all */
	const char *other_cpus;
	int guest_cpus;
	char **labels;		/* NULL-terminated */
	const char *state;	/* down, drained, draining, measuring, idle */
	const char *message;	/* why it is down; may be empty */
	gint64 job;		/* what it measures now; 0: idle */
	const char *accelerator;	/* as last seen there, empty: no job yet */
	const char *qemu_version;
	const char *libvirt_version;
	int boots_valid, boots_failed;	/* of all jobs */
	gint64 last_boot_ns;	/* 0: none yet */
	JsonObject *set;	/* how: its last host-state event; NULL: none yet */
	gint64 set_ns;		/* when it was seen */
	gint64 boots_disturbed;	/* of all jobs, by its noise */
	const GPtrArray *ledger;	/* of StoreLedger; NULL: none */
	const GPtrArray *calibrations;	/* of StoreCalibration; NULL: none */
} HostRow;

char *page_hosts(const GArray *hosts, gsize *ret_size);	/* of HostRow; the result is the caller's */
