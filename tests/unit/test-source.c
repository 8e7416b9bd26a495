/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The source of a job, on a small repository made by the real git. */
#include <glib/gstdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "jobs/source-git.h"
#include "jobs/source.h"
#include "jobs/spec/file.h"
#include "tests/unit/tree-fixture.h"

typedef struct {
	char *dir, *tree, *cache, *run;
	StageContext *stage;
	Slot *slot;
} Fixture;

/* git as a person would run it in the tree. */
static char *git(const char *dir, const char *const *args)
{
	g_autoptr(GPtrArray) argv = g_ptr_array_new();
	g_auto(ChildResult) result = { 0 };
	static const char *const start[] = { "git", "-c", "user.name=Tess Tree", "-c", "user.email=tess@example.org" };

	for (gsize i = 0; i < G_N_ELEMENTS(start); i++)
		g_ptr_array_add(argv, (char *)start[i]);
	for (; *args; args++)
		g_ptr_array_add(argv, (char *)*args);
	g_ptr_array_add(argv, NULL);
	g_assert_true(child_run(&(ChildSpec){ .argv = (const char *const *)argv->pdata, .cwd = dir }, &result, NULL));
	if (result.status)
		g_test_message("%s", result.errors);
	g_assert_cmpint(result.status, ==, 0);
	g_strchomp(result.output);
	return g_steal_pointer(&result.output);
}

static void git_quiet(const char *dir, const char *const *args)
{
	g_free(git(dir, args));
}

#define LINES "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\nten\n"

/* A tree as Debian's is: ignoring everything at the top. */
static void make_tree(Fixture *f)
{
	g_mkdir(f->tree, 0755);
	git_quiet(f->tree, ARGV("init", "-q", "-b", "main"));
	write_text(f->tree, ".gitignore", "/*\n");
	write_text(f->tree, "mm/a.c", LINES);
	write_text(f->tree, "mm/b.c", LINES);
	g_autofree char *link = g_build_filename(f->tree, "mm/link.c", NULL);
	g_assert_cmpint(symlink("a.c", link), ==, 0);
	git_quiet(f->tree, ARGV("add", "-A", "-f"));
	git_quiet(f->tree, ARGV("commit", "-q", "-m", "the first"));
}

static void open_stage(Fixture *f, const char *spec)
{
	g_autofree char *place = g_strdup_printf(
		"{\"tree\":\"t\",\"tree_path\":\"%s\",\"tree_branch\":\"main\",\"cache_dir\":\"%s\"}", f->tree, f->cache);
	g_autoptr(GError) error = NULL;
	int status;

	write_text(f->run, "spec.json", spec);
	write_text(f->run, "place.json", place);
	stage_open("build", f->run, &f->stage, &status, &error);
	g_assert_no_error(error);
	g_assert_true(slot_acquire(f->stage, "0123abcd", &f->slot));
}

#define SPEC_SERIES "{\"tree\":\"t\",\"has_series\":true,\"benchmarks\":[\"aging\"]}"

static void set_up(Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
	f->dir = g_dir_make_tmp("source-XXXXXX", NULL);
	f->tree = g_build_filename(f->dir, "tree", NULL);
	f->cache = g_build_filename(f->dir, "cache", NULL);
	f->run = g_build_filename(f->dir, "run", NULL);
	g_mkdir(f->run, 0755);
	make_tree(f);
}

static void tear_down(Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
	g_auto(ChildResult) result = { 0 };

	slot_release(f->slot);
	stage_close(f->stage);
	child_run(&(ChildSpec){ .argv = ARGV("rm", "-rf", f->dir) }, &result, NULL);
	g_free(f->dir);
	g_free(f->tree);
	g_free(f->cache);
	g_free(f->run);
}

#define MAIL(subject, body) \
	"From 0 Mon Sep 17 00:00:00 2001\nFrom: Ada Example <ada@example.org>\nDate: Mon, 6 Jan 2025 10:00:00 +0000\n" \
	"Subject: " subject "\n\nWhy.\n---\n" body "-- \n2.39\n\n"
#define CHANGE(file, from, to) \
	"diff --git a/" file " b/" file "\n--- a/" file "\n+++ b/" file "\n@@ -1,4 +1,4 @@\n one\n-" from "\n+" to "\n three\n four\n"

