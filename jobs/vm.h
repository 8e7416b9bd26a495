/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One running virtual machine: started from a description, its two streams
 * read without blocking, its end noticed, always destroyed.
 */
#pragma once

#include "jobs/vm-host.h"
#include "jobs/vm-xml.h"

typedef enum {
	VM_RESULTS,	/* the virtio-serial port */
	VM_CONSOLE,	/* the serial console */
	VM_STREAMS,
} VmStream;

typedef enum {
	VM_RUNNING,
	VM_STOPPED,	/* the guest powered off, rebooted or panicked into it */
	VM_DIED,	/* QEMU died or was killed */
	VM_UNKNOWN,	/* the connection is lost */
} VmState;

typedef struct Vm Vm;

/*
 * Starts a transient domain: paused until both streams are open, so that not
 * a byte is missed. *ret_xml (the caller's, may be NULL) is the domain as
 * libvirt made it, for an artifact. The placement is borrowed for the Vm's
 * life.
 */
Vm *vm_start(VmHost *host, const VmDescription *description, char **ret_xml, GError **error);

/* Destroys the domain if it still is; NULL is fine. */
void vm_free(Vm *vm);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Vm, vm_free)

/* Waits until a stream or the domain has something to say, stop_fd is readable, or the time is over. */
void vm_wait(Vm *vm, int stop_fd, int timeout_ms);

/* Bytes read; 0: none now; -1: no more will come. */
gssize vm_read(Vm *vm, VmStream stream, char *buffer, gsize size);

VmState vm_state(Vm *vm);

/*
 * Checks that every thread of the QEMU process is where the description's
 * placement wants it. *ret_report: one line a thread, for the log; the
 * caller's, NULL if the process cannot be seen from here. FALSE: PINNING, with
 * the thread's name and CPUs.
 */
gboolean vm_check_pinning(Vm *vm, char **ret_report, GError **error);
