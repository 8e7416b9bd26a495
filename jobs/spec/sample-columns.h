/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* The columns of a sample, for its readers. One row a column, in the order of SAMPLE_CSV_HEADER. */

#include "jobs/spec/sample.h"

typedef enum {
	SAMPLE_COLUMN_INT64,
	SAMPLE_COLUMN_INT,
	SAMPLE_COLUMN_STRING,
	SAMPLE_COLUMN_VALUE,
	SAMPLE_COLUMN_ARM,
	SAMPLE_COLUMN_BETTER,
	SAMPLE_COLUMN_BOOL,
} SampleColumnKind;

typedef struct {
	const char *name;
	SampleColumnKind kind;
	gsize offset; /* in Sample */
	gint64 max;   /* of a number; of a string in bytes */
	const char *others; /* string: characters allowed beside letters and digits, and not empty; NULL = any text */
} SampleColumn;

#define SAMPLE_COLUMN_COUNT 17

extern const SampleColumn sample_columns[SAMPLE_COLUMN_COUNT];

/* Sets one field from its text. A string is not copied: it has to outlive the sample. */
gboolean sample_column_set(const SampleColumn *column, Sample *sample, const char *text, GError **error);
