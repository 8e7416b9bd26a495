/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "daemon/form.h"
#include "daemon/submission.h"

static gboolean take_form(Submission *submission, const GByteArray *body, const char *type, GError **error)
{
	g_autofree char *boundary = form_boundary(type);
	g_autoptr(GPtrArray) fields = NULL;

	if (!boundary)
		return spec_error_set(error, SPEC_ERROR_SYNTAX, NULL, "the Content-Type names no boundary");
	if (!form_parse((const char *)body->data, body->len, boundary, &fields, error))
		return FALSE;
	for (guint i = 0; i < fields->len; i++) {
		const FormField *field = g_ptr_array_index(fields, i);

		if (!submission_field(submission, field->name, field->data, field->size, field->is_file, error))
			return FALSE;
	}
	return TRUE;
}

static gboolean take_json(Submission *submission, const GByteArray *body, const char *type G_GNUC_UNUSED,
			  GError **error)
{
	return submission_json(submission, (const char *)body->data, body->len, error);
}

static gboolean take_mbox(Submission *submission, const GByteArray *body, const char *type G_GNUC_UNUSED,
			  GError **error)
{
	return submission_field(submission, "series", (const char *)body->data, body->len, TRUE, error);
}

static const struct {
	const char *type;
	gboolean (*take)(Submission *submission, const GByteArray *body, const char *type, GError **error);
} kinds[] = {
	{ "multipart/form-data", take_form },
	{ "application/json", take_json },
	{ "text/plain", take_mbox },
	{ "application/mbox", take_mbox },
	{ "message/rfc822", take_mbox },
};

char *submission_media(const char *content_type)
{
	const char *type = content_type ? content_type : "";

	return g_ascii_strdown(type, (gssize)strcspn(type, "; \t"));
}

gboolean submission_takes(const char *media)
{
	for (gsize i = 0; i < G_N_ELEMENTS(kinds); i++)
		if (g_str_equal(kinds[i].type, media))
			return TRUE;
	return FALSE;
}

gboolean submission_body(Submission *submission, const char *content_type, const GByteArray *body, GError **error)
{
	g_autofree char *media = submission_media(content_type);

	for (gsize i = 0; i < G_N_ELEMENTS(kinds); i++)
		if (g_str_equal(kinds[i].type, media))
			return kinds[i].take(submission, body, content_type, error);
	return spec_error_set(error, SPEC_ERROR_SYNTAX, NULL, "'%.100s' is not taken", media);
}