static void use_series(Fixture *f, const char *text)
{
	write_text(f->run, "series.mbox", text);
	open_stage(f, SPEC_SERIES);
}

/* The stage's own end, as the daemon will read it. */
static JsonObject *end_of(Fixture *f)
{
	g_assert_cmpint(stage_finish(f->stage, FALSE, "", ""), ==, STAGE_EXIT_ENDED);
	g_autofree char *text = read_text(f->run, "events.jsonl");
	g_strchomp(text);
	g_auto(GStrv) lines = g_strsplit(text, "\n", 0);
	const char *last = lines[g_strv_length(lines) - 1];
	JsonObject *object = NULL;
	g_assert_true(json_object_from_data(last, strlen(last), &object, NULL));
	return object;
}

static void check_end(JsonObject *end, const char *state, const char *reason)
{
	g_assert_cmpstr(json_object_get_string_member(end, "state"), ==, state);
	g_assert_cmpstr(json_object_get_string_member(end, "reason"), ==, reason);
}

static void test_apply(Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
	g_autoptr(Source) source = NULL, again = NULL;

	use_series(f, MAIL("[PATCH 2/2] second", CHANGE("mm/b.c", "two", "zwei"))
		      MAIL("[PATCH 1/2] first", CHANGE("mm/a.c", "two", "zwei")
			   "diff --git a/new.c b/new.c\nnew file mode 100644\n--- /dev/null\n+++ b/new.c\n@@ -0,0 +1 @@\n+new\n"));
	g_assert_true(source_prepare(f->stage, f->slot, &source));
	g_assert_cmpstr(source->base_subject, ==, "the first");
	g_assert_cmpstr(source->base_chosen_by, ==, "tree default");
	g_assert_cmpuint(json_array_get_length(source->patches), ==, 2);
	JsonObject *first = json_array_get_object_element(source->patches, 0);
	g_assert_cmpstr(json_object_get_string_member(first, "subject"), ==, "first");
	g_assert_cmpint(json_object_get_int_member(first, "file_count"), ==, 2);

	g_autofree char *text = read_text(f->slot->src, "mm/b.c"), *added = read_text(f->slot->src, "new.c");
	g_assert_true(g_str_has_prefix(text, "one\nzwei\n"));
	g_assert_cmpstr(added, ==, "new\n");

	/* what a build or an earlier job left lying about goes, ignored or not; and all comes out the same */
	write_text(f->slot->src, "junk.o", "x");
	write_text(f->slot->src, "mm/junk.o", "x");
	write_text(f->slot->src, "mm/a.c", "changed");
	g_assert_true(source_prepare(f->stage, f->slot, &again));
	g_assert_cmpstr(again->patched_commit, ==, source->patched_commit);
	g_assert_cmpstr(again->patched_tree, ==, source->patched_tree);
	g_autofree char *junk = read_text(f->slot->src, "junk.o"), *deeper = read_text(f->slot->src, "mm/junk.o");
	g_assert_null(junk);
	g_assert_null(deeper);

	g_assert_true(source_checkout(f->stage, f->slot, source->base_commit));
	g_autofree char *back = read_text(f->slot->src, "mm/a.c"), *gone = read_text(f->slot->src, "new.c");
	g_assert_cmpstr(back, ==, LINES);
	g_assert_null(gone);
	/* the tree itself was only read */
	g_autofree char *status = git(f->tree, ARGV("status", "--porcelain", "--ignored"));
	g_autofree char *refs = git(f->tree, ARGV("for-each-ref", "--format=%(refname)"));
	g_assert_cmpstr(status, ==, "");
	g_assert_cmpstr(refs, ==, "refs/heads/main");
}

static void test_crlf(Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
	g_autoptr(Source) source = NULL;
	g_auto(GStrv) lines = g_strsplit(MAIL("[PATCH] crlf", CHANGE("mm/a.c", "two", "zwei")), "\n", 0);
	g_autofree char *text = g_strjoinv("\r\n", lines);

	use_series(f, text);
	g_assert_true(source_prepare(f->stage, f->slot, &source));
	g_autofree char *file = read_text(f->slot->src, "mm/a.c");
	g_assert_true(g_str_has_prefix(file, "one\nzwei\nthree\n"));
}

