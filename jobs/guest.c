/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "jobs/guest.h"

#include <math.h>
#include <string.h>

G_DEFINE_QUARK(regrlab-guest-error, guest_error)

struct GuestStream {
	const GuestPlan *plan;
	char nonce[GUEST_NONCE_CHARS + 1];
	char line[GUEST_MAX_LINE];
	gsize length;		/* of line */
	gsize bytes;		/* in all */
	guint lines;		/* complete ones before the end line: the next seq */
	guint next_run;		/* index in plan->runs of the next one to start */
	const GuestRun *run;	/* between start and run-end */
	gboolean hello, ended;
	GHashTable *seen;	/* of the current run: gint64 of metric and pass */
	GError *error;		/* the breach there was */
};

static gboolean fail(GError **error, GuestError code, const char *format, ...) G_GNUC_PRINTF(3, 4);

static gboolean fail(GError **error, GuestError code, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	if (error)
		*error = g_error_new_valist(GUEST_ERROR, code, format, args);
	va_end(args);
	return FALSE;
}

const char *guest_error_name(int code)
{
	static const char *const names[] = {
		[GUEST_ERROR_OVERSIZED] = "oversized",	   [GUEST_ERROR_MALFORMED] = "malformed",
		[GUEST_ERROR_NONCE] = "nonce",		   [GUEST_ERROR_SEQUENCE] = "sequence",
		[GUEST_ERROR_NOT_PLANNED] = "not-planned", [GUEST_ERROR_METRIC] = "metric",
		[GUEST_ERROR_VALUE] = "value",		   [GUEST_ERROR_DUPLICATE] = "duplicate",
		[GUEST_ERROR_TRUNCATED] = "truncated",
	};

	g_assert(code >= 0 && code < (int)G_N_ELEMENTS(names));
	return names[code];
}

GuestStream *guest_stream_new(const GuestPlan *plan, const char *nonce)
{
	GuestStream *stream = g_new0(GuestStream, 1);

	g_assert(strlen(nonce) == GUEST_NONCE_CHARS);
	stream->plan = plan;
	g_strlcpy(stream->nonce, nonce, sizeof(stream->nonce));
	stream->seen = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free, NULL);
	return stream;
}

void guest_stream_free(GuestStream *stream)
{
	if (!stream)
		return;
	g_hash_table_unref(stream->seen);
	g_clear_error(&stream->error);
	g_free(stream);
}

gboolean guest_stream_ended(const GuestStream *stream)
{
	return stream->ended;
}

const GuestRun *guest_stream_run(const GuestStream *stream)
{
	return stream->run;
}

guint guest_stream_lines(const GuestStream *stream)
{
	return stream->lines;
}

/* ---- members of a line ---- */

static gboolean get_text(JsonObject *object, const char *name, const char **ret_text, GError **error)
{
	JsonNode *node = json_object_get_member(object, name);

	if (!node || !JSON_NODE_HOLDS_VALUE(node) || json_node_get_value_type(node) != G_TYPE_STRING)
		return fail(error, GUEST_ERROR_MALFORMED, "no text member '%s'", name);
	*ret_text = json_node_get_string(node);
	return TRUE;
}

static gboolean get_name(JsonObject *object, const char *name, const char **ret_text, GError **error)
{
	if (!get_text(object, name, ret_text, error))
		return FALSE;
	if (strlen(*ret_text) > GUEST_MAX_TEXT)
		return fail(error, GUEST_ERROR_OVERSIZED, "member '%s' is longer than %d bytes", name, GUEST_MAX_TEXT);
	return TRUE;
}

static gboolean get_integer(JsonObject *object, const char *name, gint64 *ret_value, GError **error)
{
	JsonNode *node = json_object_get_member(object, name);

	if (!node || !JSON_NODE_HOLDS_VALUE(node) || json_node_get_value_type(node) != G_TYPE_INT64)
		return fail(error, GUEST_ERROR_MALFORMED, "no integer member '%s'", name);
	*ret_value = json_node_get_int(node);
	return TRUE;
}

