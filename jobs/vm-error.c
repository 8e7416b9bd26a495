/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "jobs/vm-error.h"

#include <libvirt/virterror.h>
#include <string.h>

G_DEFINE_QUARK(regrlab-vm-error, vm_error)

gboolean vm_error_libvirt(GError **error, const char *what)
{
	const char *message = virGetLastErrorMessage();
	VmError code = VM_ERROR_LIBVIRT;

	if (strstr(message, "driver.pid"))
		code = VM_ERROR_BUSY;
	g_set_error(error, VM_ERROR, code, "%s: %s%s", what, message,
		    code == VM_ERROR_BUSY ? " (another process uses this embedded driver's directory)" : "");
	return FALSE;
}
