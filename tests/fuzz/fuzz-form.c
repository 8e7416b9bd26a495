/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A body of POST /jobs as a form: the first line is the Content-Type, the rest the body. */
#include <stdint.h>
#include <string.h>

#include "daemon/form.h"
#include "daemon/submission.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_fields(const GPtrArray *fields, const char *body, size_t size)
{
	g_autoptr(Submission) submission = submission_new();
	g_autoptr(GError) error = NULL;

	g_assert_cmpuint(fields->len, <=, FORM_MAX_FIELDS);
	for (guint i = 0; i < fields->len; i++) {
		const FormField *field = g_ptr_array_index(fields, i);

		g_assert_true(*field->name && g_utf8_validate(field->name, -1, NULL));
		g_assert_true(field->data >= body && field->data + field->size <= body + size);
		if (!submission_field(submission, field->name, field->data, field->size, field->is_file, &error))
			return;
	}
	if (submission_finish(submission, &error))
		g_assert_true(job_spec_check(submission->spec, NULL));
	else
		g_assert_true(error && g_utf8_validate(error->message, -1, NULL));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data;
	const char *newline = size ? memchr(text, '\n', size) : NULL;
	g_autofree char *type = newline ? g_strndup(text, (gsize)(newline - text)) : NULL;
	g_autofree char *boundary = type ? form_boundary(type) : NULL;
	g_autoptr(GPtrArray) fields = NULL;
	g_autoptr(GError) error = NULL;

	if (!boundary)
		return 0;
	g_assert_cmpuint(strlen(boundary), <=, FORM_MAX_BOUNDARY_BYTES);

	size_t body_size = size - (size_t)(newline + 1 - text);
	if (form_parse(newline + 1, body_size, boundary, &fields, &error))
		check_fields(fields, newline + 1, body_size);
	else
		g_assert_true(error && error->domain == SPEC_ERROR && !fields);
	return 0;
}
