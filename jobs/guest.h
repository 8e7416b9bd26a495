/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a guest says on its results port: bytes in, records or a named error
 * out. Pure; nothing that a guest can send makes it crash, block or grow.
 *
 * The guest runs the kernel under test and is believed in nothing that can be
 * checked: each line carries the boot's nonce and the next sequence number,
 * the runs come in the order of the plan, samples lie between a run's start
 * and its end, a metric is one of the benchmark's description with that unit
 * and direction, a value is finite and above 0, no sample comes twice, no run
 * has more of them than any benchmark makes, and the last line says how many
 * lines came before it. The first breach is the end: the parser gives
 * no further record.
 */
#pragma once

#include <json-glib/json-glib.h>

#include "jobs/guest-plan.h"

#define GUEST_MAX_LINE		4096			/* bytes, newline included */
#define GUEST_MAX_LINES		200000			/* a boot */
#define GUEST_MAX_BYTES		(32 * 1024 * 1024)	/* a boot */
#define GUEST_MAX_PASS		999999
#define GUEST_MAX_RUN_SAMPLES	4000			/* ten times what pwrite makes */
#define GUEST_MAX_TEXT		512			/* bytes of a name that the guest sends */

#define GUEST_ERROR (guest_error_quark())
GQuark guest_error_quark(void);

typedef enum {
	GUEST_ERROR_OVERSIZED,	/* a line, the samples of a run, the lines or the bytes of a boot */
	GUEST_ERROR_MALFORMED,	/* not one flat JSON object, or a member missing or of the wrong type */
	GUEST_ERROR_NONCE,	/* of another boot */
	GUEST_ERROR_SEQUENCE,	/* a line lost, doubled, or out of its place */
	GUEST_ERROR_NOT_PLANNED,	/* a run that is not the plan's next one, or not the current one */
	GUEST_ERROR_METRIC,	/* not in the benchmark's description, or of another unit or direction */
	GUEST_ERROR_VALUE,	/* not a finite number above 0, or a pass out of range */
	GUEST_ERROR_DUPLICATE,	/* the same pass and metric twice in a run */
	GUEST_ERROR_TRUNCATED,	/* the stream stopped before its end line */
} GuestError;

/* "nonce", "not-planned": the code's name, for events. */
const char *guest_error_name(int code);

typedef enum {
	GUEST_HELLO,
	GUEST_START,
	GUEST_SAMPLE,
	GUEST_COUNTER,
	GUEST_LOG,
	GUEST_RUN_END,
	GUEST_END,
} GuestRecordType;

/* One line. Everything is borrowed, valid during the call of GuestRecordFunc. */
typedef struct {
	GuestRecordType type;
	JsonObject *object;		/* the whole line */
	const GuestRun *run;		/* START, SAMPLE, COUNTER, RUN_END */
	const BenchmarkMetric *metric;	/* SAMPLE */
	int pass;			/* SAMPLE */
	double value;			/* SAMPLE */
	int status;			/* RUN_END: exit code, 128 + signal, or -1 timed out */
	const char *text;		/* LOG */
} GuestRecord;

typedef void (*GuestRecordFunc)(const GuestRecord *record, gpointer user);

typedef struct GuestStream GuestStream;

/* The plan is borrowed and must outlive the stream. */
GuestStream *guest_stream_new(const GuestPlan *plan, const char *nonce);
void guest_stream_free(GuestStream *stream);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(GuestStream, guest_stream_free)

/*
 * Takes bytes as they came; func gets each complete line. FALSE: the stream
 * breaks the protocol, and every further call fails the same way. Empty lines
 * after the end line are fine: the guest flushes its port with them.
 */
gboolean guest_stream_feed(GuestStream *stream, const char *data, gsize size, GuestRecordFunc func, gpointer user,
			   GError **error);

/* No more bytes will come. FALSE: TRUNCATED, or the error there was. */
gboolean guest_stream_finish(GuestStream *stream, GError **error);

gboolean guest_stream_ended(const GuestStream *stream);		/* the end line came */
const GuestRun *guest_stream_run(const GuestStream *stream);	/* the run that is going on, or NULL */
guint guest_stream_lines(const GuestStream *stream);
