/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A body of POST /jobs as JSON, and the same bytes as a spec.json: what is taken is within the limits of spec.h. */
#include <stdint.h>
#include <string.h>

#include "daemon/submission.h"
#include "jobs/spec/file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A specification goes to JSON and comes back as it was. */
static void check_spec(const JobSpec *spec)
{
	g_autoptr(JsonObject) first = job_spec_to_json(spec), second = NULL;
	g_autofree char *one = json_object_to_line(first), *two = NULL;
	g_autoptr(JobSpec) again = NULL;
	g_autoptr(GError) error = NULL;

	g_assert_true(job_spec_from_json(first, &again, &error));
	second = job_spec_to_json(again);
	two = json_object_to_line(second);
	g_assert_cmpstr(one, ==, two);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	g_autoptr(Submission) submission = submission_new();
	g_autoptr(GError) error = NULL;
	g_autoptr(JsonObject) object = NULL;
	g_autoptr(JobSpec) spec = NULL;

	if (submission_json(submission, (const char *)data, size, &error) && submission_finish(submission, &error)) {
		g_assert_true(job_spec_check(submission->spec, NULL));
		check_spec(submission->spec);
	} else {
		g_assert_true(error && error->domain == SPEC_ERROR && g_utf8_validate(error->message, -1, NULL));
	}
	if (size <= SPEC_MAX_BYTES && json_object_from_data((const char *)data, size, &object, NULL) &&
	    job_spec_from_json(object, &spec, NULL))
		check_spec(spec);
	return 0;
}
