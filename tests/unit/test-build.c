/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The build stage. The tree is a fake with a Makefile of the kernel's targets
 * that compiles one file with the real gcc: builds take no time, and what is
 * tested is the stage.
 */
#include <errno.h>
#include <glib/gstdio.h>
#include <signal.h>
#include <string.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include "jobs/spec/file.h"
#include "jobs/stage.h"
#include "tests/unit/tree-fixture.h"

static const char fake_makefile[] =
	"tinyconfig:\n\tprintf 'CONFIG_64BIT=y\\n# CONFIG_EXTRA is not set\\n' > $(O)/.config\n"
	"olddefconfig:\n\tgrep -v CONFIG_LOST $(O)/.config > $(O)/tmp; mv $(O)/tmp $(O)/.config\n"
	"bzImage:\n"
	"\tif grep -q HANG mm/a.c; then sleep 7201.5; fi\n"
	"\tif grep -q SHOT mm/a.c; then kill -9 $$$$; fi\n"
	"\tmkdir -p $(O)/arch/x86/boot $(O)/include/config\n"
	"\techo '  CC      mm/a.o'\n"
	"\tgcc -c -o $(O)/a.o $(CURDIR)/mm/a.c\n"
	"\techo 6.12.0-fake > $(O)/include/config/kernel.release\n"
	"\ttouch $(O)/vmlinux $(O)/System.map\n"
	"\tcat mm/a.c $(O)/.config > $(O)/arch/x86/boot/bzImage\n"
	"\techo '  IMAGE   bzImage'\n";

typedef struct {
	char *dir, *tree, *cache, *run;
} Fixture;

static void run_program(const char *dir, const char *const *argv)
{
	g_auto(ChildResult) result = { 0 };

	g_assert_true(child_run(&(ChildSpec){ .argv = argv, .cwd = dir }, &result, NULL));
	g_assert_cmpint(result.status, ==, 0);
}

static void commit_all(Fixture *f)
{
	run_program(f->tree, ARGV("git", "add", "-A"));
	run_program(f->tree, ARGV("git", "-c", "user.name=T", "-c", "user.email=t@example.org", "commit", "-q", "-m", "x"));
}

#define SOURCE "int one(void);\nint one(void)\n{\n\treturn 1;\n}\n"
#define PATCH(from, to) \
	"From: Ada Example <ada@example.org>\nDate: Mon, 6 Jan 2025 10:00:00 +0000\nSubject: [PATCH] x\n\n---\n" \
	"diff --git a/mm/a.c b/mm/a.c\n--- a/mm/a.c\n+++ b/mm/a.c\n@@ -1,5 +1,5 @@\n int one(void);\n int one(void)\n {\n" \
	"-" from "\n+" to "\n }\n"
#define GOOD PATCH("\treturn 1;", "\treturn 2;")
#define BENCHMARK(needs) \
	"[benchmark]\nname=fill\ntitle=Fill\nprogram=/bin/fill\nargs=x\nneeds=" needs "\nprimary=time\n" \
	"[metric time]\nunit=ms\nbetter=lower\n[profile quick]\nlru=mglru\n[profile full]\nlru=mglru\n"

static void new_run(Fixture *f, const char *name, const char *series, int timeout_s)
{
	g_autofree char *configs = g_build_filename(f->dir, "configs", NULL), *inis = g_build_filename(f->dir, "inis", NULL);
	g_autofree char *place = g_strdup_printf(
		"{\"tree\":\"t\",\"tree_path\":\"%s\",\"tree_branch\":\"main\",\"cache_dir\":\"%s\",\"configs_dir\":\"%s\","
		"\"benchmarks_dir\":\"%s\",\"build_timeout_s\":%d}", f->tree, f->cache, configs, inis, timeout_s);

	g_free(f->run);
	f->run = g_build_filename(f->dir, name, NULL);
	write_text(f->run, "place.json", place);
	write_text(f->run, "spec.json", "{\"tree\":\"t\",\"has_series\":true,\"config\":\"fake\",\"benchmarks\":[\"fill\"]}");
	write_text(f->run, "series.mbox", series);
}

static void set_up(Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
	f->dir = g_dir_make_tmp("build-XXXXXX", NULL);
	f->tree = g_build_filename(f->dir, "tree", NULL);
	f->cache = g_build_filename(f->dir, "cache", NULL);
	write_text(f->dir, "configs/fake.config", "# base: tinyconfig\nCONFIG_EXTRA=y\n");
	write_text(f->dir, "inis/fill.ini", BENCHMARK("CONFIG_SHMEM=y"));
	write_text(f->tree, "Makefile", fake_makefile);
	write_text(f->tree, "mm/a.c", SOURCE);
	run_program(f->tree, ARGV("git", "init", "-q", "-b", "main"));
	commit_all(f);
	new_run(f, "run", GOOD, 60);
}

