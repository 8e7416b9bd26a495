/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a kind of host store is made of: for hoststore.c and hostvolumes.c alone. */
#pragma once

#include "jobs/hoststore.h"

#define HOST_STORE_KEPT_MAX	(512 * 1024 * 1024)	/* bytes of a kernel or an initramfs */
#define HOST_STORE_ALIGN	4			/* what an archive behind another begins at */

/* Each does what the function of that name in hoststore.h says. */
typedef struct {
	void (*free)(HostStore *store);
	char *(*put_file)(HostStore *store, const char *path, GError **error);
	char *(*put_joined)(HostStore *store, const char *path, GBytes *tail, const char *name, GError **error);
	char *(*scratch)(HostStore *store, const char *image, const char *name, GError **error);
	void (*remove)(HostStore *store, const char *path);
	void (*prune)(HostStore *store, gint64 max_bytes, gint64 max_age_s);
} HostStoreKind;

/* The first member of each kind's own record. */
struct HostStore {
	const HostStoreKind *kind;
};

gboolean host_store_io_error(GError **error, const char *what, const char *path);	/* errno's; FALSE */
