/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A virtual machine for one boot, as libvirt's domain XML. Pure; written as a
 * tree through libxml2, never as text, so that no value can become markup.
 *
 * The machine has nothing that a measurement does not need: no display, USB,
 * balloon, sound or network; one serial console, one virtio-serial port for
 * the results and, if asked, one virtio disk.
 */
#pragma once

#include <glib.h>

#include "host/placement.h"
#include "jobs/spec/clock.h"

#define VM_CHANNEL_NAME		"org.regrlab.results.0"
#define VM_METADATA_URI		"urn:regrlab:boot:1"	/* of the metadata element that says whose a domain is */
#define VM_METADATA_PREFIX	"regrlab"

typedef enum {
	VM_KVM,
	VM_TCG,
} VmAccelerator;

const char *vm_accelerator_name(VmAccelerator accelerator);	/* kvm, tcg */

/* Borrowed strings, all needed unless said otherwise. */
typedef struct {
	const char *name;
	const char *uuid;
	const char *lab, *run;	/* which lab's and run directory's: tells a lab's own domains from others' */
	gint64 job;
	int boot;		/* -1: the probe */
	VmAccelerator accelerator;
	JobClock clock;		/* kvm, tcg or icount; kvm exactly with VM_KVM */
	const char *machine;	/* QEMU's machine type, e.g. q35 */
	int memory_mib;
	int cpus;
	const HostPlacement *placement;	/* of so many cpus; NULL: anywhere */
	const char *kernel, *initrd, *cmdline;
	const char *disk;	/* raw image; NULL: none */
} VmDescription;

/*
 * Threads and memory are where the placement wants them, memory is there
 * before the guest starts, and a disk has an I/O thread. Under icount one
 * thread runs all vCPUs, which libvirt cannot tell from the others: the whole
 * process has the vCPUs' CPUs, and memory is as it comes: neither changes what
 * is counted. The caller's.
 */
char *vm_description_to_xml(const VmDescription *vm);
