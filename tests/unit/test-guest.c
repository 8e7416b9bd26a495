/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The host's side of a guest: its plan, its stream, its console. */
#include <glib/gstdio.h>
#include <string.h>

#include "jobs/guest-console.h"
#include "jobs/guest-hello.h"
#include "jobs/guest.h"
#include "jobs/spec/file.h"

#define INI \
	"[benchmark]\nname=fill\ntitle=Fill\nprogram=/bin/fill\nargs=--nproc {nproc} /mnt/x\nneeds=CONFIG_SHMEM=y\n" \
	"primary=time\n[metric time]\nunit=ms\nbetter=lower\n[metric rate]\nunit=MB/s\nbetter=higher\n" \
	"[profile full]\nnproc=1,8\nlru=mglru\nruns=1\nmemory_mib=256\ndisk_mib=0\ntimeout_s=60\n" \
	"[profile quick]\nnproc=1,8\nlru=mglru\nruns=2\nmemory_mib=256\ndisk_mib=16\ntimeout_s=60\n"

#define STRV(...) ((char *[]){ __VA_ARGS__, NULL })
#define NONE ((char *[]){ NULL })

static GuestPlan *make_plan(char **overrides)
{
	g_autofree char *dir = g_dir_make_tmp("guest-XXXXXX", NULL);
	g_autofree char *path = g_build_filename(dir, "fill.ini", NULL);
	g_autoptr(GError) error = NULL;
	GuestPlan *plan = NULL;

	g_assert_true(g_file_set_contents(path, INI, -1, NULL));
	guest_plan_new(dir, STRV("fill"), overrides, "quick", &plan, &error);
	g_assert_no_error(error);
	g_unlink(path);
	g_rmdir(dir);
	return plan;
}

/* ---- the plan ---- */

static void test_plan_text(void)
{
	g_autoptr(GuestPlan) plan = make_plan(NONE);
	g_autofree char *text = guest_plan_text(plan, "00112233445566778899aabbccddeeff", CLOCK_TCG);

	g_assert_cmpstr(text, ==,
			"regrlab-plan 1\n"
			"nonce 00112233445566778899aabbccddeeff\n"
			"disk /dev/vda\n"
			"run fill nproc=1;lru=mglru 1 60 mglru -- /bin/fill --nproc 1 /mnt/x\n"
			"run fill nproc=1;lru=mglru 2 60 mglru -- /bin/fill --nproc 1 /mnt/x\n"
			"run fill nproc=8;lru=mglru 1 60 mglru -- /bin/fill --nproc 8 /mnt/x\n"
			"run fill nproc=8;lru=mglru 2 60 mglru -- /bin/fill --nproc 8 /mnt/x\n");

	/* an emulated instruction takes longer than the nanosecond it counts for */
	g_autofree char *counted = guest_plan_text(plan, "00112233445566778899aabbccddeeff", CLOCK_ICOUNT);
	g_assert_nonnull(strstr(counted, "run fill nproc=8;lru=mglru 1 7 mglru -- "));

	g_autoptr(GuestPlan) empty = guest_plan_new_empty();
	g_autofree char *probe = guest_plan_text(empty, "00112233445566778899aabbccddeeff", CLOCK_KVM);
	g_assert_cmpstr(probe, ==, "regrlab-plan 1\nnonce 00112233445566778899aabbccddeeff\n");
}

static void test_nonce(void)
{
	char one[GUEST_NONCE_CHARS + 1], again[GUEST_NONCE_CHARS + 1], other[GUEST_NONCE_CHARS + 1];

	guest_nonce(7, 0, one);
	guest_nonce(7, 0, again);
	g_assert_cmpstr(one, ==, again);
	g_assert_cmpuint(strspn(one, "0123456789abcdef"), ==, GUEST_NONCE_CHARS);
	guest_nonce(7, 1, other);
	g_assert_cmpstr(one, !=, other);
	guest_nonce(8, 0, other);
	g_assert_cmpstr(one, !=, other);
}

