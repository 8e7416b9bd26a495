/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The script as a shell sees it: what a stranger wrote in a series stays text. */
#include <glib/gstdio.h>

#include "tests/unit/job-fixture.h"
#include "web/reproduce.h"

#define HOSTILE "mm: '; touch PWNED; $(touch PWNED) `touch PWNED`\nEND\ntouch PWNED\n" EVIL

static char *make_script(const char *folder, GBytes *series)
{
	g_autoptr(StoreJob) job = fixture_job(JOB_DONE);
	g_autoptr(JsonObject) record = fixture_object("{\"plan\": \"regrlab-plan 1\\nnonce 00\\nrun aging x 1 5 mglru -- /bin/aging\\n\","
						      " \"machine\": \"pc\", \"cmdline\": \"quiet '; touch PWNED\", \"cpus\": 2,"
						      " \"memory_mib\": 256, \"accelerator\": \"tcg\", \"clock\": \"icount\"}");
	g_autoptr(GBytes) config = g_bytes_new_static("CONFIG_X=y\n", 11);
	g_autofree char *script = NULL, *path = g_build_filename(folder, "reproduce.sh", NULL);
	gsize size;

	g_free(job->spec->subject);
	job->spec->subject = g_strdup(HOSTILE);
	script = reproduce_script(&(ReproduceView){ .job = job, .record = record, .url = "http://lab.example.org:8642",
						    .tree_remote = "https://git.example.org/linux'.git", .series = series,
						    .configs = { config, config } }, &size);
	g_assert_cmpuint(strlen(script), ==, size);
	g_assert_true(g_file_set_contents(path, script, (gssize)size, NULL));
	return g_steal_pointer(&path);
}

static char *run(const char *folder, const char *script, const char *first, const char *second, int *ret_status)
{
	const char *const argv[] = { "sh", script, first, second, NULL };
	char *output = NULL;
	g_autoptr(GError) error = NULL;

	g_spawn_sync(folder, (char **)argv, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, &output, NULL, ret_status, &error);
	g_assert_no_error(error);
	return output;
}

static void check_file(const char *folder, const char *name, const char *data, gsize size)
{
	g_autofree char *path = g_build_filename(folder, "regrlab-job-7", name, NULL), *found = NULL;
	gsize found_size;

	g_assert_true(g_file_get_contents(path, &found, &found_size, NULL));
	g_assert_cmpmem(found, found_size, data, size);
	g_unlink(path);
}

static void test_hostile(void)
{
	static const char mbox[] = "From 0\nSubject: x\n\n'\nEND\n\0\xff$(touch PWNED)\n";
	g_autofree char *folder = g_dir_make_tmp("reproduce-XXXXXX", NULL), *pwned = g_build_filename(folder, "PWNED", NULL);
	g_autofree char *work = g_build_filename(folder, "regrlab-job-7", NULL);
	g_autoptr(GBytes) series = g_bytes_new_static(mbox, sizeof(mbox) - 1);
	g_autofree char *script = make_script(folder, series), *help = NULL, *written = NULL;
	int status;

	help = run(folder, script, "--help", NULL, &status);
	g_assert_cmpint(status, ==, 0);
	g_assert_nonnull(strstr(help, "usage: sh reproduce.sh"));
	g_assert_nonnull(strstr(help, "$(touch PWNED) `touch PWNED`"));
	written = run(folder, script, "--write-only", NULL, &status);
	g_assert_cmpint(status, ==, 0);
	check_file(folder, "series.mbox", mbox, sizeof(mbox) - 1);
	check_file(folder, "config-base", "CONFIG_X=y\n", 11);
	check_file(folder, "config-patched", "CONFIG_X=y\n", 11);
	check_file(folder, "plan", "regrlab-plan 1\nnonce 00\nrun aging x 1 5 mglru -- /bin/aging\n", 60);
	g_assert_false(g_file_test(pwned, G_FILE_TEST_EXISTS));
	g_unlink(script);
	g_assert_cmpint(g_rmdir(work), ==, 0);
	g_assert_cmpint(g_rmdir(folder), ==, 0);
}

static void test_usage(void)
{
	g_autofree char *folder = g_dir_make_tmp("reproduce-XXXXXX", NULL);
	g_autofree char *script = make_script(folder, NULL), *output = NULL, *other = NULL;
	int status;

	output = run(folder, script, "--kernels", "one", &status);
	g_assert_cmpint(status, !=, 0);
	other = run(folder, script, "--boots", "0", &status);
	g_assert_cmpint(status, !=, 0);
	g_unlink(script);
	g_assert_cmpint(g_rmdir(folder), ==, 0);
}

static void test_shellcheck(void)
{
	g_autofree char *folder = g_dir_make_tmp("reproduce-XXXXXX", NULL), *output = NULL;
	g_autofree char *script = make_script(folder, NULL);
	const char *const argv[] = { "shellcheck", script, NULL };
	int status;

	g_assert_true(g_spawn_sync(folder, (char **)argv, NULL, G_SPAWN_SEARCH_PATH, NULL, NULL, &output, NULL, &status, NULL));
	if (status != 0)
		g_error("%s", output);
	g_unlink(script);
	g_assert_cmpint(g_rmdir(folder), ==, 0);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/reproduce/hostile", test_hostile);
	g_test_add_func("/reproduce/usage", test_usage);
	g_test_add_func("/reproduce/shellcheck", test_shellcheck);
	return g_test_run();
}
