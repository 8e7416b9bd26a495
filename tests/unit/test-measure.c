/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The measure stage without a machine: deadlines, what it finds when it begins again, its samples. */
#include <glib/gstdio.h>
#include <string.h>

#include "jobs/measure-history.h"
#include "jobs/measure-samples.h"
#include "jobs/measure-watch.h"
#include "jobs/spec/file.h"

#define S(seconds) ((gint64)(seconds) * G_GINT64_CONSTANT(1000000000))
#define T0 S(1000)

/* ---- deadlines ---- */

static Watch watch_at(JobClock clock)
{
	g_autoptr(JobPlace) place = job_place_new();
	g_autoptr(GuestPlan) plan = guest_plan_new_empty();
	BenchmarkSet set = { .timeout_s = 60 };
	GuestRun run = { .set = &set, .run = 1 };
	Watch watch;

	place->boot_timeout_s = 30;
	place->silence_timeout_s = 10;
	g_array_append_val(plan->runs, run);
	WatchLimits limits = watch_limits(place, plan, clock);
	watch_init(&watch, &limits, T0);
	return watch;
}

static void expect(const Watch *watch, gint64 now, const char *wanted)
{
	gint64 next = 0;
	const char *why = watch_expired(watch, now, &next);

	g_assert_cmpstr(why, ==, wanted);
	if (!why)
		g_assert_cmpint(next, >, now);
}

static void test_watch_hello(void)
{
	Watch watch = watch_at(CLOCK_TCG);

	expect(&watch, T0 + S(29), NULL);
	expect(&watch, T0 + S(30), "no-hello");
	watch_line(&watch, T0 + S(29));
	expect(&watch, T0 + S(31), NULL);
	expect(&watch, T0 + S(39), "silent");
	watch_line(&watch, T0 + S(38));
	expect(&watch, T0 + S(47), NULL);
	expect(&watch, T0 + S(48), "silent");
}

static void test_watch_run(void)
{
	Watch watch = watch_at(CLOCK_TCG);

	watch_line(&watch, T0 + S(1));
	watch_run(&watch, 60, T0 + S(1));
	/* quiet is fine within a run, for its time and a bit */
	expect(&watch, T0 + S(70), NULL);
	expect(&watch, T0 + S(71), "silent");
	watch_line(&watch, T0 + S(70));
	expect(&watch, T0 + S(71), "deadline");
	watch_run_end(&watch);
	expect(&watch, T0 + S(71), NULL);
	expect(&watch, T0 + S(80), "silent");
}

/* However talkative, a boot has the sum of all limits. */
static void test_watch_total(void)
{
	Watch watch = watch_at(CLOCK_TCG);

	for (int second = 1; second < 110; second++) {
		watch_line(&watch, T0 + S(second));
		expect(&watch, T0 + S(second), NULL);
	}
	watch_line(&watch, T0 + S(110));
	expect(&watch, T0 + S(110), "deadline");
}

static void test_watch_icount(void)
{
	Watch watch = watch_at(CLOCK_ICOUNT);

	watch_line(&watch, T0);
	watch_run(&watch, 60, T0);
	expect(&watch, T0 + S(60 * WATCH_ICOUNT_SLACK + 9), NULL);
	expect(&watch, T0 + S(60 * WATCH_ICOUNT_SLACK + 10), "silent");
}

/* ---- beginning again ---- */

static char *folder(const char *events, const char *samples)
{
	char *dir = g_dir_make_tmp("measure-XXXXXX", NULL);
	g_autofree char *event_path = g_build_filename(dir, "events.jsonl", NULL);
	g_autofree char *sample_path = g_build_filename(dir, "samples.jsonl", NULL);

	g_assert_true(g_file_set_contents(event_path, events, -1, NULL));
	if (samples)
		g_assert_true(g_file_set_contents(sample_path, samples, -1, NULL));
	return dir;
}

