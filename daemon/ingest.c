/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/ingest.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "daemon/trust.h"
#include "jobs/spec/event.h"
#include "jobs/spec/peek.h"

typedef struct {
	StoreIngest *store;
	gint64 job;
	gint64 now_ns;
	const char *dir;
	StorePosition position;
	IngestOutcome outcome;
} Ingest;

/* ---- members of events, which are from outside ---- */

static const char *get_text(JsonObject *object, const char *name)
{
	JsonNode *node = json_object_get_member(object, name);
	const char *text = node && JSON_NODE_HOLDS_VALUE(node) ? json_node_get_string(node) : NULL;

	return text ? text : "";
}

static gboolean need_text(JsonObject *object, const char *name, const char **ret_text, GError **error)
{
	*ret_text = get_text(object, name);
	return **ret_text || spec_error_set(error, SPEC_ERROR_MISSING, name, "an event does not say");
}

static gboolean need_int(JsonObject *object, const char *name, gint64 min, gint64 max, gint64 *ret_value, GError **error)
{
	JsonNode *node = json_object_get_member(object, name);

	if (!node || !JSON_NODE_HOLDS_VALUE(node) || json_node_get_value_type(node) != G_TYPE_INT64)
		return spec_error_set(error, SPEC_ERROR_MISSING, name, "an event has no such number");
	*ret_value = json_node_get_int(node);
	if (*ret_value < min || *ret_value > max)
		return spec_error_set(error, SPEC_ERROR_VALUE, name, "%" G_GINT64_FORMAT " is out of range", *ret_value);
	return TRUE;
}

static gboolean need_bool(JsonObject *object, const char *name, gboolean *ret_value, GError **error)
{
	JsonNode *node = json_object_get_member(object, name);

	if (!node || !JSON_NODE_HOLDS_VALUE(node) || json_node_get_value_type(node) != G_TYPE_BOOLEAN)
		return spec_error_set(error, SPEC_ERROR_MISSING, name, "an event does not say true or false");
	*ret_value = json_node_get_boolean(node);
	return TRUE;
}

static JsonObject *get_object(JsonObject *object, const char *name)
{
	JsonNode *node = json_object_get_member(object, name);

	return node && JSON_NODE_HOLDS_OBJECT(node) ? json_node_get_object(node) : NULL;
}

/* ---- samples.jsonl, a line at a time ---- */

typedef struct {
	int fd;
	GByteArray *pending;
	gsize start;		/* of the next line, in pending */
} Lines;

static gboolean open_lines(Ingest *ingest, Lines *lines, GError **error)
{
	g_autofree char *path = g_build_filename(ingest->dir, "samples.jsonl", NULL);

	lines->fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (lines->fd < 0 || lseek(lines->fd, ingest->position.samples_offset, SEEK_SET) < 0)
		return spec_error_set(error, SPEC_ERROR_IO, NULL, "samples.jsonl: %s", g_strerror(errno));
	lines->pending = g_byte_array_sized_new(65536);	/* never NULL inside */
	return TRUE;
}

static void close_lines(Lines *lines)
{
	if (lines->fd >= 0)
		close(lines->fd);
	g_clear_pointer(&lines->pending, g_byte_array_unref);
}

/* The next whole line, valid until the next call; its size is without the newline. */
static const char *next_line(Lines *lines, gsize *ret_size, GError **error)
{
	guint8 buffer[65536];
	const guint8 *end;

	g_assert(lines->pending);
	/* an empty array has no data at all */
	while (!lines->pending->data ||
	       !(end = memchr(lines->pending->data + lines->start, '\n', lines->pending->len - lines->start))) {
		ssize_t n;

		g_byte_array_remove_range(lines->pending, 0, (guint)lines->start);
		lines->start = 0;
		if (lines->pending->len > SAMPLE_LINE_MAX_BYTES) {
			spec_error_set(error, SPEC_ERROR_LIMIT, NULL, "samples.jsonl: a line longer than %u bytes",
				       SAMPLE_LINE_MAX_BYTES);
			return NULL;
		}
		do
			n = read(lines->fd, buffer, sizeof(buffer));
		while (n < 0 && errno == EINTR);
		if (n <= 0) {
			spec_error_set(error, n ? SPEC_ERROR_IO : SPEC_ERROR_MISSING, NULL, "samples.jsonl: %s",
				       n ? g_strerror(errno) : "ends before the samples that a boot event counts");
			return NULL;
		}
		g_byte_array_append(lines->pending, buffer, (guint)n);
	}

	const char *line = (const char *)lines->pending->data + lines->start;
	*ret_size = (gsize)((const char *)end - line);
	lines->start += *ret_size + 1;
	return line;
}

