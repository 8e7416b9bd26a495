/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a build meets: the first byte says what the rest is taken for. 0: a
 * kernel configuration and, behind a NUL, a fragment to put into it; 1: what
 * make and the compiler say; 2: what git says, and behind a NUL the mail.
 */
#include <stdint.h>
#include <string.h>

#include "jobs/build-error.h"
#include "jobs/kernel-config.h"
#include "jobs/source.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void fuzz_config(const char *config, const char *fragment)
{
	g_autofree char *merged = config_merge(config, fragment), *twice = config_merge(merged, fragment);
	g_autofree char *one = config_value(fragment, "CONFIG_SMP"), *two = config_value(merged, "CONFIG_SMP");
	g_auto(GStrv) targets = NULL;
	g_autoptr(GError) error = NULL;

	/* what a fragment says holds in the whole, said once or twice */
	g_assert_cmpstr(merged, ==, twice);
	if (!g_str_equal(one, "n"))
		g_assert_cmpstr(one, ==, two);
	targets = config_base_targets(fragment, &error);
	for (char **target = targets; target && *target; target++)
		g_assert_true(**target && **target != '-');
}

static void fuzz_build(char *text)
{
	g_autoptr(BuildErrors) errors = build_errors_new("/src/linux");
	g_autoptr(JsonObject) detail = NULL;
	g_auto(GStrv) lines = g_strsplit(text, "\n", 0);

	for (char **line = lines; *line; line++)
		build_errors_line(errors, *line);
	detail = build_errors_detail(errors);
	for (const char *const *name = (const char *const[]){ "file", "error", "context", NULL }; *name; name++)
		g_assert_true(g_utf8_validate(json_object_get_string_member(detail, *name), -1, NULL));
	g_assert_true(json_object_get_int_member(detail, "line") >= 0);
}

static void fuzz_git(const char *words, const char *mail, gsize mail_size)
{
	g_autofree char *file = NULL, *hunk = NULL;
	int line;

	source_parse_failure(words, &file, &line);
	hunk = file ? source_find_hunk(mail, mail_size, file, line) : NULL;
	if (hunk)
		g_assert_true(g_str_has_prefix(hunk, "@@ -") && g_utf8_validate(hunk, -1, NULL));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	g_autofree char *text = size ? g_strndup((const char *)data + 1, size - 1) : NULL;
	const char *end = size ? (const char *)data + size : NULL;
	gsize length = text ? strlen(text) : 0;
	const char *second = text && length + 2 < size ? (const char *)data + 1 + length + 1 : end;
	g_autofree char *rest = size ? g_strndup(second, (gsize)(end - second)) : NULL;

	if (!size)
		return 0;
	switch (data[0] % 3) {
	case 0:
		fuzz_config(text, rest);
		break;
	case 1:
		fuzz_build(text);
		break;
	default:
		fuzz_git(text, second, (gsize)(end - second));
		break;
	}
	return 0;
}
