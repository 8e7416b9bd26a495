/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * One run of a plan: a program in a cgroup of its own, its samples and output sent on, counters around it.
 */
#ifndef GUEST_RUN_H
#define GUEST_RUN_H

#include "plan.h"
#include "port.h"

/* Sends all lines of the run, from start to run-end. What goes wrong is a log line and a status other than 0. number is
 * another one for each run of a boot: it names the run's cgroup. A removed cgroup stays on the kernel's lists, under its
 * path, while pages of it are left; a path used twice could lead a program to the wrong one. */
void run_execute(struct port *port, const struct plan_run *run, unsigned number);

#endif
