/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The test disk of guests: a template that every boot gets a copy of. */
#pragma once

#include "jobs/stage.h"

/*
 * The path of an empty ext4 image of that size in place.cache_dir/disks, made
 * with mkfs.ext4 when it is asked for first; the caller's. The same size gives
 * the same bytes (fixed UUID, hash seed and times). No journal, so that
 * nothing writes in the background while something is timed; no reserved
 * blocks; all tables are written, so that the kernel has none to write later.
 */
char *disk_template(StageContext *stage, int size_mib, GError **error);
