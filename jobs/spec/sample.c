/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "jobs/spec/sample.h"

#include <math.h>
#include <string.h>

G_DEFINE_QUARK(regrlab-sample-error-quark, sample_error)

struct SampleTable {
	GArray *samples;       /* Sample, its strings in `strings` */
	GStringChunk *strings; /* each once, so that equal strings have equal addresses */
	GHashTable *boots;     /* (arm, boot) -> 1 + index of its first sample */
	guint32 *slots;        /* open addressing by identity: 1 + index, 0 = free */
	gsize slot_count;      /* a power of two, at least twice the samples */
};

#define FIRST_SLOTS 1024u

static const char *const arm_names[SAMPLE_ARMS] = {
	[SAMPLE_ARM_BASE] = "base",
	[SAMPLE_ARM_PATCHED] = "patched",
	[SAMPLE_ARM_CONTROL] = "control",
};

static const char *const better_names[SAMPLE_BETTER_COUNT] = {
	[SAMPLE_BETTER_LOWER] = "lower",
	[SAMPLE_BETTER_HIGHER] = "higher",
};

static int find_name(const char *const *names, int count, const char *text)
{
	for (int i = 0; i < count; i++)
		if (g_str_equal(names[i], text))
			return i;
	return -1;
}

const char *sample_arm_to_string(SampleArm arm)
{
	g_assert(arm < SAMPLE_ARMS);
	return arm_names[arm];
}

gboolean sample_arm_from_string(const char *text, SampleArm *ret_arm)
{
	int found = find_name(arm_names, SAMPLE_ARMS, text);

	if (found >= 0)
		*ret_arm = (SampleArm)found;
	return found >= 0;
}

const char *sample_better_to_string(SampleBetter better)
{
	g_assert(better < SAMPLE_BETTER_COUNT);
	return better_names[better];
}

gboolean sample_better_from_string(const char *text, SampleBetter *ret_better)
{
	int found = find_name(better_names, SAMPLE_BETTER_COUNT, text);

	if (found >= 0)
		*ret_better = (SampleBetter)found;
	return found >= 0;
}

SampleTable *sample_table_new(void)
{
	SampleTable *table = g_new0(SampleTable, 1);

	table->samples = g_array_new(FALSE, FALSE, sizeof(Sample));
	table->strings = g_string_chunk_new(1024);
	table->boots = g_hash_table_new(NULL, NULL);
	table->slot_count = FIRST_SLOTS;
	table->slots = g_new0(guint32, table->slot_count);
	return table;
}

void sample_table_free(SampleTable *table)
{
	if (!table)
		return;
	g_array_unref(table->samples);
	g_string_chunk_free(table->strings);
	g_hash_table_unref(table->boots);
	g_free(table->slots);
	g_free(table);
}

gsize sample_table_length(const SampleTable *table)
{
	return table->samples->len;
}

const Sample *sample_table_get(const SampleTable *table, gsize i)
{
	g_assert(i < table->samples->len);
	return &g_array_index(table->samples, Sample, i);
}

static guint64 mix(guint64 hash, guint64 word)
{
	hash = (hash ^ word) * G_GUINT64_CONSTANT(0x9e3779b97f4a7c15);
	return hash ^ (hash >> 29);
}

/* The identity of a sample; its strings have to be the table's own. */
static guint64 identity_hash(const Sample *s)
{
	guint64 hash = mix((guint64)s->boot * SAMPLE_ARMS + s->arm, (guintptr)s->benchmark);

	hash = mix(hash, (guintptr)s->params);
	hash = mix(hash, (guintptr)s->metric);
	return mix(hash, ((guint64)s->run << 32) | (guint64)s->pass);
}

static gboolean same_identity(const Sample *a, const Sample *b)
{
	return a->arm == b->arm && a->boot == b->boot && a->benchmark == b->benchmark && a->params == b->params &&
	       a->run == b->run && a->pass == b->pass && a->metric == b->metric;
}

/* The slot of the sample, or the free one where it belongs. */
static guint32 *find_slot(const SampleTable *table, const Sample *sample)
{
	gsize mask = table->slot_count - 1;
	gsize at = identity_hash(sample) & mask;

	while (table->slots[at] && !same_identity(sample_table_get(table, table->slots[at] - 1), sample))
		at = (at + 1) & mask;
	return &table->slots[at];
}