static void tear_down(Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
	run_program("/", ARGV("rm", "-rf", f->dir));
	g_free(f->dir);
	g_free(f->tree);
	g_free(f->cache);
	g_free(f->run);
}

/* The stage as a process of its own. */
static pid_t start_stage(Fixture *f)
{
	pid_t pid = fork();

	if (pid == 0) {
		g_autoptr(StageContext) stage = NULL;
		int status;
		if (!stage_open("build", f->run, &stage, &status, NULL))
			_exit(status);
		_exit(stage->ended ? STAGE_EXIT_ENDED : stage_build(stage));
	}
	return pid;
}

static int wait_stage(pid_t pid)
{
	int status;

	g_assert_cmpint(waitpid(pid, &status, 0), ==, pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static int run_stage(Fixture *f)
{
	return wait_stage(start_stage(f));
}

/* ---- what it told ---- */

typedef struct {
	GPtrArray *events;	/* of JsonObject */
} Events;

static gboolean keep_event(gint64 seq G_GNUC_UNUSED, const char *type G_GNUC_UNUSED, JsonObject *object, gpointer data,
			   GError **error G_GNUC_UNUSED)
{
	g_ptr_array_add(((Events *)data)->events, json_object_ref(object));
	return TRUE;
}

/* The N-th event of a type, from the first (0) on; NULL if there is none. The caller's. */
static JsonObject *event(Fixture *f, const char *type, guint n)
{
	g_autoptr(GPtrArray) array = g_ptr_array_new_with_free_func((GDestroyNotify)json_object_unref);
	Events events = { array };
	gint64 offset = 0;

	g_assert_true(event_read(f->run, &offset, 0, keep_event, &events, NULL));
	for (guint i = 0; i < array->len; i++) {
		JsonObject *object = g_ptr_array_index(array, i);
		if (g_str_equal(json_object_get_string_member(object, "type"), type) && n-- == 0)
			return json_object_ref(object);
	}
	return NULL;
}

static void check_end(Fixture *f, const char *state, const char *reason, const char *arm)
{
	g_autoptr(JsonObject) end = event(f, "end", 0), second = event(f, "end", 1);

	g_assert_nonnull(end);
	g_assert_null(second);
	g_assert_cmpstr(json_object_get_string_member(end, "state"), ==, state);
	g_assert_cmpstr(json_object_get_string_member(end, "reason"), ==, reason);
	g_assert_cmpstr(json_object_get_string_member(end, "arm"), ==, arm);
}

static gsize occurrences(const char *text, const char *word)
{
	gsize count = 0;

	for (; (text = strstr(text, word)); text += strlen(word))
		count++;
	return count;
}

/* How many kernels were built to the end, in all runs. */
static gsize builds(Fixture *f)
{
	g_autoptr(GDir) dir = g_dir_open(f->dir, 0, NULL);
	const char *name;
	gsize count = 0;

	while ((name = g_dir_read_name(dir))) {
		g_autofree char *path = g_build_filename(name, "log", NULL), *log = read_text(f->dir, path);
		count += log ? occurrences(log, "\n  IMAGE   bzImage\n") : 0;
	}
	return count;
}

/* ---- the stage ---- */

static void test_built_and_cached(Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
	g_assert_cmpint(run_stage(f), ==, STAGE_EXIT_ENDED);
	check_end(f, "built", "", "");
	g_assert_cmpuint(builds(f), ==, 2);

	g_autoptr(JsonObject) source = event(f, "source", 0), base = event(f, "arm", 0), patched = event(f, "arm", 1);
	g_assert_cmpstr(json_object_get_string_member(source, "base_subject"), ==, "x");
	g_assert_cmpstr(json_object_get_string_member(base, "arm"), ==, "base");
	g_assert_cmpstr(json_object_get_string_member(base, "kernel_release"), ==, "6.12.0-fake");
	g_assert_false(json_object_get_boolean_member(base, "cached"));
	g_assert_false(json_object_get_boolean_member(base, "incremental"));
	g_assert_true(json_object_get_boolean_member(patched, "incremental"));
	g_assert_cmpstr(json_object_get_string_member(base, "config_sha256"), ==,
			json_object_get_string_member(patched, "config_sha256"));
	g_assert_true(g_str_has_prefix(json_object_get_string_member(base, "compiler"), "gcc "));

	g_autofree char *image = read_text("/", json_object_get_string_member(patched, "kernel"));
	g_assert_nonnull(strstr(image, "return 2;"));
	g_assert_nonnull(strstr(image, "CONFIG_EXTRA=y\n"));
	g_assert_nonnull(strstr(image, "CONFIG_SHMEM=y\n"));
	g_assert_nonnull(strstr(image, "# CONFIG_LOCALVERSION_AUTO is not set\n"));
	g_autofree char *config = read_text(f->run, "artifacts/config-base");
	g_assert_nonnull(strstr(image, config));

	/* the log is text */
	g_autofree char *path = g_build_filename(f->run, "log", NULL), *log = NULL;
	gsize size;
	g_assert_true(g_file_get_contents(path, &log, &size, NULL));
	g_assert_cmpuint(strlen(log), ==, size);
	g_assert_nonnull(strstr(log, "== building the patched kernel\n"));

	/* another job with the same kernels builds none */
	new_run(f, "again", GOOD, 60);
	g_assert_cmpint(run_stage(f), ==, STAGE_EXIT_ENDED);
	check_end(f, "built", "", "");
	g_assert_cmpuint(builds(f), ==, 2);
	g_autoptr(JsonObject) cached = event(f, "arm", 1);
	g_assert_true(json_object_get_boolean_member(cached, "cached"));
	g_assert_cmpstr(json_object_get_string_member(cached, "kernel_sha256"), ==,
			json_object_get_string_member(patched, "kernel_sha256"));

	/* one that is damaged is built again */
	g_assert_true(g_file_set_contents(json_object_get_string_member(cached, "kernel"), "damaged", -1, NULL));
	new_run(f, "damaged", GOOD, 60);
	g_assert_cmpint(run_stage(f), ==, STAGE_EXIT_ENDED);
	g_assert_cmpuint(builds(f), ==, 3);
}

/* A stage that has ended says nothing more. */
static void test_ended(Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
	g_assert_cmpint(run_stage(f), ==, STAGE_EXIT_ENDED);
	g_autofree char *before = read_text(f->run, "events.jsonl");
	g_assert_cmpint(run_stage(f), ==, STAGE_EXIT_ENDED);
	g_autofree char *after = read_text(f->run, "events.jsonl");
	g_assert_cmpstr(before, ==, after);
}

static void test_does_not_compile(Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
	new_run(f, "bad", PATCH("\treturn 1;", "\treturn forgotten;"), 60);
	g_assert_cmpint(run_stage(f), ==, STAGE_EXIT_ENDED);
	check_end(f, "build-failed", "does-not-build", "patched");

	g_autoptr(JsonObject) end = event(f, "end", 0), base = event(f, "arm", 0);
	JsonObject *detail = json_object_get_object_member(end, "detail");
	g_assert_nonnull(base);
	g_assert_cmpstr(json_object_get_string_member(detail, "file"), ==, "mm/a.c");
	g_assert_cmpint(json_object_get_int_member(detail, "line"), ==, 4);
	g_assert_nonnull(strstr(json_object_get_string_member(detail, "error"), "forgotten"));
	g_assert_nonnull(strstr(json_object_get_string_member(detail, "context"), "In function"));
}

static void test_base_does_not_compile(Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
	write_text(f->tree, "mm/a.c", SOURCE "#error no\n");
	commit_all(f);
	g_assert_cmpint(run_stage(f), ==, STAGE_EXIT_ENDED);
	check_end(f, "build-failed", "does-not-build", "base");
	g_autoptr(JsonObject) end = event(f, "end", 0);
	g_assert_true(g_str_has_prefix(json_object_get_string_member(end, "message"), "The base itself"));
}

static void test_option_lost(Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
	write_text(f->dir, "inis/fill.ini", BENCHMARK("CONFIG_SHMEM=y CONFIG_LOST=y"));
	g_assert_cmpint(run_stage(f), ==, STAGE_EXIT_ENDED);
	check_end(f, "build-failed", "config-option-lost", "base");
	g_autoptr(JsonObject) end = event(f, "end", 0);
	g_assert_cmpstr(json_object_get_string_member(end, "message"), ==,
			"fill needs CONFIG_LOST=y, and the configuration of the base kernel ends up with CONFIG_LOST=n.");
	g_assert_cmpuint(builds(f), ==, 0);
}

static void test_uploaded_config(Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
	write_text(f->run, "spec.json", "{\"tree\":\"t\",\"has_series\":true,\"has_config\":true,\"benchmarks\":[\"fill\"]}");
	write_text(f->run, "config", "CONFIG_MINE=y\nCONFIG_SHMEM=m\n");
	g_assert_cmpint(run_stage(f), ==, STAGE_EXIT_ENDED);
	check_end(f, "built", "", "");
	g_autofree char *config = read_text(f->run, "artifacts/config-patched");
	g_assert_nonnull(strstr(config, "CONFIG_MINE=y\n"));
	g_assert_nonnull(strstr(config, "CONFIG_SHMEM=y\n"));
	g_assert_null(strstr(config, "CONFIG_EXTRA"));
}

static void test_no_config(Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
	write_text(f->run, "spec.json", "{\"tree\":\"t\",\"has_series\":true,\"config\":\"none\",\"benchmarks\":[\"fill\"]}");
	g_assert_cmpint(run_stage(f), ==, STAGE_EXIT_ENDED);
	check_end(f, "build-failed", "no-such-config", "");
}

/* Somebody (the kernel, short of memory) kills the compiler: that is no finding about a patch, and is done again. */
static void test_killed(Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
	g_assert_cmpint(run_stage(f), ==, STAGE_EXIT_ENDED);	/* the base is in the cache */
	new_run(f, "killed", PATCH("\treturn 1;", "\treturn 2; /* SHOT */"), 60);
	g_assert_cmpint(run_stage(f), ==, STAGE_EXIT_BROKEN);
	g_autoptr(JsonObject) none = event(f, "end", 0);
	g_assert_null(none);
	write_text(f->run, "series.mbox", GOOD);	/* nobody kills it any more */
	g_assert_cmpint(run_stage(f), ==, STAGE_EXIT_ENDED);
	check_end(f, "built", "", "");
}

static void test_timeout(Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
	g_assert_cmpint(run_stage(f), ==, STAGE_EXIT_ENDED);	/* the base is in the cache */
	new_run(f, "slow", PATCH("\treturn 1;", "\treturn 1; /* HANG */"), 5);
	g_assert_cmpint(run_stage(f), ==, STAGE_EXIT_ENDED);
	check_end(f, "build-failed", "build-timeout", "patched");
}

static void wait_for_log(Fixture *f, const char *text)
{
	for (int i = 0; i < 2400; i++) {
		g_autofree char *log = read_text(f->run, "log");
		if (log && strstr(log, text))
			return;
		g_usleep(50000);
	}
	g_error("the log never says '%s'", text);
}

/* As the daemon does it: what a killed stage started may hold the lock for a moment longer. */
static int run_stage_after_kill(Fixture *f)
{
	int status = STAGE_EXIT_LOCKED;

	for (int i = 0; i < 600 && status == STAGE_EXIT_LOCKED; i++) {
		status = run_stage(f);
		if (status == STAGE_EXIT_LOCKED)
			g_usleep(100000);
	}
	return status;
}

/* Stopped or killed while it builds, the stage goes on when it is started again, and builds nothing twice. */
static void test_resume(Fixture *f, gconstpointer data)
{
	int number = GPOINTER_TO_INT(data);

	new_run(f, "stopped", PATCH("\treturn 1;", "\treturn 1; /* HANG */"), 60);
	pid_t pid = start_stage(f);
	wait_for_log(f, "== building the patched kernel");
	g_usleep(300000);
	/* meanwhile nobody else gets the directory */
	g_assert_cmpint(run_stage(f), ==, STAGE_EXIT_LOCKED);
	kill(pid, number);
	g_assert_cmpint(wait_stage(pid), ==, number == SIGKILL ? 128 + SIGKILL : STAGE_EXIT_STOPPED);
	g_autoptr(JsonObject) none = event(f, "end", 0);
	g_assert_null(none);
	g_assert_cmpuint(builds(f), ==, 1);

	write_text(f->run, "series.mbox", GOOD);	/* the fake hangs no more */
	g_assert_cmpint(run_stage_after_kill(f), ==, STAGE_EXIT_ENDED);
	check_end(f, "built", "", "");
	g_assert_cmpuint(builds(f), ==, 2);
	g_autoptr(JsonObject) second = event(f, "arm", 1), third = event(f, "arm", 2), sources = event(f, "source", 1);
	g_assert_cmpstr(json_object_get_string_member(second, "arm"), ==, "patched");
	g_assert_null(third);
	g_assert_null(sources);
}

#define ADD(name, test, data) g_test_add("/build/" name, Fixture, data, set_up, test, tear_down)

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	ADD("built-and-cached", test_built_and_cached, NULL);
	ADD("ended", test_ended, NULL);
	ADD("does-not-compile", test_does_not_compile, NULL);
	ADD("killed", test_killed, NULL);
	ADD("base-does-not-compile", test_base_does_not_compile, NULL);
	ADD("option-lost", test_option_lost, NULL);
	ADD("uploaded-config", test_uploaded_config, NULL);
	ADD("no-config", test_no_config, NULL);
	ADD("timeout", test_timeout, NULL);
	ADD("resume/stopped", test_resume, GINT_TO_POINTER(SIGTERM));
	ADD("resume/killed", test_resume, GINT_TO_POINTER(SIGKILL));
	return g_test_run();
}
