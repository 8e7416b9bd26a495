/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What guests run on: KVM if one really does, else emulation.
 *
 * /dev/kvm proves nothing (there are machines where a guest hangs at its first
 * instructions), so a guest with an empty plan is booted under KVM first, with
 * a short deadline. What it gave is kept in place.cache_dir/accelerator, for
 * this libvirt URI, machine, host kernel, QEMU and libvirt: any other is probed
 * anew. A failure is kept for a day, and so is a success where the kernel is
 * not known (libvirt does not tell that of another machine).
 */
#pragma once

#include "jobs/stage.h"
#include "jobs/vm-host.h"
#include "jobs/vm-xml.h"

#define ACCELERATOR_PROBE_S	20	/* to hello and end */

typedef struct {
	VmAccelerator accelerator;
	JobClock clock;		/* never auto */
	char *probe;		/* what the probe saw, or why there was none: a sentence */
	char *qemu_version, *libvirt_version, *host_kernel;
} Accelerator;

void accelerator_clear(Accelerator *accelerator);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Accelerator, accelerator_clear)

/*
 * For the clock that was asked for: kvm needs KVM, auto is kvm where it works,
 * else icount; tcg and icount need no probe. kernel: of the base arm, a path
 * on the host. FALSE: stage_fail() was called (no-kvm, or the lab's own
 * trouble), or the stage is stopping.
 */
gboolean accelerator_choose(StageContext *stage, VmHost *host, const char *kernel, Accelerator *ret_accelerator);