static void grow_slots(SampleTable *table)
{
	g_free(table->slots);
	table->slot_count *= 2;
	table->slots = g_new0(guint32, table->slot_count);
	for (guint i = 0; i < table->samples->len; i++)
		*find_slot(table, sample_table_get(table, i)) = i + 1;
}

static gboolean agrees(const Sample *first, const Sample *sample, GError **error)
{
	const char *what = NULL;

	if (first->job != sample->job)
		what = "job";
	else if (first->pair != sample->pair)
		what = "pair";
	else if (first->host != sample->host)
		what = "host";
	else if (first->clock != sample->clock)
		what = "clock";
	else if (first->boot_start_ns != sample->boot_start_ns)
		what = "boot_start_ns";
	if (!what)
		return TRUE;
	g_set_error(error, SAMPLE_ERROR, SAMPLE_ERROR_CONFLICT,
		    "%s: boot %d of arm %s had another %s in an earlier sample", what, sample->boot,
		    sample_arm_to_string(sample->arm), what);
	return FALSE;
}

gboolean sample_table_append(SampleTable *table, const Sample *sample, GError **error)
{
	Sample own = *sample;
	gpointer boot = GUINT_TO_POINTER((guint)sample->boot * SAMPLE_ARMS + sample->arm);
	guint first;
	guint32 *slot;

	if (!sample_check(sample, error))
		return FALSE;
	if (table->samples->len >= SAMPLE_TABLE_MAX) {
		g_set_error(error, SAMPLE_ERROR, SAMPLE_ERROR_LIMIT, "more than %u samples", SAMPLE_TABLE_MAX);
		return FALSE;
	}
	own.host = g_string_chunk_insert_const(table->strings, sample->host);
	own.clock = g_string_chunk_insert_const(table->strings, sample->clock);
	own.benchmark = g_string_chunk_insert_const(table->strings, sample->benchmark);
	own.params = g_string_chunk_insert_const(table->strings, sample->params);
	own.metric = g_string_chunk_insert_const(table->strings, sample->metric);
	own.unit = g_string_chunk_insert_const(table->strings, sample->unit);
	own.reason = g_string_chunk_insert_const(table->strings, sample->reason);

	first = GPOINTER_TO_UINT(g_hash_table_lookup(table->boots, boot));
	if (first && !agrees(sample_table_get(table, first - 1), &own, error))
		return FALSE;
	if (2 * ((gsize)table->samples->len + 1) > table->slot_count)
		grow_slots(table);
	slot = find_slot(table, &own);
	if (*slot) {
		g_set_error(error, SAMPLE_ERROR, SAMPLE_ERROR_DUPLICATE,
			    "the same sample as sample %u: arm %s, boot %d, %s %s, run %d, pass %d, %s", *slot,
			    sample_arm_to_string(own.arm), own.boot, own.benchmark, own.params, own.run, own.pass,
			    own.metric);
		return FALSE;
	}
	g_array_append_val(table->samples, own);
	*slot = table->samples->len;
	if (!first)
		g_hash_table_insert(table->boots, boot, GUINT_TO_POINTER(table->samples->len));
	return TRUE;
}

gboolean sample_table_append_boots(SampleTable *table, const SampleTable *other, GError **error)
{
	int boots = 0, pairs = 0;

	for (guint i = 0; i < table->samples->len; i++) {
		boots = MAX(boots, sample_table_get(table, i)->boot + 1);
		pairs = MAX(pairs, sample_table_get(table, i)->pair + 1);
	}
	for (guint i = 0; i < other->samples->len; i++) {
		Sample sample = *sample_table_get(other, i);

		sample.boot += boots;
		sample.pair += pairs;
		if (!sample_table_append(table, &sample, error))
			return FALSE;
	}
	return TRUE;
}

SampleTable *sample_table_from_text(const char *text, gsize length, GError **error)
{
	gsize at = 0;

	while (at < length && g_ascii_isspace(text[at]))
		at++;
	if (at < length && text[at] == '[')
		return sample_table_from_json(text, length, error);
	if (at < length && text[at] == '{')
		return sample_table_from_jsonl(text, length, NULL, error);
	return sample_table_from_csv(text, length, error);
}

const char *sample_format_double(char *buffer, double value)
{
	static const char *const formats[] = { "%.15g", "%.16g", "%.17g" };

	for (gsize i = 0; i < G_N_ELEMENTS(formats); i++) {
		g_ascii_formatd(buffer, G_ASCII_DTOSTR_BUF_SIZE, formats[i], value);
		if (g_ascii_strtod(buffer, NULL) == value)
			break;
	}
	return buffer;
}