static void test_does_not_apply(Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
	g_autoptr(Source) source = NULL;

	use_series(f, MAIL("[PATCH 1/2] first", CHANGE("mm/a.c", "two", "zwei"))
		      MAIL("[PATCH 2/2] second", CHANGE("mm/b.c", "2", "zwei")));
	g_assert_false(source_prepare(f->stage, f->slot, &source));
	g_assert_null(source);

	g_autoptr(JsonObject) end = end_of(f);
	check_end(end, "apply-failed", "patch-does-not-apply");
	g_assert_cmpstr(json_object_get_string_member(end, "arm"), ==, "patched");
	g_assert_cmpstr(json_object_get_string_member(end, "message"), ==,
			"Patch 2 (\"second\") does not apply to mm/b.c at @@ -1,4 +1,4 @@.");
	JsonObject *detail = json_object_get_object_member(end, "detail");
	g_assert_cmpint(json_object_get_int_member(detail, "patch"), ==, 2);
	g_assert_cmpstr(json_object_get_string_member(detail, "file"), ==, "mm/b.c");
	g_assert_cmpstr(json_object_get_string_member(detail, "hunk"), ==, "@@ -1,4 +1,4 @@");
	g_assert_nonnull(strstr(json_object_get_string_member(detail, "git"), "error: patch failed: mm/b.c:1"));
	g_assert_null(strstr(json_object_get_string_member(detail, "git"), "hint:"));
}

static void test_no_such_file(Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
	g_autoptr(Source) source = NULL;

	use_series(f, MAIL("[PATCH] x", CHANGE("mm/none.c", "two", "zwei")));
	g_assert_false(source_prepare(f->stage, f->slot, &source));
	g_autoptr(JsonObject) end = end_of(f);
	check_end(end, "apply-failed", "patch-does-not-apply");
	g_assert_cmpstr(json_object_get_string_member(json_object_get_object_member(end, "detail"), "file"), ==, "mm/none.c");
}

/* A patch that changes what a link of the tree points to. */
static void test_link(Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
	g_autoptr(Source) source = NULL;

	/* without the mode on the index line, which the parser of the series would see */
	use_series(f, MAIL("[PATCH] x", "diff --git a/mm/link.c b/mm/link.c\n--- a/mm/link.c\n+++ b/mm/link.c\n"
			   "@@ -1 +1 @@\n-a.c\n\\ No newline at end of file\n+/etc/passwd\n\\ No newline at end of file\n"));
	g_assert_false(source_prepare(f->stage, f->slot, &source));
	g_autoptr(JsonObject) end = end_of(f);
	check_end(end, "apply-failed", "unsafe-change");
	g_assert_true(source_checkout(f->stage, f->slot, "HEAD~1"));
	g_autofree char *back = read_text(f->slot->src, "mm/link.c");
	g_assert_cmpstr(back, ==, LINES);
}

static void test_invalid_series(Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
	g_autoptr(Source) source = NULL;

	use_series(f, MAIL("[PATCH 1/2] x", CHANGE("mm/a.c", "two", "zwei")));
	g_assert_false(source_prepare(f->stage, f->slot, &source));
	g_autoptr(JsonObject) end = end_of(f);
	check_end(end, "apply-failed", "series-invalid");
}

static void test_base_trailer(Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
	g_autofree char *first = git(f->tree, ARGV("rev-parse", "HEAD"));
	g_autoptr(Source) source = NULL;

	write_text(f->tree, "mm/a.c", "other\n");
	git_quiet(f->tree, ARGV("commit", "-q", "-a", "-m", "second"));
	g_autofree char *text = g_strdup_printf("%sbase-commit: %s\n", MAIL("[PATCH] x", CHANGE("mm/a.c", "two", "zwei")), first);
	use_series(f, text);
	g_assert_true(source_prepare(f->stage, f->slot, &source));
	g_assert_cmpstr(source->base_commit, ==, first);
	g_assert_cmpstr(source->base_chosen_by, ==, "base-commit trailer");
}