/* A time or a rate. */
static gboolean get_measure(JsonObject *object, const char *name, double *ret_value, GError **error)
{
	JsonNode *node = json_object_get_member(object, name);
	GType type = node && JSON_NODE_HOLDS_VALUE(node) ? json_node_get_value_type(node) : G_TYPE_INVALID;

	if (type != G_TYPE_INT64 && type != G_TYPE_DOUBLE)
		return fail(error, GUEST_ERROR_VALUE, "member '%s' is no number", name);
	*ret_value = json_node_get_double(node);
	if (!isfinite(*ret_value) || *ret_value <= 0)
		return fail(error, GUEST_ERROR_VALUE, "member '%s' is not a finite number above 0", name);
	return TRUE;
}

/* ---- lines by type ---- */

/* The run that a line names is the given one. */
static gboolean check_run(JsonObject *object, const GuestRun *run, GError **error)
{
	const char *benchmark = NULL, *params = NULL;
	gint64 number = 0;

	if (!get_name(object, "benchmark", &benchmark, error) || !get_name(object, "params", &params, error) ||
	    !get_integer(object, "run", &number, error))
		return FALSE;
	if (!run || !g_str_equal(benchmark, run->set->benchmark) || !g_str_equal(params, run->set->params) ||
	    number != run->run)
		return fail(error, GUEST_ERROR_NOT_PLANNED, "run %" G_GINT64_FORMAT " of '%.64s' (%.64s) is not %s", number,
			    benchmark, params, run ? "the one that is due" : "to be expected here");
	return TRUE;
}

static gboolean take_hello(GuestStream *stream, GuestRecord *record G_GNUC_UNUSED, GError **error)
{
	if (stream->hello)
		return fail(error, GUEST_ERROR_SEQUENCE, "a second hello");
	stream->hello = TRUE;
	return TRUE;
}

static gboolean take_start(GuestStream *stream, GuestRecord *record, GError **error)
{
	const GArray *runs = stream->plan->runs;
	const char *lru;

	if (stream->run)
		return fail(error, GUEST_ERROR_SEQUENCE, "a run starts before the last one has ended");
	const GuestRun *next = stream->next_run < runs->len ? &g_array_index(runs, GuestRun, stream->next_run) : NULL;
	if (!check_run(record->object, next, error) || !get_name(record->object, "lru", &lru, error))
		return FALSE;
	stream->next_run++;
	stream->run = record->run = next;
	g_hash_table_remove_all(stream->seen);
	return TRUE;
}

static gboolean check_metric(JsonObject *object, const BenchmarkMetric *metric, GError **error)
{
	const char *unit, *better;

	if (!get_name(object, "unit", &unit, error) || !get_name(object, "better", &better, error))
		return FALSE;
	if (!g_str_equal(unit, metric->unit))
		return fail(error, GUEST_ERROR_METRIC, "metric '%s' is in '%.32s', its description says '%s'", metric->name,
			    unit, metric->unit);
	if (!g_str_equal(better, metric->higher_is_better ? "higher" : "lower"))
		return fail(error, GUEST_ERROR_METRIC, "metric '%s' is said to be better '%.32s'", metric->name, better);
	return TRUE;
}

static gboolean take_sample(GuestStream *stream, GuestRecord *record, GError **error)
{
	const char *name = NULL;
	gint64 pass = 0;

	if (!check_run(record->object, stream->run, error) || !get_name(record->object, "metric", &name, error) ||
	    !get_integer(record->object, "pass", &pass, error) ||
	    !get_measure(record->object, "value", &record->value, error))
		return FALSE;
	const BenchmarkMetric *metric = benchmark_metric(stream->run->benchmark, name);
	if (!metric)
		return fail(error, GUEST_ERROR_METRIC, "%s has no metric '%.64s'", stream->run->set->benchmark, name);
	if (!check_metric(record->object, metric, error))
		return FALSE;
	if (pass < 0 || pass > GUEST_MAX_PASS)
		return fail(error, GUEST_ERROR_VALUE, "pass %" G_GINT64_FORMAT " is not 0 to %d", pass, GUEST_MAX_PASS);

	if (g_hash_table_size(stream->seen) == GUEST_MAX_RUN_SAMPLES)
		return fail(error, GUEST_ERROR_OVERSIZED, "more than %d samples of a run", GUEST_MAX_RUN_SAMPLES);
	guint index = 0;
	g_ptr_array_find(stream->run->benchmark->metrics, metric, &index);
	gint64 key = (gint64)index * (GUEST_MAX_PASS + 1) + pass;
	if (!g_hash_table_add(stream->seen, g_memdup2(&key, sizeof(key))))
		return fail(error, GUEST_ERROR_DUPLICATE, "pass %" G_GINT64_FORMAT " of metric '%s' came twice", pass,
			    metric->name);
	record->run = stream->run;
	record->metric = metric;
	record->pass = (int)pass;
	return TRUE;
}

