/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a guest may send. The first byte says where the bytes go and how they
 * are cut: bit 7 the console, else the results; the rest the size of a piece.
 */
#include <math.h>
#include <stdint.h>
#include <string.h>

#include "jobs/guest-console.h"
#include "jobs/guest.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define NONCE "0123456789abcdef0123456789abcdef"

static void check(const GuestRecord *record, gpointer user)
{
	guint *count = user;

	(*count)++;
	if (record->type == GUEST_SAMPLE) {
		g_assert_true(isfinite(record->value));
		g_assert_true(record->pass >= 0 && record->pass <= GUEST_MAX_PASS);
		g_assert_true(record->run && record->metric);
	}
	if (record->type == GUEST_LOG)
		g_assert_true(g_utf8_validate(record->text, -1, NULL));
}

/* Two runs of one benchmark with two metrics, without its .ini. */
static void fuzz_stream(const char *data, gsize size, gsize piece)
{
	BenchmarkMetric time = { (char *)"time", (char *)"ms", FALSE, TRUE }, rate = { (char *)"rate", (char *)"MB/s", TRUE, FALSE };
	g_autoptr(GPtrArray) metrics = g_ptr_array_new();
	Benchmark benchmark = { .name = (char *)"fill", .metrics = metrics };
	BenchmarkSet set = { .benchmark = (char *)"fill", .params = (char *)"lru=mglru" };
	g_autoptr(GuestPlan) plan = guest_plan_new_empty();
	g_autoptr(GuestStream) stream = guest_stream_new(plan, NONCE);
	g_autoptr(GError) error = NULL;
	guint count = 0;
	gboolean good = TRUE;

	g_ptr_array_add(metrics, &time);
	g_ptr_array_add(metrics, &rate);
	for (int number = 1; number <= 2; number++) {
		GuestRun run = { &benchmark, &set, number };
		g_array_append_val(plan->runs, run);
	}
	for (gsize at = 0; at < size && good; at += piece)
		good = guest_stream_feed(stream, data + at, MIN(piece, size - at), check, &count, &error);
	g_assert_true(good == (error == NULL));
	if (good)
		good = guest_stream_finish(stream, &error);
	g_assert_true(good == guest_stream_ended(stream) || !good);
	g_assert_true(good || (error->domain == GUEST_ERROR && *guest_error_name(error->code)));
	g_assert_cmpuint(count, ==, guest_stream_lines(stream));
}

static void fuzz_console(const char *data, gsize size, gsize piece)
{
	g_autoptr(Console) console = console_new();

	for (gsize at = 0; at < size; at += piece)
		console_feed(console, data + at, MIN(piece, size - at));
	g_autofree char *text = console_text(console), *tail = console_tail(console, 100);
	for (const char *at = text; *at; at++)
		g_assert_true((*at >= ' ' && *at < 0x7f) || *at == '\n' || *at == '\t');
	g_assert_cmpuint(strlen(tail), <=, 100);
	g_assert_true(g_str_has_suffix(text, tail));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size == 0)
		return 0;
	gsize piece = (data[0] & 127) * 8 + 1;
	if (data[0] & 128)
		fuzz_console((const char *)data + 1, size - 1, piece);
	else
		fuzz_stream((const char *)data + 1, size - 1, piece);
	return 0;
}