static guint field(const char *header, int number)
{
	g_autofree char *hex = g_strndup(header + 6 + 8 * number, 8);

	return (guint)g_ascii_strtoull(hex, NULL, 16);
}

/* The kernel's own reader steps through the archive like this. */
static void test_cpio(void)
{
	g_autoptr(GBytes) bytes = guest_plan_cpio("hello plan\n");
	gsize size;
	const char *data = g_bytes_get_data(bytes, &size);

	g_assert_cmpuint(size % 512, ==, 0);
	g_assert_cmpint(strncmp(data, "070701", 6), ==, 0);
	g_assert_cmpuint(field(data, 1), ==, 0100444);
	g_assert_cmpuint(field(data, 6), ==, strlen("hello plan\n"));
	g_assert_cmpuint(field(data, 11), ==, strlen("plan") + 1);
	g_assert_cmpstr(data + 110, ==, "plan");
	const char *body = data + 116;	/* 110 + 5, up to a multiple of 4 */
	g_assert_cmpint(strncmp(body, "hello plan\n", 11), ==, 0);
	g_assert_cmpint(strncmp(body + 12, "070701", 6), ==, 0);
	g_assert_cmpstr(body + 12 + 110, ==, "TRAILER!!!");
}

/* ---- the stream ---- */

#define NONCE "0123456789abcdef0123456789abcdef"
#define HELLO "\"type\":\"hello\",\"kernel\":\"6.12.0\",\"cpus\":2"
#define RUN "\"benchmark\":\"fill\",\"params\":\"nproc=8;lru=mglru\",\"run\":1"
#define START "\"type\":\"start\"," RUN ",\"lru\":\"mglru\""
#define SAMPLE(pass, value) \
	"\"type\":\"sample\"," RUN ",\"pass\":" pass ",\"metric\":\"time\",\"unit\":\"ms\",\"better\":\"lower\",\"value\":" value
#define RUN_END(status) "\"type\":\"run-end\"," RUN ",\"status\":" status
#define END(lines) "\"type\":\"end\",\"lines\":" lines

typedef struct {
	guint records, samples;
	double last_value;
	int last_pass, last_status;
	char *last_text;
	GuestRecordType last;
} Seen;

static void take(const GuestRecord *record, gpointer user)
{
	Seen *seen = user;

	seen->records++;
	seen->last = record->type;
	if (record->type == GUEST_SAMPLE) {
		seen->samples++;
		seen->last_value = record->value;
		seen->last_pass = record->pass;
		g_assert_cmpstr(record->run->set->params, ==, "nproc=8;lru=mglru");
		g_assert_cmpstr(record->metric->unit, ==, "ms");
	}
	if (record->type == GUEST_RUN_END)
		seen->last_status = record->status;
	if (record->type == GUEST_LOG) {
		g_free(seen->last_text);
		seen->last_text = g_strdup(record->text);
	}
}

/* One run of one set. */
static GuestPlan *small_plan(void)
{
	return make_plan(STRV("fill.nproc=8", "fill.runs=1"));
}

/* The lines with their envelopes, as init would send them. */
static char *envelope(char **lines)
{
	GString *text = g_string_new(NULL);

	for (int i = 0; lines[i]; i++)
		g_string_append_printf(text, "{\"nonce\":\"" NONCE "\",\"seq\":%d,%s}\n", i, lines[i]);
	return g_string_free(text, FALSE);
}

static void feed_text(const char *text, gsize size, gsize piece, Seen *seen, GError **error)
{
	g_autoptr(GuestPlan) plan = small_plan();
	g_autoptr(GuestStream) stream = guest_stream_new(plan, NONCE);

	for (gsize at = 0; at < size; at += piece)
		if (!guest_stream_feed(stream, text + at, MIN(piece, size - at), take, seen, error))
			return;
	guest_stream_finish(stream, error);
}