static void remove_folder(char *dir)
{
	g_autofree char *event_path = g_build_filename(dir, "events.jsonl", NULL);
	g_autofree char *sample_path = g_build_filename(dir, "samples.jsonl", NULL);

	g_unlink(event_path);
	g_unlink(sample_path);
	g_rmdir(dir);
	g_free(dir);
}

#define EVENT(seq, type, members) "{\"seq\":" seq ",\"time_ns\":1,\"type\":\"" type "\"," members "}\n"
#define ARMS \
	EVENT("1", "arm", "\"arm\":\"base\",\"kernel\":\"/k/a\",\"kernel_release\":\"6.12.0\"") \
	EVENT("2", "arm", "\"arm\":\"patched\",\"kernel\":\"/k/b\",\"kernel_release\":\"6.12.0\"")
#define BOOT(seq, boot, pair, arm, reason, samples) \
	EVENT(seq, "boot", "\"boot\":" boot ",\"pair\":" pair ",\"arm\":\"" arm "\",\"reason\":\"" reason \
	      "\",\"start_ns\":1000,\"end_ns\":4000,\"samples\":" samples)

static void test_history(void)
{
	char *dir = folder(ARMS EVENT("3", "accelerator", "\"accelerator\":\"tcg\",\"clock\":\"icount\"")
			   EVENT("4", "plan", "\"order\":\"BAAB\"") BOOT("5", "0", "0", "patched", "", "12")
			   BOOT("6", "1", "0", "base", "oops", "0") BOOT("7", "2", "1", "base", "truncated", "3")
			   EVENT("8", "progress", "\"step\":\"x\"") "{\"seq\":9,\"time", NULL);
	g_autoptr(MeasureHistory) history = NULL;
	g_autoptr(GError) error = NULL;

	measure_history_load(dir, &history, &error);
	g_assert_no_error(error);
	g_assert_cmpstr(history->kernel[SAMPLE_ARM_PATCHED], ==, "/k/b");
	g_assert_true(history->has_accelerator);
	g_assert_cmpint(history->accelerator, ==, VM_TCG);
	g_assert_cmpint(history->clock, ==, CLOCK_ICOUNT);
	g_assert_cmpstr(history->plan->order, ==, "BAAB");
	g_assert_cmpint(history->plan->max_boots, ==, 2);
	g_assert_cmpint(history->plan->rule, ==, STATS_RULE_FIXED);
	g_assert_cmpuint(history->boots->len, ==, 3);
	g_assert_cmpstr(g_array_index(history->boots, ScheduleBoot, 1).reason, ==, "oops");
	g_assert_cmpint(history->samples, ==, 15);
	g_assert_cmpint(history->boots_ns, ==, 9000);
	g_assert_cmpuint(history->failed_without_samples[SAMPLE_ARM_BASE], ==, 1);
	g_assert_false(history->has_result);
	remove_folder(dir);
}

static void test_history_bad(void)
{
	const char *const wrong[] = {
		EVENT("1", "arm", "\"arm\":\"third\",\"kernel\":\"/k\""),
		EVENT("1", "arm", "\"arm\":\"base\",\"kernel\":\"k\""),
		EVENT("1", "accelerator", "\"clock\":\"auto\""),
		EVENT("1", "arm", "\"arm\":\"control\",\"kernel\":\"/k\""),
		EVENT("1", "plan", "\"order\":\"ABD\""),
		EVENT("1", "plan", "\"order\":\"CAB\""),
		EVENT("1", "plan", "\"order\":\"\""),
		EVENT("1", "plan", "\"order\":\"ABBA\",\"rule\":\"open-ended\""),
		EVENT("1", "plan", "\"order\":\"ABBA\",\"rule\":\"any\""),
		EVENT("1", "look", "\"look\":2"),
		BOOT("1", "1", "0", "base", "", "0"),
		BOOT("1", "0", "-1", "base", "", "0"),
		BOOT("1", "0", "0", "base", "", "-1"),
	};

	for (gsize i = 0; i < G_N_ELEMENTS(wrong); i++) {
		char *dir = folder(wrong[i], NULL);
		g_autoptr(MeasureHistory) history = NULL;
		g_autoptr(GError) error = NULL;
		g_assert_false(measure_history_load(dir, &history, &error));
		g_assert_error(error, SPEC_ERROR, SPEC_ERROR_VALUE);
		remove_folder(dir);
	}
}