/* What the sample says of its boot is what the boot's event said. */
static gboolean check_sample(const Ingest *ingest, const StoreBoot *boot, const Sample *sample, GError **error)
{
	if (sample->job == ingest->job && sample->boot == boot->boot && sample->pair == boot->pair &&
	    g_str_equal(sample_arm_to_string(sample->arm), boot->arm) && g_str_equal(sample->host, boot->host) &&
	    g_str_equal(sample->clock, boot->clock) && sample->boot_start_ns == boot->start_ns &&
	    !sample->valid == !boot->valid)
		return TRUE;
	return spec_error_set(error, SPEC_ERROR_VALUE, NULL,
			      "samples.jsonl: line %" G_GINT64_FORMAT " contradicts the event of boot %d",
			      ingest->position.samples + 1, boot->boot);
}

static gboolean take_lines(Ingest *ingest, Lines *lines, const StoreBoot *boot, gint64 count, GError **error)
{
	g_autoptr(SampleTable) table = sample_table_new();

	for (gint64 i = 0; i < count; i++) {
		const Sample *sample;
		gsize size;
		const char *line = next_line(lines, &size, error);

		if (!line || !sample_table_append_json(table, line, size, error))
			return FALSE;
		sample = sample_table_get(table, (gsize)i);
		if (!check_sample(ingest, boot, sample, error) ||
		    !store_ingest_sample(ingest->store, ingest->position.samples, sample, error))
			return FALSE;
		ingest->position.samples++;
		ingest->position.samples_offset += (gint64)size + 1;
	}
	return TRUE;
}

static gboolean take_samples(Ingest *ingest, const StoreBoot *boot, gint64 count, GError **error)
{
	Lines lines = { .fd = -1 };
	gboolean good;

	if (!count)
		return TRUE;
	good = open_lines(ingest, &lines, error) && take_lines(ingest, &lines, boot, count, error);
	close_lines(&lines);
	return good;
}

/* ---- events ---- */

static gboolean take_document(Ingest *ingest, const char *kind, JsonObject *object, GError **error)
{
	return store_ingest_document(ingest->store, kind, object, error);
}

/* The last one, and each by its number. */
static gboolean take_look(Ingest *ingest, const char *kind, JsonObject *object, GError **error)
{
	gint64 look = peek_int(object, "look", 0);
	g_autofree char *numbered = g_strdup_printf("look-%02d", (int)CLAMP(look, 0, 99));

	return take_document(ingest, kind, object, error) && take_document(ingest, numbered, object, error);
}

static gboolean take_result(Ingest *ingest, const char *kind, JsonObject *object, GError **error)
{
	JsonObject *result = get_object(object, "result");

	if (!result)
		return spec_error_set(error, SPEC_ERROR_MISSING, "result", "a result event has none");
	return store_ingest_document(ingest->store, kind, result, error) &&
	       trust_take_result(ingest->store, result, ingest->now_ns, error);
}

static gboolean take_calibration(Ingest *ingest, const char *kind G_GNUC_UNUSED, JsonObject *object, GError **error)
{
	return trust_take_calibration(ingest->store, object, ingest->now_ns, error);
}

static gboolean take_control(Ingest *ingest, const char *kind G_GNUC_UNUSED, JsonObject *object, GError **error)
{
	JsonObject *result = get_object(object, "result");

	if (!result)
		return spec_error_set(error, SPEC_ERROR_MISSING, "result", "a control event has none");
	return trust_take_control(ingest->store, result, ingest->now_ns, error);
}

static gboolean take_arm(Ingest *ingest, const char *kind G_GNUC_UNUSED, JsonObject *object, GError **error)
{
	const char *arm = get_text(object, "arm");

	if (!g_str_equal(arm, "base") && !g_str_equal(arm, "patched"))
		return spec_error_set(error, SPEC_ERROR_VALUE, "arm", "is neither base nor patched");
	return store_ingest_document(ingest->store, g_str_equal(arm, "base") ? "arm-base" : "arm-patched", object, error);
}

static gboolean take_host_state(Ingest *ingest, const char *kind G_GNUC_UNUSED, JsonObject *object, GError **error)
{
	const char *host;

	return need_text(object, "host", &host, error) &&
	       store_ingest_host_state(ingest->store, host, object, ingest->now_ns, error);
}

static gboolean take_boot(Ingest *ingest, const char *kind G_GNUC_UNUSED, JsonObject *object, GError **error)
{
	StoreBoot boot = { .reason = (char *)get_text(object, "reason"), .detail = (char *)get_text(object, "detail"),
			   .hello = get_object(object, "hello"), .machine = get_object(object, "machine") };
	const char *arm, *host, *clock;
	gint64 number = 0, pair = 0, samples = 0;
	SampleArm known;

	if (!need_int(object, "boot", 0, SAMPLE_BOOT_MAX, &number, error) ||
	    !need_int(object, "pair", 0, SAMPLE_BOOT_MAX, &pair, error) || !need_text(object, "arm", &arm, error) ||
	    !need_text(object, "host", &host, error) || !need_text(object, "clock", &clock, error) ||
	    !need_bool(object, "valid", &boot.valid, error) ||
	    !need_int(object, "start_ns", 0, G_MAXINT64, &boot.start_ns, error) ||
	    !need_int(object, "end_ns", 0, G_MAXINT64, &boot.end_ns, error) ||
	    !need_int(object, "first_sample_ns", 0, G_MAXINT64, &boot.first_sample_ns, error) ||
	    !need_int(object, "samples", 0, INGEST_MAX_SAMPLES, &samples, error))
		return FALSE;
	if (!sample_arm_from_string(arm, &known))
		return spec_error_set(error, SPEC_ERROR_VALUE, "arm", "is none of base, patched and control");
	boot.boot = (int)number;
	boot.pair = (int)pair;
	boot.arm = (char *)arm;
	boot.host = (char *)host;
	boot.clock = (char *)clock;
	return store_ingest_boot(ingest->store, &boot, error) && take_samples(ingest, &boot, samples, error);
}