static void expect_error(char **lines, GuestError code)
{
	g_autofree char *text = envelope(lines);
	g_autoptr(GError) error = NULL;
	Seen seen = { 0 };

	feed_text(text, strlen(text), strlen(text), &seen, &error);
	const int wanted = (int)code;
	g_assert_error(error, GUEST_ERROR, wanted);
	g_free(seen.last_text);
}

static void test_stream(void)
{
	g_autofree char *text = envelope(STRV(HELLO, START, SAMPLE("0", "3"), SAMPLE("1", "22.9"),
					      "\"type\":\"counter\"," RUN ",\"name\":\"vmstat.x\",\"before\":1,\"after\":2",
					      "\"type\":\"log\",\"text\":\"a {nested} \\\"word\\\" / [x]\"", RUN_END("0"), END("7")));
	g_autofree char *flushed = g_strconcat(text, "\n\n\n", NULL);

	/* however the bytes are cut */
	for (gsize piece = 1; piece <= strlen(flushed); piece = piece * 3 + 1) {
		g_autoptr(GError) error = NULL;
		Seen seen = { 0 };
		feed_text(flushed, strlen(flushed), piece, &seen, &error);
		g_assert_no_error(error);
		g_assert_cmpuint(seen.records, ==, 8);
		g_assert_cmpuint(seen.samples, ==, 2);
		g_assert_cmpint(seen.last_pass, ==, 1);
		g_assert_cmpfloat(seen.last_value, ==, 22.9);
		g_assert_cmpint(seen.last_status, ==, 0);
		g_assert_cmpstr(seen.last_text, ==, "a {nested} \"word\" / [x]");
		g_free(seen.last_text);
	}
}

static void test_lies(void)
{
	expect_error(STRV(START), GUEST_ERROR_SEQUENCE);
	expect_error(STRV(HELLO, HELLO), GUEST_ERROR_SEQUENCE);
	expect_error(STRV(HELLO, START, START), GUEST_ERROR_SEQUENCE);
	expect_error(STRV(HELLO, SAMPLE("1", "2")), GUEST_ERROR_NOT_PLANNED);
	expect_error(STRV(HELLO, START, RUN_END("0"), SAMPLE("1", "2")), GUEST_ERROR_NOT_PLANNED);
	expect_error(STRV(HELLO, START, RUN_END("0"), START), GUEST_ERROR_NOT_PLANNED);
	expect_error(STRV(HELLO, END("1")), GUEST_ERROR_NOT_PLANNED);
	expect_error(STRV(HELLO, START, RUN_END("0"), END("2")), GUEST_ERROR_SEQUENCE);
	expect_error(STRV(HELLO, START, RUN_END("0"), END("3"), HELLO), GUEST_ERROR_SEQUENCE);
	expect_error(STRV(HELLO, START, SAMPLE("1", "2"), SAMPLE("1", "2")), GUEST_ERROR_DUPLICATE);
	expect_error(STRV(HELLO, START, SAMPLE("1", "1e999")), GUEST_ERROR_VALUE);
	expect_error(STRV(HELLO, START, SAMPLE("1", "null")), GUEST_ERROR_VALUE);
	expect_error(STRV(HELLO, START, SAMPLE("1", "0")), GUEST_ERROR_VALUE);
	expect_error(STRV(HELLO, START, SAMPLE("1", "-0.5")), GUEST_ERROR_VALUE);
	expect_error(STRV(HELLO, START, SAMPLE("1", "NaN")), GUEST_ERROR_MALFORMED);
	expect_error(STRV(HELLO, START, SAMPLE("1", "-1e999")), GUEST_ERROR_VALUE);
	expect_error(STRV(HELLO, START, SAMPLE("1", "\"2\"")), GUEST_ERROR_VALUE);
	expect_error(STRV(HELLO, START, SAMPLE("-1", "2")), GUEST_ERROR_VALUE);
	expect_error(STRV(HELLO, START, SAMPLE("1000000", "2")), GUEST_ERROR_VALUE);
	expect_error(STRV(HELLO, START, SAMPLE("1.5", "2")), GUEST_ERROR_MALFORMED);
	expect_error(STRV(HELLO, START, RUN_END("256")), GUEST_ERROR_VALUE);
	expect_error(STRV(HELLO, "\"type\":\"start\",\"benchmark\":\"fill\",\"params\":\"nproc=1;lru=mglru\",\"run\":1,\"lru\":\"mglru\""),
		     GUEST_ERROR_NOT_PLANNED);
	expect_error(STRV(HELLO, START, "\"type\":\"sample\"," RUN ",\"pass\":1,\"metric\":\"speed\",\"unit\":\"ms\",\"better\":\"lower\",\"value\":1"),
		     GUEST_ERROR_METRIC);
	expect_error(STRV(HELLO, START, "\"type\":\"sample\"," RUN ",\"pass\":1,\"metric\":\"time\",\"unit\":\"s\",\"better\":\"lower\",\"value\":1"),
		     GUEST_ERROR_METRIC);
	expect_error(STRV(HELLO, START, "\"type\":\"sample\"," RUN ",\"pass\":1,\"metric\":\"time\",\"unit\":\"ms\",\"better\":\"higher\",\"value\":1"),
		     GUEST_ERROR_METRIC);
	expect_error(STRV(HELLO, "\"type\":\"dance\""), GUEST_ERROR_MALFORMED);
	expect_error(STRV(HELLO, "\"type\":\"log\",\"text\":{\"a\":1}"), GUEST_ERROR_MALFORMED);
	expect_error(STRV(HELLO, "\"type\":\"log\",\"text\":[[[[1]]]]"), GUEST_ERROR_MALFORMED);
	expect_error(STRV(HELLO, "\"type\":\"log\""), GUEST_ERROR_MALFORMED);
	expect_error(STRV(HELLO, START), GUEST_ERROR_TRUNCATED);
	expect_error(STRV(NULL), GUEST_ERROR_TRUNCATED);
}