/* A trailer that the tree does not have is no error: the default is used and named. */
static void test_unknown_trailer(Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
	g_autoptr(Source) source = NULL;

	use_series(f, MAIL("[PATCH] x", CHANGE("mm/a.c", "two", "zwei"))
		   "base-commit: 0123456789abcdef0123456789abcdef01234567\n");
	g_assert_true(source_prepare(f->stage, f->slot, &source));
	g_assert_cmpstr(source->base_chosen_by, ==, "tree default");
}

static void test_head(Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
	g_autoptr(Source) source = NULL;

	git_quiet(f->tree, ARGV("tag", "v1"));
	write_text(f->tree, "mm/a.c", "other\n");
	write_text(f->tree, "mm/b.c", "other\n");
	git_quiet(f->tree, ARGV("commit", "-q", "-a", "-m", "second"));
	write_text(f->tree, "mm/a.c", "another\n");
	git_quiet(f->tree, ARGV("commit", "-q", "-a", "-m", "third"));
	open_stage(f, "{\"tree\":\"t\",\"base\":\"v1\",\"head\":\"main\",\"benchmarks\":[\"aging\"]}");
	g_assert_true(source_prepare(f->stage, f->slot, &source));
	g_assert_cmpstr(source->base_chosen_by, ==, "asked");
	g_assert_cmpuint(json_array_get_length(source->patches), ==, 2);
	JsonObject *row = json_array_get_object_element(source->patches, 0);
	g_assert_cmpstr(json_object_get_string_member(row, "subject"), ==, "second");
	g_assert_cmpstr(json_object_get_string_member(row, "author"), ==, "Tess Tree <tess@example.org>");
	g_assert_cmpint(json_object_get_int_member(row, "file_count"), ==, 2);
	g_assert_cmpstr(source->base_tree, !=, source->patched_tree);
}

static void test_no_base(Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
	g_autoptr(Source) source = NULL;

	open_stage(f, "{\"tree\":\"t\",\"base\":\"v9\",\"head\":\"main\",\"benchmarks\":[\"aging\"]}");
	g_assert_false(source_prepare(f->stage, f->slot, &source));
	g_autoptr(JsonObject) end = end_of(f);
	check_end(end, "apply-failed", "base-not-found");
	g_assert_cmpstr(json_object_get_string_member(end, "arm"), ==, "");
}

/* A commit that only the remote has, by hash and by its branch's name. */
static void test_fetch(Fixture *f, gconstpointer data)
{
	const char *name = data;
	g_autofree char *remote = g_build_filename(f->dir, "remote", NULL);
	g_autofree char *commit = NULL, *spec = NULL;
	g_autoptr(Source) source = NULL;

	git_quiet(f->dir, ARGV("clone", "-q", f->tree, remote));
	git_quiet(f->tree, ARGV("remote", "add", "upstream", remote));
	git_quiet(remote, ARGV("checkout", "-q", "-b", "next"));
	write_text(remote, "mm/a.c", "upstream\n");
	git_quiet(remote, ARGV("commit", "-q", "-a", "-m", "upstream's"));
	commit = git(remote, ARGV("rev-parse", "HEAD"));

	spec = g_strdup_printf("{\"tree\":\"t\",\"base\":\"main\",\"head\":\"%s\",\"benchmarks\":[\"aging\"]}",
			       *name ? name : commit);
	open_stage(f, spec);
	g_free(f->stage->place->tree_remote);
	f->stage->place->tree_remote = g_strdup("upstream");
	g_assert_true(source_prepare(f->stage, f->slot, &source));
	g_assert_cmpstr(source->patched_commit, ==, commit);
}

