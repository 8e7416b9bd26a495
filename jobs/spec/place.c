/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "jobs/spec/place.h"

#include "jobs/spec/file.h"
#include "jobs/spec/members.h"

#define PLACE_MAX_BYTES	(64 * 1024)
#define PATH_BYTES	4096
#define DAY_S		86400
#define CONTROL_EVERY_MAX	1000000

#define M(name_, kind_, min_, max_) \
	{ .name = #name_, .kind = kind_, .offset = G_STRUCT_OFFSET(JobPlace, name_), \
	  .min = min_, .max = max_ }

static const Member members[] = {
	M(tree, MEMBER_STRING, 0, PATH_BYTES),
	M(tree_path, MEMBER_STRING, 0, PATH_BYTES),
	M(tree_branch, MEMBER_STRING, 0, PATH_BYTES),
	M(tree_remote, MEMBER_STRING, 0, PATH_BYTES),
	M(cache_dir, MEMBER_STRING, 0, PATH_BYTES),
	M(guest_image, MEMBER_STRING, 0, PATH_BYTES),
	M(benchmarks_dir, MEMBER_STRING, 0, PATH_BYTES),
	M(configs_dir, MEMBER_STRING, 0, PATH_BYTES),
	M(build_cpus, MEMBER_STRING, 0, PATH_BYTES),
	M(build_jobs, MEMBER_INT, 0, 4096),
	M(build_timeout_s, MEMBER_INT, 1, DAY_S),
	M(build_user, MEMBER_STRING, 0, 64),
	M(build_memory_mib, MEMBER_INT, 0, G_MAXINT),
	M(build_disk_mib, MEMBER_INT, 1, G_MAXINT),
	M(host, MEMBER_STRING, 0, PATH_BYTES),
	M(host_uri, MEMBER_STRING, 0, PATH_BYTES),
	M(pool_dir, MEMBER_STRING, 0, PATH_BYTES),
	M(vm_cpus, MEMBER_STRING, 0, PATH_BYTES),
	M(other_cpus, MEMBER_STRING, 0, PATH_BYTES),
	M(guest_cpus, MEMBER_INT, 1, 4096),
	M(slots, MEMBER_INT, 1, 64),
	M(slot, MEMBER_INT, 0, 63),
	M(boot_timeout_s, MEMBER_INT, 1, DAY_S),
	M(silence_timeout_s, MEMBER_INT, 1, DAY_S),
	M(max_failed_boots, MEMBER_INT, 0, 1000),
	M(host_policy, MEMBER_STRING, 0, 16),
	M(host_require, MEMBER_STRING, 0, PATH_BYTES),
	M(host_root, MEMBER_STRING, 0, PATH_BYTES),
	M(max_jitter_pct, MEMBER_INT, 0, 100),
	M(max_steal_pct, MEMBER_INT, 0, 100),
	M(noise_wait_s, MEMBER_INT, 0, DAY_S),
	M(max_disturbed_boots, MEMBER_INT, 0, 1000),
	M(control_every, MEMBER_INT, 0, CONTROL_EVERY_MAX),
};

JobPlace *job_place_new(void)
{
	JobPlace *place = g_new0(JobPlace, 1);

	for (gsize i = 0; i < G_N_ELEMENTS(members); i++)
		if (members[i].kind == MEMBER_STRING)
			*(char **)G_STRUCT_MEMBER_P(place, members[i].offset) = g_strdup("");
	place->build_timeout_s = 3600;
	g_free(place->build_user);
	place->build_user = g_strdup("nobody");
	place->build_disk_mib = 16384;
	place->guest_cpus = 2;
	place->slots = 1;
	place->boot_timeout_s = 120;
	place->silence_timeout_s = 120;
	place->max_failed_boots = 2;
	place->max_jitter_pct = 100;
	place->max_steal_pct = 100;
	return place;
}

void job_place_free(JobPlace *place)
{
	if (!place)
		return;
	members_clear(members, G_N_ELEMENTS(members), place);
	g_free(place);
}

gboolean job_place_load(const char *dir, JobPlace **ret_place, GError **error)
{
	g_autofree char *path = g_build_filename(dir, "place.json", NULL);
	g_autoptr(JobPlace) place = job_place_new();
	g_autoptr(JsonObject) object = NULL;

	if (!file_read_json(path, PLACE_MAX_BYTES, &object, error) ||
	    !members_from_json(members, G_N_ELEMENTS(members), place, object, error))
		return FALSE;
	if (place->slot >= place->slots)
		return spec_error_set(error, SPEC_ERROR_VALUE, "slot", "%d of %d", place->slot, place->slots);
	*ret_place = g_steal_pointer(&place);
	return TRUE;
}

gboolean job_place_save(const JobPlace *place, const char *dir, GError **error)
{
	g_autofree char *path = g_build_filename(dir, "place.json", NULL);
	g_autoptr(JsonObject) object = members_to_json(members, G_N_ELEMENTS(members), place);

	return file_write_json(path, object, error);
}