static void expect_raw(const char *text, gsize size, GuestError code)
{
	g_autoptr(GError) error = NULL;
	Seen seen = { 0 };

	feed_text(text, size, 4096, &seen, &error);
	const int wanted = (int)code;
	g_assert_error(error, GUEST_ERROR, wanted);
	g_assert_cmpuint(seen.records, ==, 0);
}

static void test_raw(void)
{
	static const char with_nul[] = "{\"nonce\":\"" NONCE "\",\"seq\":0,\"type\":\"hello\0\"}\n";
	g_autofree char *blanks = g_strnfill(5000, ' ');
	g_autofree char *nested = g_strnfill(4000, '[');

	expect_raw("\n", 1, GUEST_ERROR_MALFORMED);
	expect_raw("{}\n", 3, GUEST_ERROR_MALFORMED);
	expect_raw("[1]\n", 4, GUEST_ERROR_MALFORMED);
	expect_raw("{\"a\":\n", 6, GUEST_ERROR_MALFORMED);
	expect_raw("{\"a\":\"\xff\"}\n", 10, GUEST_ERROR_MALFORMED);
	expect_raw(with_nul, sizeof(with_nul) - 1, GUEST_ERROR_MALFORMED);
	expect_raw("{\"a\"", 4, GUEST_ERROR_TRUNCATED);
	expect_raw(blanks, 5000, GUEST_ERROR_OVERSIZED);
	nested[3999] = '\n';
	expect_raw(nested, 4000, GUEST_ERROR_MALFORMED);

	g_autofree char *other = envelope(STRV(HELLO));
	memset(strstr(other, NONCE), 'f', GUEST_NONCE_CHARS);
	expect_raw(other, strlen(other), GUEST_ERROR_NONCE);
	g_autofree char *late = envelope(STRV(HELLO));
	*strstr(late, "\"seq\":0") = '"';
	strstr(late, "\"seq\":0")[6] = '1';
	expect_raw(late, strlen(late), GUEST_ERROR_SEQUENCE);
}