static gboolean take_counter(GuestStream *stream, GuestRecord *record, GError **error)
{
	const char *name;
	gint64 before, after;

	record->run = stream->run;
	return check_run(record->object, stream->run, error) && get_name(record->object, "name", &name, error) &&
	       get_integer(record->object, "before", &before, error) && get_integer(record->object, "after", &after, error);
}

static gboolean take_log(GuestStream *stream G_GNUC_UNUSED, GuestRecord *record, GError **error)
{
	return get_text(record->object, "text", &record->text, error);
}

static gboolean take_run_end(GuestStream *stream, GuestRecord *record, GError **error)
{
	gint64 status;

	if (!check_run(record->object, stream->run, error) || !get_integer(record->object, "status", &status, error))
		return FALSE;
	if (status < -1 || status > 255)
		return fail(error, GUEST_ERROR_VALUE, "status %" G_GINT64_FORMAT " of a run", status);
	record->run = stream->run;
	record->status = (int)status;
	stream->run = NULL;
	return TRUE;
}

static gboolean take_end(GuestStream *stream, GuestRecord *record, GError **error)
{
	gint64 lines;

	if (!get_integer(record->object, "lines", &lines, error))
		return FALSE;
	if (lines != stream->lines)
		return fail(error, GUEST_ERROR_SEQUENCE, "the guest counts %" G_GINT64_FORMAT " lines, %u came", lines,
			    stream->lines);
	if (stream->run || stream->next_run < stream->plan->runs->len)
		return fail(error, GUEST_ERROR_NOT_PLANNED, "the guest ended after %u of %u runs",
			    stream->next_run - (stream->run ? 1 : 0), stream->plan->runs->len);
	stream->ended = TRUE;
	return TRUE;
}

typedef struct {
	const char *name;
	gboolean (*take)(GuestStream *stream, GuestRecord *record, GError **error);
} LineType;

static const LineType types[] = {
	[GUEST_HELLO] = { "hello", take_hello },       [GUEST_START] = { "start", take_start },
	[GUEST_SAMPLE] = { "sample", take_sample },    [GUEST_COUNTER] = { "counter", take_counter },
	[GUEST_LOG] = { "log", take_log },	       [GUEST_RUN_END] = { "run-end", take_run_end },
	[GUEST_END] = { "end", take_end },
};

/* ---- one line ---- */

/* Nothing nested: then no depth of a hostile line reaches the JSON parser. */
static gboolean is_flat_object(const char *line, gsize length)
{
	gboolean in_string = FALSE;

	if (length < 2 || line[0] != '{' || line[length - 1] != '}')
		return FALSE;
	for (gsize i = 1; i < length - 1; i++) {
		if (line[i] == '\\' && in_string)
			i++;
		else if (line[i] == '"')
			in_string = !in_string;
		else if (!in_string && strchr("{}[]/", line[i]))
			return FALSE;
	}
	return !in_string;
}

static gboolean parse_line(const char *line, gsize length, JsonParser *parser, JsonObject **ret_object, GError **error)
{
	if (memchr(line, '\0', length) || !g_utf8_validate(line, (gssize)length, NULL) || !is_flat_object(line, length) ||
	    !json_parser_load_from_data(parser, line, (gssize)length, NULL) ||
	    !JSON_NODE_HOLDS_OBJECT(json_parser_get_root(parser)))
		return fail(error, GUEST_ERROR_MALFORMED, "not one flat JSON object");
	*ret_object = json_node_get_object(json_parser_get_root(parser));
	return TRUE;
}