/* Hooks, filters and configuration of whoever runs us, and attributes of the tree, change nothing. */
static void test_isolation(Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
	g_autofree char *home = g_build_filename(f->dir, "home", NULL), *proof = g_build_filename(f->dir, "proof", NULL);
	g_autofree char *hook = g_strdup_printf("#!/bin/sh\ntouch %s\n", proof);
	g_autofree char *config = g_strdup_printf("[core]\n\thooksPath = %s/hooks\n[filter \"evil\"]\n\tsmudge = touch %s\n", home, proof);
	g_autofree char *hook_path = g_build_filename(home, "hooks/post-checkout", NULL);
	g_autofree char *tree_hook = g_build_filename(f->tree, ".git/hooks/post-checkout", NULL);
	g_autoptr(Source) source = NULL;

	write_text(home, ".gitconfig", config);
	write_text(home, "hooks/post-checkout", hook);
	g_chmod(hook_path, 0755);
	write_text(f->tree, ".git/hooks/post-checkout", hook);
	g_chmod(tree_hook, 0755);
	write_text(f->tree, ".gitattributes", "* filter=evil eol=crlf text ident\n");
	git_quiet(f->tree, ARGV("add", "-f", ".gitattributes"));
	git_quiet(f->tree, ARGV("commit", "-q", "-m", "attributes"));
	g_setenv("HOME", home, TRUE);
	g_setenv("GIT_DIR", "/nonexistent", TRUE);
	use_series(f, MAIL("[PATCH] x", CHANGE("mm/a.c", "two", "zwei")));
	g_assert_true(source_prepare(f->stage, f->slot, &source));
	g_unsetenv("GIT_DIR");
	g_assert_false(g_file_test(proof, G_FILE_TEST_EXISTS));
	g_autofree char *text = read_text(f->slot->src, "mm/b.c");
	g_assert_cmpstr(text, ==, LINES);
}

/* Two jobs get two slots; what an interrupted build left is not trusted. */
static void test_slots(Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
	g_autoptr(Slot) second = NULL, again = NULL;
	g_autoptr(GError) error = NULL;

	use_series(f, MAIL("[PATCH] x", CHANGE("mm/a.c", "two", "zwei")));
	write_text(f->cache, "worktrees/t-0123abcd.1/ready", "");	/* not made for the first time, which takes patience */
	g_assert_true(slot_acquire(f->stage, "0123abcd", &second));
	g_assert_cmpstr(second->dir, !=, f->slot->dir);
	g_assert_true(slot_build_begin(second, &error));
	write_text(second->obj, "x.o", "half");
	g_clear_pointer(&second, slot_release);
	g_assert_true(slot_acquire(f->stage, "0123abcd", &again));
	g_autofree char *half = read_text(again->obj, "x.o");
	g_assert_null(half);
	write_text(again->obj, "x.o", "whole");
	g_assert_true(slot_build_begin(again, &error));
	slot_build_end(again);
	g_clear_pointer(&again, slot_release);
	g_assert_true(slot_acquire(f->stage, "0123abcd", &again));
	g_autofree char *whole = read_text(again->obj, "x.o");
	g_assert_cmpstr(whole, ==, "whole");
}

static void test_parse_failure(void)
{
	static const struct {
		const char *words, *file;
		int line;
	} rows[] = {
		{ "error: patch failed: mm/a.c:12\nerror: mm/a.c: patch does not apply\n", "mm/a.c", 12 },
		{ "error: mm/b.c: does not exist in index\n", "mm/b.c", 0 },
		{ "Applying: x\nerror: new.c: already exists in working directory\n", "new.c", 0 },
		{ "error: corrupt patch at line 12\n", NULL, 0 },
		{ "error: patch failed: \n", NULL, 0 },
		{ "", NULL, 0 },
	};

	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_autofree char *file = NULL;
		int line;
		source_parse_failure(rows[i].words, &file, &line);
		g_assert_cmpstr(file, ==, rows[i].file);
		g_assert_cmpint(line, ==, rows[i].line);
	}
}

#define ADD(name, test, data) g_test_add("/source/" name, Fixture, data, set_up, test, tear_down)

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	ADD("apply", test_apply, NULL);
	ADD("crlf", test_crlf, NULL);
	ADD("does-not-apply", test_does_not_apply, NULL);
	ADD("no-such-file", test_no_such_file, NULL);
	ADD("link", test_link, NULL);
	ADD("invalid-series", test_invalid_series, NULL);
	ADD("base-trailer", test_base_trailer, NULL);
	ADD("unknown-trailer", test_unknown_trailer, NULL);
	ADD("head", test_head, NULL);
	ADD("no-base", test_no_base, NULL);
	ADD("fetch/hash", test_fetch, "");
	ADD("fetch/branch", test_fetch, "next");
	ADD("isolation", test_isolation, NULL);
	ADD("slots", test_slots, NULL);
	g_test_add_func("/source/parse-failure", test_parse_failure);
	return g_test_run();
}