/* A line of exactly the limit is taken, one byte more is not. */
static void test_line_limit(void)
{
	g_autofree char *head = envelope(STRV(HELLO));
	g_autofree char *start = g_strdup("{\"nonce\":\"" NONCE "\",\"seq\":1,\"type\":\"log\",\"text\":\"");

	for (gsize over = 0; over <= 1; over++) {
		g_autoptr(GError) error = NULL;
		g_autofree char *fill = g_strnfill(GUEST_MAX_LINE - strlen(start) - 3 + over, 'x');
		g_autofree char *text = g_strconcat(head, start, fill, "\"}\n", NULL);
		Seen seen = { 0 };
		feed_text(text, strlen(text), 1000, &seen, &error);
		g_assert_cmpuint(seen.records, ==, 2 - over);
		const int wanted = over ? GUEST_ERROR_OVERSIZED : GUEST_ERROR_TRUNCATED;
		g_assert_error(error, GUEST_ERROR, wanted);
		g_free(seen.last_text);
	}
}

static void test_flood(void)
{
	g_autoptr(GuestPlan) plan = small_plan();
	g_autoptr(GuestStream) stream = guest_stream_new(plan, NONCE);
	g_autoptr(GError) error = NULL;
	g_autoptr(GString) line = g_string_new("{\"nonce\":\"" NONCE "\",\"seq\":0," HELLO "}\n");
	Seen seen = { 0 };

	for (guint i = 1; guest_stream_feed(stream, line->str, line->len, take, &seen, &error); i++)
		g_string_printf(line, "{\"nonce\":\"" NONCE "\",\"seq\":%u,\"type\":\"log\",\"text\":\"flood\"}\n", i);
	g_assert_error(error, GUEST_ERROR, GUEST_ERROR_OVERSIZED);
	g_assert_cmpuint(seen.records, ==, GUEST_MAX_LINES);

	/* and it stays broken */
	g_clear_error(&error);
	g_assert_false(guest_stream_feed(stream, "\n", 1, take, &seen, &error));
	g_assert_error(error, GUEST_ERROR, GUEST_ERROR_OVERSIZED);
	g_clear_error(&error);
	g_assert_false(guest_stream_finish(stream, &error));
	g_assert_error(error, GUEST_ERROR, GUEST_ERROR_OVERSIZED);
	g_free(seen.last_text);
}

/* A run has as many samples as a benchmark may make, and not one more. */
static void test_many_samples(void)
{
	g_autoptr(GuestPlan) plan = small_plan();
	g_autoptr(GuestStream) stream = guest_stream_new(plan, NONCE);
	g_autoptr(GError) error = NULL;
	g_autofree char *head = envelope(STRV(HELLO, START));
	g_autoptr(GString) line = g_string_new(head);
	Seen seen = { 0 };

	for (guint i = 0; guest_stream_feed(stream, line->str, line->len, take, &seen, &error); i++)
		g_string_printf(line, "{\"nonce\":\"" NONCE "\",\"seq\":%u,\"type\":\"sample\"," RUN ",\"pass\":%u,\"metric\":\"time\","
				"\"unit\":\"ms\",\"better\":\"lower\",\"value\":1}\n", i + 2, i);
	g_assert_error(error, GUEST_ERROR, GUEST_ERROR_OVERSIZED);
	g_assert_cmpuint(seen.samples, ==, GUEST_MAX_RUN_SAMPLES);
}

/* ---- the console ---- */

static void expect_trouble(const char *text, ConsoleTrouble trouble)
{
	g_autoptr(Console) console = console_new();

	for (const char *at = text; *at; at++)
		console_feed(console, at, 1);
	g_assert_cmpint(console_trouble(console), ==, trouble);
}

