/* SPDX-License-Identifier: GPL-2.0-or-later */
/* artifacts/guest.json: what a boot of the job is, for who wants to make one elsewhere. */
#pragma once

#include "jobs/measure-boot.h"

/*
 * {"plan" (as the guest reads it, its nonce all zeros), "image_sha256",
 * "machine", "cmdline", "cpus", "memory_mib", "disk_mib", "accelerator",
 * "clock"}. FALSE: the stage has failed.
 */
gboolean measure_record(const BootSetup *setup);
