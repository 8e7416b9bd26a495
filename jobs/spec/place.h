/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where a job happens: place.json, written by the daemon from its
 * configuration before each start of a stage, read by the stage. A stage
 * knows nothing of the configuration but this.
 */
#pragma once

#include <json-glib/json-glib.h>

#include "jobs/spec/error.h"

/*
 * In a stage's environment: the process that started it. A stage that finds
 * another parent was left alone before it could ask to be told of that.
 */
#define STAGE_PARENT_VARIABLE "REGRLAB_PARENT"

typedef struct {
	/* the tree */
	char *tree;		/* its name */
	char *tree_path;	/* a git repository (bare or not), absolute */
	char *tree_branch;	/* the default base */
	char *tree_remote;	/* a remote of it to fetch when a commit is missing, or empty */

	/* this machine */
	char *cache_dir;	/* kernels/, worktrees/, ccache/, disks/: shared by jobs, only stages write it */
	char *guest_image;	/* guest.cpio */
	char *benchmarks_dir;	/* NAME.ini */
	char *configs_dir;	/* NAME.config: kernel configuration profiles */
	char *build_cpus;	/* "0-1" in the kernel's list format; empty: all */
	int build_jobs;		/* of make -j; 0: as many as build_cpus */
	int build_timeout_s;	/* of one kernel */
	char *build_user;	/* as whom builds run if root starts them */
	int build_memory_mib;	/* of all processes of a build; 0: three quarters of the machine's */
	int build_disk_mib;	/* of the folders that a build writes */

	/* the host of the virtual machines; empty in the build stage */
	char *host;		/* its name in the configuration */
	char *host_uri;		/* of libvirt; qemu:///embed?root=DIR for the embedded driver */
	char *pool_dir;		/* directory of its storage pool; empty: the standard one. Not of the embedded driver */
	char *vm_cpus;		/* CPUs for vCPUs, list format; empty: all */
	char *other_cpus;	/* CPUs for emulator and I/O threads; empty: vm_cpus */
	int guest_cpus;		/* vCPUs of a guest; 2 unless the host says otherwise */
	int slots, slot;	/* comparisons at once there, and which of them this is, from 0 on */
	int boot_timeout_s;	/* from domain start to hello, wall time */
	int silence_timeout_s;	/* between two lines of a running guest, wall time */
	int max_failed_boots;	/* replaced boots an arm before the job ends boot-failed */

	/* what must hold on the host (host/policy.h) and how quiet it must be (jobs/noise.h) */
	char *host_policy;	/* strict or warn */
	char *host_require;	/* words; empty: nothing */
	char *host_root;	/* a folder with proc and sys that stand for the host's; empty: the host's own */
	int max_jitter_pct;	/* of the measuring CPUs' time before a boot; 100: no limit */
	int max_steal_pct;	/* before and during a boot; 100: no limit */
	int noise_wait_s;	/* for a quiet host, a boot */
	int max_disturbed_boots;	/* that are replaced, a job */

	int control_every;	/* one of so many jobs has a control arm; 0: none */
} JobPlace;

JobPlace *job_place_new(void);		/* every member at its default */
void job_place_free(JobPlace *place);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(JobPlace, job_place_free)

gboolean job_place_load(const char *dir, JobPlace **ret_place, GError **error);
gboolean job_place_save(const JobPlace *place, const char *dir, GError **error);	/* atomic: rename */