static void test_trouble(void)
{
	expect_trouble("[    0.1] all is well\r\n", CONSOLE_FINE);
	expect_trouble("WARNING: CPU: 0 PID: 1 at mm/x.c:1 x+0x1/0x2\r\n", CONSOLE_FINE);
	expect_trouble("[ 1.0] Kernel panic - not syncing: Attempted to kill init! exitcode=0x00000100\r\n", CONSOLE_PANIC);
	expect_trouble("[ 1.0] BUG: kernel NULL pointer dereference, address: 00\n[ 1.1] Oops: 0002 [#1] SMP\n"
		       "[ 1.2] Kernel panic - not syncing: Fatal exception\n", CONSOLE_OOPS);
	expect_trouble("[ 26.0] watchdog: BUG: soft lockup - CPU#0 stuck for 22s! [x:1]\n", CONSOLE_HANG);
	expect_trouble("[ 26.0] rcu: INFO: rcu_sched self-detected stall on CPU\n", CONSOLE_HANG);
	expect_trouble("[ 26.0] INFO: task x:12 blocked for more than 122 seconds.\n", CONSOLE_HANG);
	expect_trouble("[ 2.0] Oops: general protection fault, maybe for address 0x1: 0000 [#1]\n", CONSOLE_OOPS);
	/* a line not finished says nothing yet */
	expect_trouble("[ 1.0] Kernel panic - not sync", CONSOLE_FINE);
}

static void test_console_text(void)
{
	g_autoptr(Console) console = console_new();
	static const char bytes[] = "one\r\n\033[31mtwo\tx\0y\xc3\xa4\r\nBUG: \001odd\n";

	console_feed(console, bytes, sizeof(bytes) - 1);
	g_autofree char *text = console_text(console);
	g_assert_cmpstr(text, ==, "one\n\\x1b[31mtwo\tx\\x00y\\xc3\\xa4\nBUG: \\x01odd\n");
	g_assert_cmpstr(console_trouble_line(console), ==, "BUG: \\x01odd");
	g_autofree char *tail = console_tail(console, 20);
	g_assert_cmpstr(tail, ==, "BUG: \\x01odd\n");
}

/* Head and tail of much output, whatever the sizes. */
static void test_console_bounds(void)
{
	const gsize sizes[] = { 1, CONSOLE_HEAD_BYTES, CONSOLE_HEAD_BYTES + CONSOLE_TAIL_BYTES,
				CONSOLE_HEAD_BYTES + CONSOLE_TAIL_BYTES + 1, 5 * CONSOLE_TAIL_BYTES + 77 };

	for (gsize i = 0; i < G_N_ELEMENTS(sizes); i++) {
		g_autoptr(Console) console = console_new();
		for (gsize at = 0; at < sizes[i]; at += 1000) {
			g_autofree char *piece = g_strnfill(MIN(1000, sizes[i] - at), at + 1000 >= sizes[i] ? 'e' : 'x');
			console_feed(console, piece, strlen(piece));
		}
		g_autofree char *text = console_text(console);
		gsize length = strlen(text);
		g_assert_cmpuint(length, <=, CONSOLE_HEAD_BYTES + CONSOLE_TAIL_BYTES + 100);
		g_assert_cmpuint(length, >=, MIN(sizes[i], CONSOLE_HEAD_BYTES + CONSOLE_TAIL_BYTES));
		g_assert_cmpint(text[length - 1], ==, 'e');
		g_assert_cmpint(strstr(text, "bytes left out") != NULL, ==, sizes[i] > CONSOLE_HEAD_BYTES + CONSOLE_TAIL_BYTES);
	}
}

