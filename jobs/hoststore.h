/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where a host's QEMU finds the files of a boot: put a file on the host, get
 * its path there. What calls this does not know where the host is: a store is
 * a directory of this machine (host_store_new(), for the embedded driver) or
 * volumes of a libvirt storage pool (hostvolumes.h).
 *
 * Kernels, initramfs and disk templates are named by their content (SHA-256)
 * and kept, so the same file travels once. What is made from them for a boot
 * belongs to that boot.
 */
#pragma once

#include <gio/gio.h>
#include <sys/types.h>

#define HOST_STORE_ERROR (host_store_error_quark())
GQuark host_store_error_quark(void);

typedef enum {
	HOST_STORE_ERROR_IO,
	HOST_STORE_ERROR_ACCESS,	/* QEMU's user would not get at it */
} HostStoreError;

typedef struct HostStore HostStore;

/*
 * A store in the directory dir (made if need be, with its parents). uid and
 * gid: QEMU's user on the host; -1 if it is ours. An unreachable directory is
 * ACCESS, and names the part of the path that is closed.
 */
HostStore *host_store_new(const char *dir, uid_t uid, gid_t gid, GError **error);
void host_store_free(HostStore *store);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(HostStore, host_store_free)

/* The path on the host, the caller's. */
char *host_store_put_file(HostStore *store, const char *path, GError **error);

/*
 * A file for one boot: that at path, up to a multiple of 4 bytes, and tail
 * behind it: what the kernel takes for an initramfs of two archives.
 */
char *host_store_put_joined(HostStore *store, const char *path, GBytes *tail, const char *name, GError **error);

/* A writable copy of a raw image, as sparse as it is. The name is the caller's to choose; an old one is replaced. */
char *host_store_scratch(HostStore *store, const char *image, const char *name, GError **error);

/* Removes a file that the store made; it need not be there. */
void host_store_remove(HostStore *store, const char *path);

/* Removes the files by content that were used longest ago, until all together have at most max_bytes; and scratch disks of more than max_age_s. */
void host_store_prune(HostStore *store, gint64 max_bytes, gint64 max_age_s);

/*
 * Whether a user could enter every directory of an absolute path, going by
 * owner and mode. FALSE: *ret_closed (the caller's) is the first it cannot.
 * Parts that do not exist are taken as open.
 */
gboolean host_store_reachable(const char *path, uid_t uid, gid_t gid, char **ret_closed);