static gboolean check_envelope(GuestStream *stream, JsonObject *object, GuestRecordType *ret_type, GError **error)
{
	const char *nonce, *type;
	gint64 seq;

	if (!get_name(object, "nonce", &nonce, error) || !get_integer(object, "seq", &seq, error) ||
	    !get_name(object, "type", &type, error))
		return FALSE;
	if (!g_str_equal(nonce, stream->nonce))
		return fail(error, GUEST_ERROR_NONCE, "not this boot's nonce");
	if (seq != stream->lines)
		return fail(error, GUEST_ERROR_SEQUENCE, "line %" G_GINT64_FORMAT " where %u was due", seq, stream->lines);
	for (gsize i = 0; i < G_N_ELEMENTS(types); i++) {
		if (!g_str_equal(types[i].name, type))
			continue;
		*ret_type = (GuestRecordType)i;
		if (i != GUEST_HELLO && !stream->hello)
			return fail(error, GUEST_ERROR_SEQUENCE, "'%s' before hello", type);
		return TRUE;
	}
	return fail(error, GUEST_ERROR_MALFORMED, "unknown type '%.32s'", type);
}

static gboolean take_line(GuestStream *stream, const char *line, gsize length, GuestRecordFunc func, gpointer user,
			  GError **error)
{
	g_autoptr(JsonParser) parser = json_parser_new_immutable();
	GuestRecord record = { 0 };

	if (stream->ended)
		return length == 0 || fail(error, GUEST_ERROR_SEQUENCE, "a line after the end");
	if (stream->lines == GUEST_MAX_LINES)
		return fail(error, GUEST_ERROR_OVERSIZED, "more than %d lines", GUEST_MAX_LINES);
	if (!parse_line(line, length, parser, &record.object, error) ||
	    !check_envelope(stream, record.object, &record.type, error) ||
	    !types[record.type].take(stream, &record, error))
		return FALSE;
	stream->lines++;
	func(&record, user);
	return TRUE;
}

static gboolean feed(GuestStream *stream, const char *data, gsize size, GuestRecordFunc func, gpointer user,
		     GError **error)
{
	while (size > 0) {
		const char *newline = memchr(data, '\n', size);
		gsize part = newline ? (gsize)(newline - data) : size;
		if (part + 1 > sizeof(stream->line) - stream->length)
			return fail(error, GUEST_ERROR_OVERSIZED, "a line of more than %d bytes", GUEST_MAX_LINE);
		stream->bytes += part + (newline ? 1 : 0);
		if (stream->bytes > GUEST_MAX_BYTES)
			return fail(error, GUEST_ERROR_OVERSIZED, "more than %d bytes", GUEST_MAX_BYTES);
		memcpy(stream->line + stream->length, data, part);
		stream->length += part;
		if (!newline)
			return TRUE;
		if (!take_line(stream, stream->line, stream->length, func, user, error))
			return FALSE;
		stream->length = 0;
		data += part + 1;
		size -= part + 1;
	}
	return TRUE;
}

/* Keeps the error and names the line it is about. */
static gboolean keep_error(GuestStream *stream, GError *local, GError **error)
{
	if (local && !stream->error) {
		stream->error = local;
		g_prefix_error(&stream->error, "line %u: ", stream->lines);
	}
	if (error)
		*error = g_error_copy(stream->error);
	return FALSE;
}

gboolean guest_stream_feed(GuestStream *stream, const char *data, gsize size, GuestRecordFunc func, gpointer user,
			   GError **error)
{
	GError *local = NULL;

	if (stream->error || !feed(stream, data, size, func, user, &local))
		return keep_error(stream, local, error);
	return TRUE;
}

gboolean guest_stream_finish(GuestStream *stream, GError **error)
{
	GError *local = NULL;

	if (stream->error)
		return keep_error(stream, NULL, error);
	if (stream->ended)
		return TRUE;
	fail(&local, GUEST_ERROR_TRUNCATED, "the stream stopped before its end line%s",
	     stream->length > 0 ? ", within a line" : "");
	return keep_error(stream, local, error);
}
