/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What can be wrong with a host or a virtual machine on it. */
#pragma once

#include <glib.h>

#define VM_ERROR (vm_error_quark())
GQuark vm_error_quark(void);

typedef enum {
	VM_ERROR_URI,		/* not one we can use */
	VM_ERROR_ACCESS,	/* directories or users of the embedded driver */
	VM_ERROR_LIBVIRT,	/* libvirt's own words */
	VM_ERROR_BUSY,		/* another process has the embedded root open */
	VM_ERROR_PINNING,	/* threads are not on the CPUs they should be on */
} VmError;

/* libvirt's last error of this thread as a VM_ERROR. Always returns FALSE. */
gboolean vm_error_libvirt(GError **error, const char *what);
