/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "jobs/measure-record.h"

#include "jobs/spec/file.h"

#define IMAGE_BYTES	(256 * 1024 * 1024)
#define NO_NONCE	"00000000000000000000000000000000"

static char *image_digest(const char *path, GError **error)
{
	g_autofree char *data = NULL;
	gsize size;

	if (!file_read(path, IMAGE_BYTES, &data, &size, error))
		return NULL;
	return g_compute_checksum_for_data(G_CHECKSUM_SHA256, (const guchar *)data, size);
}

gboolean measure_record(const BootSetup *setup)
{
	StageContext *stage = setup->stage;
	g_autofree char *path = g_build_filename(stage->artifacts, "guest.json", NULL);
	g_autofree char *plan = guest_plan_text(setup->plan, NO_NONCE, setup->clock);
	GError *error = NULL;
	g_autofree char *digest = image_digest(stage->place->guest_image, &error);
	g_autoptr(JsonObject) record = json_object_new();

	if (!digest)
		return stage_fail_error(stage, "guest-image", error);
	json_object_set_string_member(record, "plan", plan);
	json_object_set_string_member(record, "image_sha256", digest);
	json_object_set_string_member(record, "machine", BOOT_MACHINE);
	json_object_set_string_member(record, "cmdline", boot_cmdline(setup->accelerator));
	json_object_set_int_member(record, "cpus", stage->place->guest_cpus);
	json_object_set_int_member(record, "memory_mib", setup->memory_mib);
	json_object_set_int_member(record, "disk_mib", setup->plan->sets ? setup->plan->sets->disk_mib : 0);
	json_object_set_string_member(record, "accelerator", vm_accelerator_name(setup->accelerator));
	json_object_set_string_member(record, "clock", job_clock_name(setup->clock));
	if (!file_write_json(path, record, &error))
		return stage_fail_error(stage, "run-directory", error);
	return TRUE;
}
