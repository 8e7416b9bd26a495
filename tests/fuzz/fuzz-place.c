/* SPDX-License-Identifier: GPL-2.0-or-later */
/* place.json: what is taken is within its limits, and comes back as it was. */
#include <stdint.h>
#include <string.h>

#include "jobs/spec/file.h"
#include "jobs/spec/place.h"
#include "tests/fuzz/scratch.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char *as_text(void)
{
	g_autofree char *path = g_build_filename(scratch_folder(), "place.json", NULL);
	char *text;

	g_assert_true(file_read(path, G_MAXSSIZE, &text, NULL, NULL));
	return text;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	g_autoptr(JobPlace) place = NULL, again = NULL;
	g_autofree char *one = NULL, *two = NULL;
	g_autoptr(GError) error = NULL;

	scratch_write("place.json", (const char *)data, size);
	if (!job_place_load(scratch_folder(), &place, &error)) {
		g_assert_true(error && error->domain == SPEC_ERROR && g_utf8_validate(error->message, -1, NULL));
		return 0;
	}
	g_assert_true(place->host && place->tree_path && place->guest_cpus >= 1 && place->build_timeout_s >= 1);
	g_assert_true(job_place_save(place, scratch_folder(), &error));
	one = as_text();
	g_assert_true(job_place_load(scratch_folder(), &again, &error));
	g_assert_true(job_place_save(again, scratch_folder(), &error));
	two = as_text();
	g_assert_cmpstr(one, ==, two);
	return 0;
}
