/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Raw samples: one record, a table of them, and their two forms on disk and on the wire.
 *
 * CSV is RFC 4180 with exactly the header SAMPLE_CSV_HEADER; lines end in CRLF when written, CRLF or LF when read.
 * JSON is one object a sample with the columns as members; samples.jsonl has one a line, samples.json is an array.
 * In JSON `valid` is true or false (1 and 0 are read as well) and a missing value is null; in CSV `valid` is 1 or 0
 * and a missing value is an empty field (`nan` is read as well). Infinities are refused.
 *
 * Values are written with the fewest digits (15, 16 or 17) that read back equal.
 *
 * Invariants of a table: every sample passed sample_check(); no two have the same (arm, boot, benchmark, params, run,
 * pass, metric); all samples of one (arm, boot) agree on job, pair, host, clock, boot_start_ns.
 */

#include <glib.h>

/* Limits on what comes in. A breach is an error that names the line and the limit. */
#define SAMPLE_LINE_MAX_BYTES 8192u      /* one CSV record or one JSON object */
#define SAMPLE_TABLE_MAX 2000000u        /* samples in one table */
#define SAMPLE_TEXT_MAX_BYTES (1u << 30) /* one CSV or JSON document */
#define SAMPLE_HOST_MAX_BYTES 255u
#define SAMPLE_CLOCK_MAX_BYTES 16u
#define SAMPLE_NAME_MAX_BYTES 64u /* benchmark, metric, unit */
#define SAMPLE_PARAMS_MAX_BYTES 512u
#define SAMPLE_REASON_MAX_BYTES 256u
#define SAMPLE_BOOT_MAX 99999 /* boot and pair: 0 … */
#define SAMPLE_RUN_MAX 99999  /* run: 0 … */
#define SAMPLE_PASS_MAX 999999 /* pass: 0 (warm-up), 1 … */

#define SAMPLE_CSV_HEADER \
	"job,arm,boot,pair,host,clock,benchmark,params,run,pass,metric,unit,better,value,boot_start_ns,valid,reason"

#define SAMPLE_ERROR (sample_error_quark())
GQuark sample_error_quark(void);

typedef enum {
	SAMPLE_ERROR_SYNTAX,    /* not CSV or JSON, or not the columns expected */
	SAMPLE_ERROR_VALUE,     /* a field that cannot be what it says */
	SAMPLE_ERROR_LIMIT,     /* longer, larger or more than allowed */
	SAMPLE_ERROR_DUPLICATE, /* the same sample twice */
	SAMPLE_ERROR_CONFLICT,  /* two samples of one boot contradict each other */
} SampleError;

typedef enum {
	SAMPLE_ARM_BASE,
	SAMPLE_ARM_PATCHED,
	SAMPLE_ARM_CONTROL, /* the base kernel again: no part of the job's comparison, see jobs/stats/control.h */
	SAMPLE_ARMS,
} SampleArm;

#define SAMPLE_ARM_COUNT 2 /* of a comparison: base and patched */

typedef enum {
	SAMPLE_BETTER_LOWER,
	SAMPLE_BETTER_HIGHER,
	SAMPLE_BETTER_COUNT,
} SampleBetter;

/* One raw sample. The strings belong to the table that the sample is in, or to whoever filled it. */
typedef struct {
	gint64 job; /* 0 = none */
	SampleArm arm;
	int boot;
	int pair;
	const char *host;
	const char *clock;     /* [A-Za-z0-9_.-]+ */
	const char *benchmark; /* [A-Za-z0-9_.-]+ */
	const char *params;    /* "nproc=8;lru=mglru", may be empty */
	int run;
	int pass;           /* 0 = warm-up, never counted */
	const char *metric; /* [A-Za-z0-9_.-]+ */
	const char *unit;   /* printable, may be empty */
	SampleBetter better;
	double value; /* finite, or NaN = missing */
	gint64 boot_start_ns;
	gboolean valid;     /* FALSE: its boot does not count */
	const char *reason; /* why not; empty if valid */
} Sample;

const char *sample_arm_to_string(SampleArm arm);
gboolean sample_arm_from_string(const char *text, SampleArm *ret_arm);
const char *sample_better_to_string(SampleBetter better);
gboolean sample_better_from_string(const char *text, SampleBetter *ret_better);

/* Whether every field is within its limits (strings may not be NULL). */
gboolean sample_check(const Sample *sample, GError **error);

typedef struct SampleTable SampleTable;

SampleTable *sample_table_new(void);
void sample_table_free(SampleTable *table);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(SampleTable, sample_table_free)

gsize sample_table_length(const SampleTable *table);
/* Valid until the table is freed or appended to; its strings until it is freed. Equal strings have equal addresses
 * within one table. */
const Sample *sample_table_get(const SampleTable *table, gsize i);

/* Copies the sample, strings included. On failure the table is as it was. */
gboolean sample_table_append(SampleTable *table, const Sample *sample, GError **error);
/* One line of samples.jsonl, with or without its newline. On failure the table is as it was. */
gboolean sample_table_append_json(SampleTable *table, const char *line, gsize length, GError **error);
/* Appends the boots of another table after those of this one: their boot and pair numbers are shifted past the
 * highest here. What a second file of boots of the same comparison needs. On failure the table may hold a part. */
gboolean sample_table_append_boots(SampleTable *table, const SampleTable *other, GError **error);

/* Whole documents; the errors name the line (1 = the first). NULL on failure. */
SampleTable *sample_table_from_csv(const char *text, gsize length, GError **error);
SampleTable *sample_table_from_json(const char *text, gsize length, GError **error);
/* All lines of a samples.jsonl. A last line without its newline is an unfinished write and left alone; the length
 * that was read is returned in ret_used (may be NULL). */
SampleTable *sample_table_from_jsonl(const char *text, gsize length, gsize *ret_used, GError **error);
/* Any of the three, told apart by the first character: '[' JSON array, '{' JSON lines, else CSV. */
SampleTable *sample_table_from_text(const char *text, gsize length, GError **error);

/* Writers, for a sample that passes sample_check(). */
void sample_append_csv(GString *out, const Sample *sample);  /* one record with its CRLF */
void sample_append_json(GString *out, const Sample *sample); /* one object, no newline */
char *sample_table_to_csv(const SampleTable *table);         /* with the header */
char *sample_table_to_json(const SampleTable *table);        /* an array, one sample a line */

/* The shortest decimal that reads back equal; buffer of at least G_ASCII_DTOSTR_BUF_SIZE. Not for NaN. */
const char *sample_format_double(char *buffer, double value);
