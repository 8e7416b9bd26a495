/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <glib/gstdio.h>
#include <string.h>

#include "jobs/spec/benchmark.h"

#define HEAD \
	"[benchmark]\nname=fill\ntitle=Fill pages\nprogram=/bin/fill\n" \
	"args=--nproc {nproc} --size={size_mib}m -o {nproc}:{lru} /mnt/x\nneeds=CONFIG_SHMEM=y  CONFIG_LRU_GEN=y\nprimary=time\n"
#define METRICS "[metric time]\nunit=ms\nbetter=lower\n[metric rate]\nunit=MiB/s\nbetter=higher\n"
#define QUICK "[profile quick]\nnproc=1,8\nlru=mglru\nsize_mib=64\nruns=2\nmemory_mib=1024\ndisk_mib=16\ntimeout_s=120\n"
#define FULL "[profile full]\nnproc=1, 8 ,32\nlru=mglru,classic\nsize_mib=64,128\nruns=5\nmemory_mib=4096\ntimeout_s=600\n"

#define STRV(...) ((char *[]){ __VA_ARGS__, NULL })
#define NONE ((char *[]){ NULL })

static char *folder(const char *text)
{
	char *dir = g_dir_make_tmp("benchmark-XXXXXX", NULL);
	g_autofree char *path = g_build_filename(dir, "fill.ini", NULL);

	g_assert_true(g_file_set_contents(path, text, -1, NULL));
	return dir;
}

static void remove_folder(char *dir)
{
	g_autofree char *path = g_build_filename(dir, "fill.ini", NULL);

	g_unlink(path);
	g_rmdir(dir);
	g_free(dir);
}

static void test_load(void)
{
	char *dir = folder(HEAD METRICS QUICK FULL);
	g_autoptr(Benchmark) benchmark = benchmark_load(dir, "fill", NULL);

	g_assert_cmpstr(benchmark->title, ==, "Fill pages");
	g_assert_cmpstr(benchmark->needs[1], ==, "CONFIG_LRU_GEN=y");
	g_assert_null(benchmark->needs[2]);
	g_assert_cmpuint(benchmark->metrics->len, ==, 2);
	g_assert_true(benchmark_metric(benchmark, "time")->primary);
	g_assert_false(benchmark_metric(benchmark, "time")->higher_is_better);
	g_assert_true(benchmark_metric(benchmark, "rate")->higher_is_better);
	g_assert_cmpstr(benchmark_metric(benchmark, "rate")->unit, ==, "MiB/s");
	g_assert_null(benchmark_metric(benchmark, "other"));

	g_auto(GStrv) names = benchmark_list(dir, NULL);
	g_assert_cmpstr(names[0], ==, "fill");
	g_assert_null(names[1]);
	remove_folder(dir);
}

static void refuse_file(const char *text, SpecError code)
{
	char *dir = folder(text);
	g_autoptr(GError) error = NULL;
	g_autofree char *field = NULL;

	g_assert_null(benchmark_load(dir, "fill", &error));
	g_assert_error(error, SPEC_ERROR, (int)code);
	field = spec_error_field(error);
	g_assert_cmpstr(field, ==, "benchmarks");
	remove_folder(dir);
}

static void test_bad_files(void)
{
	g_autoptr(GError) error = NULL;

	refuse_file("nonsense", SPEC_ERROR_SYNTAX);
	refuse_file("[benchmark]\nname=fill\n", SPEC_ERROR_MISSING);
	refuse_file("[benchmark]\nname=other\ntitle=x\nprogram=/bin/x\nargs=\nprimary=time\n" METRICS QUICK FULL, SPEC_ERROR_VALUE);
	refuse_file("[benchmark]\nname=fill\ntitle=x\nprogram=x\nargs=\nprimary=time\n" METRICS QUICK FULL, SPEC_ERROR_VALUE);
	refuse_file("[benchmark]\nname=fill\ntitle=x\nprogram=/x\nargs=\nprimary=no\n" METRICS QUICK FULL, SPEC_ERROR_MISSING);
	refuse_file(HEAD "[metric time]\nunit=ms\nbetter=bigger\n" QUICK FULL, SPEC_ERROR_VALUE);
	refuse_file(HEAD METRICS QUICK, SPEC_ERROR_MISSING);
	g_assert_null(benchmark_load("/nonexistent", "../x", &error));
	g_assert_error(error, SPEC_ERROR, SPEC_ERROR_VALUE);
	g_clear_error(&error);
	g_assert_null(benchmark_load("/nonexistent", "x", &error));
	g_assert_error(error, SPEC_ERROR, SPEC_ERROR_VALUE);
	g_clear_error(&error);
	g_assert_null(benchmark_list("/nonexistent", &error));
	g_assert_error(error, SPEC_ERROR, SPEC_ERROR_IO);
}

static const BenchmarkSet *set(const BenchmarkPlan *plan, guint i)
{
	g_assert_cmpuint(i, <, plan->sets->len);
	return g_ptr_array_index(plan->sets, i);
}

