/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The root directory of libvirt's embedded driver: see vm-host.h. */
#pragma once

#include <glib.h>
#include <sys/types.h>

typedef struct {
	char *root;	/* as it is configured */
	char *uri;	/* to open: its root is short enough for sockets */
	uid_t uid;	/* whom QEMU runs as */
	gid_t gid;
	char *note;	/* what a person should know; may be empty */
} VmEmbed;

/* FALSE without error: not an URI of the embedded driver. */
gboolean vm_embed_is(const char *uri);

gboolean vm_embed_prepare(const char *uri, VmEmbed *ret_embed, GError **error);
/*
 * Ends and forgets the domains that a killed process was about to start: libvirt takes their start for going on for ever, and
 * neither ends them nor starts others of the name. Part of vm_embed_prepare(); nothing is done while a process has the root open.
 */
void vm_embed_forget_unstarted(const char *root);

void vm_embed_clear(VmEmbed *embed);
