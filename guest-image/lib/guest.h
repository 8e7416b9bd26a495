/* SPDX-License-Identifier: GPL-2.0-or-later
 *
 * The guest as a place to measure in: what init sets up before the first run, and what it says about it.
 */
#ifndef GUEST_GUEST_H
#define GUEST_GUEST_H

#include "plan.h"
#include "port.h"

#include <stdbool.h>

#define GUEST_TMPFS "/mnt/tmpfs"
#define GUEST_DISK "/mnt/disk"

/* Mounts what every boot needs: proc, sysfs, devtmpfs, and, as far as the kernel has them, debugfs and cgroup v2 with
 * the memory controller. False: said on standard error. */
bool guest_mount(void);
/* Swap and transparent huge pages off, address randomisation of programs off, no kernel messages on the console but
 * errors. */
void guest_settings(void);
/* A clean tmpfs (huge=never) on GUEST_TMPFS, without what was there before. */
bool guest_fresh_tmpfs(void);
/* Mounts the ext4 disk on GUEST_DISK. */
bool guest_mount_disk(const char *device);
/* Opens the results port, or the console if no such port comes up; sets fd and console. */
bool guest_open_port(struct port *port);
/* Sets the LRU and reads back which is in force. A kernel without the multi-generational LRU is classic.
 * False: the one asked for is not in force; *ret_lru is what is. */
bool guest_set_lru(enum plan_lru lru, enum plan_lru *ret_lru);
void guest_hello(struct port *port);
/* Powers off; never returns. */
__attribute__((noreturn)) void guest_power_off(void);

#endif
