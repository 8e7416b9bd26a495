/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How a machine that measures is set: regrlab-host there, by hand. */
#pragma once

#include "client/options.h"

typedef struct {
	char *host;		/* of the lab, or a libvirt URI; NULL: this machine */
	char *require, *cpus;	/* NULL: the lab's of that host, else regrlab-host's own */
	char *root, *record;	/* NULL: regrlab-host's own */
} HostSetup;

void host_setup_clear(HostSetup *setup);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(HostSetup, host_setup_clear)

#define HOST_SETUP_NOTHING_DONE 3	/* exit status, as of regrlab-host */

/* check, prepare or restore; the exit status is regrlab-host's. name: of the subcommand, for complaints. */
int host_setup_run(const char *name, const char *command, const Common *common, const HostSetup *setup);
