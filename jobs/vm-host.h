/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A connection to the libvirt of a host.
 *
 * qemu:///embed?root=DIR is the embedded driver: libvirt inside this process,
 * its state below DIR. DIR is made if need be. The driver runs QEMU as a user
 * of its own (libvirt-qemu) where we are root; where that user cannot reach
 * DIR (a checkout below /root, say) or does not exist, QEMU runs as root
 * instead: vm_host_note() says so. DIR/etc/qemu.conf holds that and the
 * rest of the driver's settings; it is written at each opening unless its
 * first line is not ours, so an administrator may take it over. A path too
 * long for the sockets below it is used through a short symbolic link.
 *
 * One process can have a root open at a time. Domains live on when it dies;
 * vm_host_destroy_leftovers() ends those of an earlier stage of the same run.
 */
#pragma once

#include <gio/gio.h>
#include <libvirt/libvirt.h>

#include "jobs/hoststore.h"
#include "jobs/vm-error.h"

typedef struct VmHost VmHost;

/* Whom a host is opened for. Borrowed. */
typedef struct {
	const char *uri;	/* qemu:///embed?root=DIR, or any of libvirt's for QEMU: local, or of another machine */
	const char *pool_dir;	/* of the host's storage pool; empty: HOST_VOLUMES_DIR; not for the embedded driver */
	const char *marks_dir;	/* of hostvolumes.h, on this machine */
	const char *lab, *run;	/* whose its domains and volumes are */
	int stop_fd;		/* readable: what waits and tries again gives up; -1: never */
} VmHostSetup;

/*
 * Runs libvirt's event loop in a thread until vm_host_close(). Once at a time
 * in a process. A connection that is silent for VM_HOST_SILENCE_S is dead,
 * and every call waiting on it fails.
 */
#define VM_HOST_PING_S		5
#define VM_HOST_PINGS		3
#define VM_HOST_SILENCE_S	(VM_HOST_PING_S * (VM_HOST_PINGS + 1))
VmHost *vm_host_open(const VmHostSetup *setup, GError **error);
void vm_host_close(VmHost *host);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(VmHost, vm_host_close)

gboolean vm_host_alive(VmHost *host);	/* FALSE: the connection is dead, and so is everything on it for us */
gboolean vm_host_is_here(const char *uri);	/* on this machine */

virConnectPtr vm_host_connection(VmHost *host);	/* the host's */
HostStore *vm_host_store(VmHost *host);		/* the host's */
const char *vm_host_note(const VmHost *host);	/* what a person should know of how QEMU is run; empty: nothing */

/* "7.2.22", "9.0.0", uname's release (empty on another machine: libvirt does not tell); the caller's. */
char *vm_host_qemu_version(VmHost *host, GError **error);
char *vm_host_libvirt_version(VmHost *host, GError **error);
char *vm_host_kernel(VmHost *host);

/* A digest of what the machine is by libvirt's account (its UUID, its CPUs' model); the caller's, empty if it does not say. */
char *vm_host_identity(VmHost *host);

/* Whether libvirt offers KVM here. That a guest runs on it is another question. */
gboolean vm_host_offers_kvm(VmHost *host);

/*
 * Ends the domains that dead stages left: those whose metadata name this run,
 * or a run of this lab that no process works on, and, since nobody else can be
 * at work in it, all of an embedded driver that are a lab's; and deletes the
 * volumes of their boots. *ret_count is how many domains.
 */
gboolean vm_host_destroy_leftovers(VmHost *host, int *ret_count, GError **error);

/* Ends a domain that an earlier process started. TRUE: it is gone, or was already. */
gboolean vm_host_end_domain(VmHost *host, virDomainPtr domain, GError **error);

/* The run that a domain's metadata name (boot_run_name()); the caller's. NULL: it is no lab's. */
char *vm_domain_run(virDomainPtr domain);

/* The process of a domain on this machine, or 0. */
pid_t vm_host_pid(VmHost *host, const char *domain);
