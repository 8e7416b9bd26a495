/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How regrlab-host is run on the machine of a libvirt URI: here, or there by
 * ssh, for which the program is copied once, by the digest of its content.
 *
 * Nothing is run here: these are argument lists. On the other side ssh hands
 * one line to a shell; every word of it is quoted.
 */
#pragma once

#include <glib.h>

typedef enum {
	HOST_HERE,	/* the URI names no machine */
	HOST_SSH,	/* qemu+ssh://[USER@]MACHINE[:PORT]/…; command= and keyfile= as libvirt has them */
	HOST_CLOSED,	/* qemu+tcp, qemu+tls, …: libvirt answers there, and nothing else */
} HostReach;

typedef struct {
	HostReach reach;
	char *destination;	/* of ssh: USER@MACHINE */
	int port;		/* 0: ssh's own */
	char *ssh;		/* the program */
	char *keyfile;		/* NULL: ssh's own */
	char *program;		/* regrlab-host, on this machine */
	char *copy;		/* where it lies over there, below the user's home; set by host_target_load() */
} HostTarget;

/* program: of this machine; borrowed no longer than the call. FALSE: SPEC_ERROR_VALUE, the URI is none. */
gboolean host_target_init(HostTarget *target, const char *uri, const char *program, GError **error);
void host_target_clear(HostTarget *target);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(HostTarget, host_target_clear)

/* What has to be run for regrlab-host with those arguments; not for HOST_CLOSED. The caller's. */
char **host_target_argv(const HostTarget *target, const char *const *args);

/* The program's content and so its place over there; to be called before the other two if the target is HOST_SSH. */
gboolean host_target_load(HostTarget *target, char **ret_content, gsize *ret_size, GError **error);

/* HOST_SSH: copies what comes on its stdin to where host_target_argv() looks for it. The caller's. */
char **host_target_copy_argv(const HostTarget *target);

#define HOST_TARGET_MISSING 127	/* exit status of host_target_argv()'s command if there is no copy yet */

/* regrlab-host beside the program that runs; the caller's. */
char *host_target_program(void);
