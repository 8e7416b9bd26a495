/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * regrlab-host on the host of the virtual machines, here or by ssh, as the
 * measure stage uses it. What it prints is not for the log: a boot would fill
 * pages of it.
 */
#pragma once

#include "jobs/stage.h"

typedef struct HostAgent HostAgent;

HostAgent *host_agent_new(StageContext *stage);
/* From now on these CPUs (list format; copied) are looked at in place of the host's vm_cpus. */
void host_agent_measure_on(HostAgent *agent, const char *cpus);
void host_agent_free(HostAgent *agent);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(HostAgent, host_agent_free)

/*
 * Runs a command of regrlab-host with its options (NULL-terminated) on the
 * host's measuring CPUs and takes the JSON object it prints. FALSE: it cannot
 * be run there, or prints something else; CHILD_ERROR_STOPPED: the stage is
 * stopping.
 */
gboolean host_agent_ask(HostAgent *agent, const char *const *args, JsonObject **ret_object, GError **error);

/*
 * Starts regrlab-host watch in a thread; each line it prints goes to sink, in
 * that thread. NULL: it cannot be run there.
 */
typedef struct HostAgentWatch HostAgentWatch;
typedef void (*HostAgentLine)(JsonObject *line, gpointer user);

HostAgentWatch *host_agent_watch_start(HostAgent *agent, HostAgentLine sink, gpointer user);
void host_agent_watch_end(HostAgentWatch *watch);	/* no more lines come; NULL is fine */