/* The same of bytes that are written as four characters each. */
static void test_console_binary(void)
{
	g_autoptr(Console) console = console_new();
	char piece[1000];

	memset(piece, 0xff, sizeof(piece));
	for (gsize at = 0; at < 2 * (CONSOLE_HEAD_BYTES + CONSOLE_TAIL_BYTES); at += sizeof(piece))
		console_feed(console, piece, sizeof(piece));
	g_autofree char *text = console_text(console);
	g_assert_cmpuint(strlen(text), <=, CONSOLE_HEAD_BYTES + CONSOLE_TAIL_BYTES + 100);
	g_assert_true(g_str_has_suffix(text, "\\xff\\xff"));
}

/* ---- what it says of its machine ---- */

static void test_hello(void)
{
	static const struct {
		const char *hello, *wrong;	/* NULL: nothing */
		VmAccelerator accelerator;
	} rows[] = {
		{ "{\"hypervisor\":\"TCGTCGTCGTCG\",\"clocksource\":\"tsc\",\"cpus\":2}", NULL, VM_TCG },
		{ "{\"hypervisor\":\"TCGTCGTCGTCG\",\"clocksource\":\"hpet\",\"cpus\":2}", NULL, VM_TCG },
		{ "{\"hypervisor\":\"TCGTCGTCGTCG\",\"clocksource\":\"tsc-early\",\"cpus\":2}", NULL, VM_TCG },
		{ "{\"hypervisor\":\"KVMKVMKVM\",\"clocksource\":\"kvm-clock\",\"cpus\":2}", NULL, VM_KVM },
		{ "{\"hypervisor\":\"TCGTCGTCGTCG\",\"clocksource\":\"tsc\",\"cpus\":2}", "on 'TCGTCGTCGTCG', not on 'KVM", VM_KVM },
		{ "{\"hypervisor\":\"none\",\"clocksource\":\"tsc\",\"cpus\":2}", "on 'none', not on 'TCG", VM_TCG },
		{ "{\"hypervisor\":\"KVMKVMKVM\",\"clocksource\":\"jiffies\",\"cpus\":2}", "'jiffies', none of kvm-clock, tsc, tsc-early", VM_KVM },
		{ "{\"hypervisor\":\"KVMKVMKVM\",\"cpus\":2}", "clock source is ''", VM_KVM },
		{ "{\"hypervisor\":\"KVMKVMKVM\",\"clocksource\":\"tsc\",\"cpus\":1}", "has 1 CPUs, not the 2", VM_KVM },
		{ "{\"hypervisor\":7}", "on '', not", VM_KVM },
	};

	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_autoptr(JsonObject) hello = NULL;
		g_autoptr(GError) error = NULL;

		g_assert_true(json_object_from_data(rows[i].hello, strlen(rows[i].hello), &hello, NULL));
		g_assert_cmpint(guest_hello_check(hello, rows[i].accelerator, 2, &error), ==, !rows[i].wrong);
		if (!rows[i].wrong)
			continue;
		g_assert_error(error, GUEST_ERROR, GUEST_ERROR_VALUE);
		g_assert_nonnull(strstr(error->message, rows[i].wrong));
	}
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/guest/plan/text", test_plan_text);
	g_test_add_func("/guest/plan/nonce", test_nonce);
	g_test_add_func("/guest/plan/cpio", test_cpio);
	g_test_add_func("/guest/stream/good", test_stream);
	g_test_add_func("/guest/stream/lies", test_lies);
	g_test_add_func("/guest/stream/raw", test_raw);
	g_test_add_func("/guest/stream/line-limit", test_line_limit);
	g_test_add_func("/guest/stream/flood", test_flood);
	g_test_add_func("/guest/stream/many-samples", test_many_samples);
	g_test_add_func("/guest/console/trouble", test_trouble);
	g_test_add_func("/guest/console/text", test_console_text);
	g_test_add_func("/guest/console/bounds", test_console_bounds);
	g_test_add_func("/guest/console/binary", test_console_binary);
	g_test_add_func("/guest/hello", test_hello);
	return g_test_run();
}
