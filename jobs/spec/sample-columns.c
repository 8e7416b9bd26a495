/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "jobs/spec/sample-columns.h"

#include <math.h>
#include <string.h>

#define COLUMN(name_, kind_, ...) \
	{ .name = #name_, .kind = SAMPLE_COLUMN_##kind_, .offset = G_STRUCT_OFFSET(Sample, name_), __VA_ARGS__ }
#define WORD "_.-"

const SampleColumn sample_columns[SAMPLE_COLUMN_COUNT] = {
	COLUMN(job, INT64, .max = G_MAXINT64),
	COLUMN(arm, ARM),
	COLUMN(boot, INT, .max = SAMPLE_BOOT_MAX),
	COLUMN(pair, INT, .max = SAMPLE_BOOT_MAX),
	COLUMN(host, STRING, .max = SAMPLE_HOST_MAX_BYTES),
	COLUMN(clock, STRING, .max = SAMPLE_CLOCK_MAX_BYTES, .others = WORD),
	COLUMN(benchmark, STRING, .max = SAMPLE_NAME_MAX_BYTES, .others = WORD),
	COLUMN(params, STRING, .max = SAMPLE_PARAMS_MAX_BYTES),
	COLUMN(run, INT, .max = SAMPLE_RUN_MAX),
	COLUMN(pass, INT, .max = SAMPLE_PASS_MAX),
	COLUMN(metric, STRING, .max = SAMPLE_NAME_MAX_BYTES, .others = WORD),
	COLUMN(unit, STRING, .max = SAMPLE_NAME_MAX_BYTES),
	COLUMN(better, BETTER),
	COLUMN(value, VALUE),
	COLUMN(boot_start_ns, INT64, .max = G_MAXINT64),
	COLUMN(valid, BOOL, .max = 1),
	COLUMN(reason, STRING, .max = SAMPLE_REASON_MAX_BYTES),
};

static gboolean refuse(GError **error, const SampleColumn *column, const char *text, const char *wanted)
{
	g_autofree char *valid = g_utf8_make_valid(text, -1);

	g_set_error(error, SAMPLE_ERROR, SAMPLE_ERROR_VALUE, "%s: \"%.60s\" is not %s", column->name, valid, wanted);
	return FALSE;
}

static gboolean set_int(const SampleColumn *column, Sample *sample, const char *text, GError **error)
{
	void *field = G_STRUCT_MEMBER_P(sample, column->offset);
	gint64 number;

	if (!g_ascii_string_to_signed(text, 10, 0, column->max, &number, NULL)) {
		g_autofree char *wanted =
			g_strdup_printf("a whole number from 0 to %" G_GINT64_FORMAT, column->max);

		return refuse(error, column, text, wanted);
	}
	if (column->kind == SAMPLE_COLUMN_INT64)
		*(gint64 *)field = number;
	else if (column->kind == SAMPLE_COLUMN_BOOL)
		*(gboolean *)field = number != 0;
	else
		*(int *)field = (int)number;
	return TRUE;
}

static gboolean set_value(const SampleColumn *column, Sample *sample, const char *text, GError **error)
{
	char *end;
	double value;

	if (!*text || !g_ascii_strcasecmp(text, "nan")) {
		sample->value = NAN;
		return TRUE;
	}
	if (strspn(text, "0123456789+-.eE") != strlen(text))
		return refuse(error, column, text, "a number");
	value = g_ascii_strtod(text, &end);
	if (*end || end == text || !isfinite(value))
		return refuse(error, column, text, "a finite number");
	sample->value = value;
	return TRUE;
}

gboolean sample_column_set(const SampleColumn *column, Sample *sample, const char *text, GError **error)
{
	switch (column->kind) {
	case SAMPLE_COLUMN_INT64:
	case SAMPLE_COLUMN_INT:
	case SAMPLE_COLUMN_BOOL:
		return set_int(column, sample, text, error);
	case SAMPLE_COLUMN_VALUE:
		return set_value(column, sample, text, error);
	case SAMPLE_COLUMN_STRING:
		*(const char **)G_STRUCT_MEMBER_P(sample, column->offset) = text;
		return TRUE;
	case SAMPLE_COLUMN_ARM:
		return sample_arm_from_string(text, &sample->arm) || refuse(error, column, text, "base, patched or control");
	case SAMPLE_COLUMN_BETTER:
		return sample_better_from_string(text, &sample->better) ||
		       refuse(error, column, text, "lower or higher");
	}
	g_assert_not_reached();
}

static gboolean check_string(const SampleColumn *column, const char *text, GError **error)
{
	gsize length = strlen(text);

	if (length > (gsize)column->max) {
		g_set_error(error, SAMPLE_ERROR, SAMPLE_ERROR_LIMIT,
			    "%s: has %" G_GSIZE_FORMAT " bytes, at most %" G_GINT64_FORMAT " are allowed", column->name,
			    length, column->max);
		return FALSE;
	}
	if (!column->others) {
		if (!g_utf8_validate(text, (gssize)length, NULL))
			return refuse(error, column, text, "valid UTF-8");
		for (const char *c = text; *c; c++)
			if ((guchar)*c < 0x20 || *c == 0x7f)
				return refuse(error, column, text, "free of control characters");
		return TRUE;
	}
	if (!*text)
		return refuse(error, column, text, "a name");
	for (const char *c = text; *c; c++)
		if (!g_ascii_isalnum(*c) && !strchr(column->others, *c))
			return refuse(error, column, text, "a name of letters, digits, '_', '.' and '-'");
	return TRUE;
}

static gboolean check_number(const SampleColumn *column, gint64 number, GError **error)
{
	if (number >= 0 && number <= column->max)
		return TRUE;
	g_set_error(error, SAMPLE_ERROR, SAMPLE_ERROR_VALUE,
		    "%s: %" G_GINT64_FORMAT " is not from 0 to %" G_GINT64_FORMAT, column->name, number, column->max);
	return FALSE;
}

gboolean sample_check(const Sample *sample, GError **error)
{
	for (gsize i = 0; i < SAMPLE_COLUMN_COUNT; i++) {
		const SampleColumn *column = &sample_columns[i];
		const void *field = G_STRUCT_MEMBER_P(sample, column->offset);
		gboolean good = TRUE;

		if (column->kind == SAMPLE_COLUMN_STRING)
			good = check_string(column, *(const char *const *)field, error);
		else if (column->kind == SAMPLE_COLUMN_INT64)
			good = check_number(column, *(const gint64 *)field, error);
		else if (column->kind == SAMPLE_COLUMN_INT)
			good = check_number(column, *(const int *)field, error);
		else if (column->kind == SAMPLE_COLUMN_VALUE && isinf(sample->value))
			good = refuse(error, column, "inf", "a finite number");
		if (!good)
			return FALSE;
	}
	return TRUE;
}