static gboolean take_end(Ingest *ingest, const char *kind, JsonObject *object, GError **error)
{
	const char *name = get_text(object, "state");
	JobState state = JOB_WAITING_FOR_HOST;

	if (!g_str_equal(name, "built") && (!job_state_from_name(name, &state) || !job_state_is_final(state)))
		return spec_error_set(error, SPEC_ERROR_VALUE, "state", "'%.40s' is no state that a stage ends in", name);
	ingest->outcome.ended = TRUE;
	return store_ingest_document(ingest->store, kind, object, error) &&
	       store_ingest_state(ingest->store, state, get_text(object, "reason"),
				  state == JOB_WAITING_FOR_HOST ? "" : get_text(object, "message"),
				  get_text(object, "arm"), ingest->now_ns, error);
}

/* The job waits for the host, or for another. */
static gboolean take_host_down(Ingest *ingest, const char *kind G_GNUC_UNUSED, JsonObject *object, GError **error)
{
	const char *message;

	if (!need_text(object, "message", &message, error))
		return FALSE;
	ingest->outcome.ended = TRUE;
	g_free(ingest->outcome.host_down);
	ingest->outcome.host_down = g_strdup(message);
	return store_ingest_state(ingest->store, JOB_WAITING_FOR_HOST, "", "", "", ingest->now_ns, error);
}

static gboolean take_moved(Ingest *ingest, const char *kind G_GNUC_UNUSED, JsonObject *object, GError **error)
{
	const char *host;

	return need_text(object, "to", &host, error) && store_ingest_moved(ingest->store, host, error);
}

/* Other types are of a later release, and nothing to us. */
static const struct {
	const char *type;
	gboolean (*take)(Ingest *ingest, const char *kind, JsonObject *object, GError **error);
} takers[] = {
	{ "progress", take_document },
	{ "source", take_document },
	{ "accelerator", take_document },
	{ "plan", take_document },
	{ "look", take_look },
	{ "arm", take_arm },
	{ "host-state", take_host_state },
	{ "boot", take_boot },
	{ "calibration", take_calibration },
	{ "control", take_control },
	{ "counters", take_document },
	{ "result", take_result },
	{ "more", take_document },
	{ "more-result", take_result },
	{ "host-down", take_host_down },
	{ "moved", take_moved },
	{ "end", take_end },
};

static gboolean take_event(gint64 seq, const char *type, JsonObject *object, gpointer data, GError **error)
{
	Ingest *ingest = data;

	if (seq <= ingest->position.seq)
		return TRUE;
	if (seq != ingest->position.seq + 1)
		return spec_error_set(error, SPEC_ERROR_SYNTAX, NULL,
				      "events.jsonl: event %" G_GINT64_FORMAT " where %" G_GINT64_FORMAT " was due", seq,
				      ingest->position.seq + 1);
	for (gsize i = 0; i < G_N_ELEMENTS(takers); i++) {
		if (!g_str_equal(takers[i].type, type))
			continue;
		if (!takers[i].take(ingest, type, object, error)) {
			g_prefix_error(error, "event %" G_GINT64_FORMAT ": ", seq);
			return FALSE;
		}
	}
	ingest->position.seq = seq;
	ingest->outcome.events++;
	ingest->outcome.moved |= !g_str_equal(type, "progress");
	return TRUE;
}

gboolean ingest_job(Db *db, gint64 job, const char *dir, gint64 now_ns, IngestOutcome *ret_outcome, GError **error)
{
	Ingest ingest = { .job = job, .now_ns = now_ns, .dir = dir };
	g_autoptr(StoreIngest) store = store_ingest_begin(db, job, &ingest.position, error);

	if (!store)
		return FALSE;
	ingest.store = store;
	/* a power failure must not take away from the file what the database keeps */
	if (!event_read(dir, &ingest.position.events_offset, INGEST_MAX_EVENTS, take_event, &ingest, error) ||
	    (ingest.outcome.events &&
	     (!event_sync(dir, error) || !store_ingest_commit(g_steal_pointer(&store), &ingest.position, error)))) {
		g_free(ingest.outcome.host_down);
		return FALSE;
	}
	*ret_outcome = ingest.outcome;
	return TRUE;
}
