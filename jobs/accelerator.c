/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "jobs/accelerator.h"

#include <errno.h>
#include <string.h>

#include "jobs/measure-boot.h"
#include "jobs/spec/file.h"

#define CACHE_MAX_BYTES		(64 * 1024)
#define DAY_NS		(24 * 3600 * G_GINT64_CONSTANT(1000000000))
#define PROBE_MEMORY_MIB	256

void accelerator_clear(Accelerator *accelerator)
{
	g_clear_pointer(&accelerator->probe, g_free);
	g_clear_pointer(&accelerator->qemu_version, g_free);
	g_clear_pointer(&accelerator->libvirt_version, g_free);
	g_clear_pointer(&accelerator->host_kernel, g_free);
}

/* ---- what is known from before ---- */

static char *cache_path(StageContext *stage, VmHost *host, const Accelerator *accelerator)
{
	g_autofree char *identity = vm_host_identity(host);
	g_autofree char *key = g_strjoin("\n", stage->place->host_uri, identity, accelerator->host_kernel, accelerator->qemu_version,
					 accelerator->libvirt_version, NULL);
	g_autofree char *digest = g_compute_checksum_for_string(G_CHECKSUM_SHA256, key, -1);

	return g_strdup_printf("%s/accelerator/%.16s.json", stage->place->cache_dir, digest);
}

/* What worked is kept until something changes; a failure, and what might have changed unseen, for a day. */
static gboolean load_verdict(const char *path, gboolean kernel_known, gboolean *ret_works, char **ret_probe)
{
	g_autoptr(JsonObject) object = NULL;

	if (!file_read_json(path, CACHE_MAX_BYTES, &object, NULL))
		return FALSE;
	gboolean works = json_object_get_boolean_member_with_default(object, "kvm", FALSE);
	gint64 age_ns = g_get_real_time() * 1000 - json_object_get_int_member_with_default(object, "time_ns", 0);
	if ((!works || !kernel_known) && age_ns > DAY_NS)
		return FALSE;
	*ret_works = works;
	*ret_probe = g_strdup(json_object_get_string_member_with_default(object, "probe", ""));
	return TRUE;
}

static void save_verdict(StageContext *stage, const char *path, gboolean works, const char *probe)
{
	g_autofree char *dir = g_path_get_dirname(path);
	g_autoptr(JsonObject) object = json_object_new();
	g_autoptr(GError) error = NULL;

	json_object_set_boolean_member(object, "kvm", works);
	json_object_set_string_member(object, "probe", probe);
	json_object_set_int_member(object, "time_ns", g_get_real_time() * 1000);
	/* without it the next job probes again */
	if (g_mkdir_with_parents(dir, 0755) < 0 || !file_write_json(path, object, &error))
		stage_log(stage, "the probe's outcome is not kept: %s", error ? error->message : g_strerror(errno));
}

/* ---- the probe ---- */

/* FALSE with error: only if the stage is stopping. A domain that does not even start is an outcome. */
static gboolean probe_kvm(StageContext *stage, VmHost *host, const char *kernel, gboolean *ret_works, char **ret_probe,
			  GError **error)
{
	g_autoptr(GuestPlan) plan = guest_plan_new_empty();
	g_autofree char *run = boot_run_name(stage->dir), *lab = boot_lab_name(stage->place->cache_dir);
	g_autoptr(BootResult) result = NULL;
	g_autoptr(GError) local = NULL;
	const gint64 limit_ns = ACCELERATOR_PROBE_S * G_GINT64_CONSTANT(1000000000);
	BootSetup setup = {
		.stage = stage,
		.host = host,
		.plan = plan,
		.accelerator = VM_KVM,
		.clock = CLOCK_KVM,
		.limits = { limit_ns, limit_ns, limit_ns, 1 },
		.lab = lab,
		.run = run,
		.memory_mib = PROBE_MEMORY_MIB,
	};

	stage_progress(stage, "probing KVM with a guest", 0, 0, ACCELERATOR_PROBE_S);
	gboolean booted = boot_once(&setup, -1, kernel, NULL, NULL, &result, &local);
	if (g_error_matches(local, CHILD_ERROR, CHILD_ERROR_STOPPED)) {
		g_propagate_error(error, g_steal_pointer(&local));
		return FALSE;
	}
	*ret_works = booted && !*result->reason;
	if (*ret_works)
		*ret_probe = g_strdup_printf("a guest ran on KVM to its end in %.1f s", (double)(result->end_ns - result->start_ns) / 1e9);
	else if (booted)
		*ret_probe = g_strdup_printf("libvirt offers KVM, but a guest on it ended as '%s': %s", result->reason,
					     result->detail);
	else
		*ret_probe = g_strdup_printf("libvirt offers KVM, but a guest on it does not start: %s", local->message);
	return TRUE;
}

/* Whether KVM works, from the cache or by a probe. */
static gboolean find_kvm(StageContext *stage, VmHost *host, const char *kernel, Accelerator *accelerator,
			 gboolean *ret_works, GError **error)
{
	g_autofree char *path = cache_path(stage, host, accelerator);

	if (!vm_host_offers_kvm(host)) {
		*ret_works = FALSE;
		accelerator->probe = g_strdup("libvirt offers no KVM on this host (no usable /dev/kvm)");
		return TRUE;
	}
	if (load_verdict(path, *accelerator->host_kernel != '\0', ret_works, &accelerator->probe))
		return TRUE;
	if (!probe_kvm(stage, host, kernel, ret_works, &accelerator->probe, error))
		return FALSE;
	save_verdict(stage, path, *ret_works, accelerator->probe);
	return TRUE;
}

static gboolean find_versions(VmHost *host, Accelerator *accelerator, GError **error)
{
	accelerator->host_kernel = vm_host_kernel(host);
	accelerator->qemu_version = vm_host_qemu_version(host, error);
	accelerator->libvirt_version = accelerator->qemu_version ? vm_host_libvirt_version(host, error) : NULL;
	return accelerator->libvirt_version != NULL;
}

gboolean accelerator_choose(StageContext *stage, VmHost *host, const char *kernel, Accelerator *ret_accelerator)
{
	g_auto(Accelerator) accelerator = { 0 };
	JobClock asked = stage->spec->clock;
	gboolean works = FALSE;
	GError *error = NULL;

	if (!find_versions(host, &accelerator, &error))
		return stage_fail_error(stage, "libvirt", error);
	if (asked == CLOCK_TCG || asked == CLOCK_ICOUNT)
		accelerator.probe = g_strdup_printf("none: the clock %s was asked for", job_clock_name(asked));
	else if (!find_kvm(stage, host, kernel, &accelerator, &works, &error))
		return stage_fail_error(stage, "libvirt", error);
	if (asked == CLOCK_KVM && !works)
		return stage_fail(stage, "infra-failed", "no-kvm", "", NULL,
				  "the clock kvm was asked for, but guests do not run on KVM on host '%s': %s; give access to a "
				  "working /dev/kvm there, or ask for clock=icount or clock=tcg",
				  stage->place->host, accelerator.probe);
	accelerator.accelerator = works ? VM_KVM : VM_TCG;
	accelerator.clock = works ? CLOCK_KVM : asked == CLOCK_AUTO ? CLOCK_ICOUNT : asked;
	*ret_accelerator = accelerator;
	memset(&accelerator, 0, sizeof(accelerator));
	return TRUE;
}