static void test_quick(void)
{
	char *dir = folder(HEAD METRICS QUICK FULL);
	g_autoptr(BenchmarkPlan) plan = NULL;

	g_assert_true(benchmark_plan(dir, STRV("fill"), NONE, "quick", &plan, NULL));
	g_assert_cmpuint(plan->sets->len, ==, 2);
	g_assert_cmpint(plan->memory_mib, ==, 1024);
	g_assert_cmpint(plan->disk_mib, ==, 16);
	g_assert_cmpstr(set(plan, 0)->params, ==, "nproc=1;lru=mglru");
	g_assert_cmpstr(set(plan, 1)->params, ==, "nproc=8;lru=mglru");
	g_assert_cmpstr(set(plan, 1)->lru, ==, "mglru");
	g_assert_cmpint(set(plan, 1)->runs, ==, 2);
	g_assert_cmpint(set(plan, 1)->timeout_s, ==, 120);

	g_autofree char *line = g_strjoinv(" ", set(plan, 1)->argv);
	g_assert_cmpstr(line, ==, "/bin/fill --nproc 8 --size=64m -o 8:mglru /mnt/x");
	remove_folder(dir);
}

static void test_full(void)
{
	char *dir = folder(HEAD METRICS QUICK FULL);
	g_autoptr(BenchmarkPlan) plan = NULL;

	g_assert_true(benchmark_plan(dir, STRV("fill"), NONE, "full", &plan, NULL));
	g_assert_cmpuint(plan->sets->len, ==, 12);
	g_assert_cmpint(plan->disk_mib, ==, 0);
	g_assert_cmpstr(set(plan, 0)->params, ==, "nproc=1;size_mib=64;lru=mglru");
	g_assert_cmpstr(set(plan, 11)->params, ==, "nproc=32;size_mib=128;lru=classic");
	remove_folder(dir);
}

/* What was asked for is part of the name even with one value: it is not the profile's. */
static void test_overrides(void)
{
	char *dir = folder(HEAD METRICS QUICK FULL);
	g_autoptr(BenchmarkPlan) plan = NULL;

	g_assert_true(benchmark_plan(dir, STRV("fill"), STRV("fill.nproc=3", "fill.size_mib=16", "fill.runs=7",
				     "fill.lru=classic,mglru", "fill.memory_mib=2048"), "quick", &plan, NULL));
	g_assert_cmpuint(plan->sets->len, ==, 2);
	g_assert_cmpstr(set(plan, 0)->params, ==, "nproc=3;size_mib=16;lru=classic");
	g_assert_cmpint(set(plan, 0)->runs, ==, 7);
	g_assert_cmpint(plan->memory_mib, ==, 2048);
	remove_folder(dir);
}

static void test_bad_overrides(void)
{
	static const struct {
		const char *text;
		const char *field;
	} rows[] = {
		{ "other.nproc=1", "params" }, { "fill.unknown=1", "params" },	{ "fill.nproc=", "params" },
		{ "fill.nproc=1,,2", "params" }, { "fill.nproc=1,1", "params" }, { "fill.nproc=a b", "params" },
		{ "fill.nproc={x}", "params" }, { "fill.lru=fifo", "params" },	{ "fill.runs=0", "params" },
		{ "fill.runs=51", "params" },	{ "fill.runs=1,2", "params" },	{ "fill.timeout_s=x", "params" },
		{ "fill", "params" },		{ "fill.", "params" },		{ "", "params" },
	};
	char *dir = folder(HEAD METRICS QUICK FULL);

	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_autoptr(GError) error = NULL;
		BenchmarkPlan *plan = NULL;
		g_assert_false(benchmark_plan(dir, STRV("fill"), STRV((char *)rows[i].text), "quick", &plan, &error));
		g_assert_error(error, SPEC_ERROR, SPEC_ERROR_VALUE);
		g_assert_null(plan);
		g_assert_true(g_str_has_prefix(error->message, rows[i].field));
	}
	remove_folder(dir);
}

static void test_limits(void)
{
	char *dir = folder(HEAD METRICS QUICK FULL);
	g_autoptr(GString) many = g_string_new("fill.nproc=0");
	g_autoptr(GError) error = NULL;
	BenchmarkPlan *plan = NULL;

	for (int i = 1; i < BENCHMARK_MAX_SETS; i++)
		g_string_append_printf(many, ",%d", i);
	g_assert_false(benchmark_plan(dir, STRV("fill"), STRV(many->str), "full", &plan, &error));
	g_assert_error(error, SPEC_ERROR, SPEC_ERROR_LIMIT);
	g_clear_error(&error);
	g_string_append(many, ",x");
	g_assert_false(benchmark_plan(dir, STRV("fill"), STRV(many->str), "quick", &plan, &error));
	g_assert_error(error, SPEC_ERROR, SPEC_ERROR_VALUE);
	g_clear_error(&error);
	g_assert_false(benchmark_plan(dir, STRV("fill", "fill"), NONE, "quick", &plan, &error));
	g_assert_error(error, SPEC_ERROR, SPEC_ERROR_VALUE);
	g_clear_error(&error);
	g_assert_false(benchmark_plan(dir, STRV("fill"), NONE, "huge", &plan, &error));
	g_assert_error(error, SPEC_ERROR, SPEC_ERROR_MISSING);
	remove_folder(dir);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/benchmark/load", test_load);
	g_test_add_func("/benchmark/bad-files", test_bad_files);
	g_test_add_func("/benchmark/quick", test_quick);
	g_test_add_func("/benchmark/full", test_full);
	g_test_add_func("/benchmark/overrides", test_overrides);
	g_test_add_func("/benchmark/bad-overrides", test_bad_overrides);
	g_test_add_func("/benchmark/limits", test_limits);
	return g_test_run();
}