static void test_cut(void)
{
	const struct {
		gint64 lines;
		const char *left;	/* NULL: an error */
	} rows[] = { { 0, "" }, { 1, "one\n" }, { 2, "one\ntwo\n" }, { 3, NULL } };

	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
		char *dir = folder("", "one\ntwo\nthr");
		g_autofree char *path = g_build_filename(dir, "samples.jsonl", NULL), *text = NULL;
		g_assert_cmpint(measure_samples_cut(dir, rows[i].lines, NULL), ==, rows[i].left != NULL);
		g_assert_true(g_file_get_contents(path, &text, NULL, NULL));
		g_assert_cmpstr(text, ==, rows[i].left ? rows[i].left : "one\ntwo\nthr");
		remove_folder(dir);
	}
	char *dir = folder("", NULL);
	g_assert_true(measure_samples_cut(dir, 0, NULL));
	g_assert_false(measure_samples_cut(dir, 1, NULL));
	remove_folder(dir);
}

/* ---- samples ---- */

static void test_samples(void)
{
	char *dir = folder("", NULL);
	g_autoptr(JobSpec) spec = job_spec_new();
	BenchmarkSet set = { .benchmark = (char *)"aging", .params = (char *)"nproc=8;lru=mglru" };
	GuestRun run = { .set = &set, .run = 1 };
	BenchmarkMetric metric = { .name = (char *)"time", .unit = (char *)"ms", .primary = TRUE };
	BootResult result = { .reason = "", .start_ns = 5, .samples = g_array_new(FALSE, FALSE, sizeof(BootSample)) };

	spec->job = 9;
	for (int pass = 0; pass < 3; pass++) {
		BootSample sample = { &run, &metric, pass, 0.1 + pass };
		g_array_append_val(result.samples, sample);
	}
	g_assert_true(measure_samples_append(dir, spec, "local", CLOCK_ICOUNT, 0, 0, SAMPLE_ARM_PATCHED, &result, NULL));
	result.reason = "panic";
	g_assert_true(measure_samples_append(dir, spec, "local", CLOCK_ICOUNT, 1, 0, SAMPLE_ARM_BASE, &result, NULL));
	g_autoptr(SampleTable) table = measure_samples_load(dir, 0, NULL);
	g_assert_cmpuint(sample_table_length(table), ==, 6);
	const Sample *first = sample_table_get(table, 0), *last = sample_table_get(table, 5);
	g_assert_cmpint(first->job, ==, 9);
	g_assert_cmpint(first->arm, ==, SAMPLE_ARM_PATCHED);
	g_assert_cmpstr(first->clock, ==, "icount");
	g_assert_cmpfloat(first->value, ==, 0.1);
	g_assert_true(first->valid);
	g_assert_false(last->valid);
	g_assert_cmpstr(last->reason, ==, "panic");
	g_assert_cmpint(last->pass, ==, 2);
	g_array_unref(result.samples);
	remove_folder(dir);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/measure/watch/hello", test_watch_hello);
	g_test_add_func("/measure/watch/run", test_watch_run);
	g_test_add_func("/measure/watch/total", test_watch_total);
	g_test_add_func("/measure/watch/icount", test_watch_icount);
	g_test_add_func("/measure/history/good", test_history);
	g_test_add_func("/measure/history/bad", test_history_bad);
	g_test_add_func("/measure/cut", test_cut);
	g_test_add_func("/measure/samples", test_samples);
	return g_test_run();
}
