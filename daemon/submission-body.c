/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <string.h>

#include "daemon/form.h"
#include "daemon/submission.h"

typedef gboolean (*TakeField)(Submission *submission, const FormField *field, GError **error);

static gboolean take_fields(Submission *submission, const GByteArray *body, const char *type, TakeField take, GError **error)
{
	g_autofree char *boundary = form_boundary(type);
	g_autoptr(GPtrArray) fields = NULL;

	if (!boundary)
		return spec_error_set(error, SPEC_ERROR_SYNTAX, NULL, "the Content-Type names no boundary");
	if (!form_parse((const char *)body->data, body->len, boundary, &fields, error))
		return FALSE;
	for (guint i = 0; i < fields->len; i++)
		if (!take(submission, g_ptr_array_index(fields, i), error))
			return FALSE;
	return TRUE;
}

static gboolean take_field(Submission *submission, const FormField *field, GError **error)
{
	return submission_field(submission, field->name, field->data, field->size, field->is_file, error);
}

static gboolean take_form(Submission *submission, const GByteArray *body, const char *type, GError **error)
{
	return take_fields(submission, body, type, take_field, error);
}

/* A browser makes every line end of a text field CR LF (HTML, "constructing the entry list"). */
static gboolean take_pasted(Submission *submission, const FormField *field, GError **error)
{
	g_autoptr(GString) text = g_string_sized_new(field->size);

	for (gsize i = 0; i < field->size; i++)
		if (field->data[i] != '\r' || i + 1 == field->size || field->data[i + 1] != '\n')
			g_string_append_c(text, field->data[i]);
	return submission_field(submission, "series", text->str, text->len, TRUE, error);
}

static gboolean take_page_field(Submission *submission, const FormField *field, GError **error)
{
	if (!field->size)
		return TRUE;
	if (g_str_equal(field->name, "series_text"))
		return take_pasted(submission, field, error);
	return take_field(submission, field, error);
}

gboolean submission_page(Submission *submission, const char *content_type, const GByteArray *body, GError **error)
{
	g_autofree char *media = submission_media(content_type);

	if (!g_str_equal(media, "multipart/form-data"))
		return spec_error_set(error, SPEC_ERROR_SYNTAX, NULL, "'%.100s' is not what the form of this page sends", media);
	return take_fields(submission, body, content_type, take_page_field, error);
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
