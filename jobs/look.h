/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Looks after a host between measurements: whether its libvirt answers, what
 * it is, and that nothing of ours is left on it. Not a stage of a job; its
 * directory has place.json, and host.json afterwards.
 */
#pragma once

#define LOOK_S	60	/* at most */

/*
 * Writes DIR/host.json: {"up", "message", "memory_mib", "cpus",
 * "architecture", "qemu_version", "libvirt_version", "kernel", "ended"}:
 * message says why it is not up, ended how many virtual machines of dead
 * stages were ended. The exit status of the process: 0, 69 if the host is
 * down, 70 if nothing could be written.
 */
int look_at_host(const char *dir);
