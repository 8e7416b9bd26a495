/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A host store of libvirt storage volumes: for every driver but the embedded
 * one, as the host need not be this machine.
 *
 * Files travel by upload, once a host: kept-SHA256. What a boot gets of its
 * own (boot-LAB-RUN-…) the host's libvirt clones from them; only the boot's
 * plan, a few hundred bytes, is sent for each. A pool that has the directory
 * already is used; else one is made, which lives as long as libvirtd and is
 * made again then. Of each kept volume a mark lies in marks_dir on this
 * machine: there once the upload was whole, its time says when it was last
 * used, and a shared lock on it that it is in use.
 */
#pragma once

#include <libvirt/libvirt.h>

#include "jobs/hoststore.h"

#define HOST_VOLUMES_DIR	"/var/lib/libvirt/regrlab"	/* of a pool whose directory is not configured */

/*
 * The connection is borrowed, and must outlive the store. lab and run: whose
 * the volumes of boots are. The lock of the run in marks_dir is held as long
 * as the store lives.
 */
HostStore *host_volumes_new(virConnectPtr connection, const char *pool_dir, const char *marks_dir, const char *lab,
			    const char *run, GError **error);

/* Deletes the volumes of boots of this lab's runs that nobody works on any longer, and of this run. How many; -1: not to be found out. */
int host_volumes_sweep(HostStore *store);

/* Whether no process works on that run of ours. FALSE where that cannot be told. */
gboolean host_run_is_dead(const char *marks_dir, const char *run);
