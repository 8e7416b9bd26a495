/* SPDX-License-Identifier: GPL-2.0-or-later */
/* series_parse() on any bytes; what it accepts keeps the promises of series.h. */
#include <stdint.h>

#include "jobs/spec/series-diff.h"
#include "jobs/spec/series.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_patch(const SeriesPatch *patch, guint number)
{
	g_assert_cmpint(patch->number, ==, (int)number);
	g_assert_true(g_utf8_validate(patch->subject, -1, NULL));
	g_assert_true(g_utf8_validate(patch->author, -1, NULL));
	g_assert_cmpuint(g_bytes_get_size(patch->mail), <=, SERIES_MAX_PATCH_BYTES);
	g_assert_nonnull(patch->files[0]);
	for (char **file = patch->files; *file; file++)
		g_assert_false(diff_path_is_unsafe(*file));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	g_autoptr(Series) series = NULL;
	g_autoptr(GError) error = NULL;

	if (!series_parse((const char *)data, size, &series, &error)) {
		g_assert_null(series);
		g_assert_true(error && error->domain == SPEC_ERROR && g_utf8_validate(error->message, -1, NULL));
		return 0;
	}
	g_assert_cmpuint(series->patches->len, >, 0);
	g_assert_cmpuint(series->patches->len, <=, SERIES_MAX_PATCHES);
	for (guint i = 0; i < series->patches->len; i++)
		check_patch(g_ptr_array_index(series->patches, i), i + 1);
	return 0;
}
