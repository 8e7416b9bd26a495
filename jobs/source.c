/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "jobs/source.h"

#include <stdlib.h>
#include <string.h>

#include "jobs/source-git.h"
#include "jobs/spec/file.h"
#include "jobs/spec/text.h"
#include "jobs/spec/series-diff.h"
#include "jobs/spec/series.h"

#define MAX_LISTED	200	/* commits between base and head that the event lists */
#define MAX_GIT_WORDS	4000	/* bytes of git's words in the event */

void source_free(Source *source)
{
	if (!source)
		return;
	g_free(source->base_commit);
	g_free(source->base_tree);
	g_free(source->base_subject);
	g_free(source->patched_commit);
	g_free(source->patched_tree);
	g_clear_pointer(&source->patches, json_array_unref);
	g_free(source);
}

JsonObject *source_event(const Source *source)
{
	JsonObject *members = json_object_new();

	json_object_set_string_member(members, "base_commit", source->base_commit);
	json_object_set_string_member(members, "base_subject", source->base_subject);
	json_object_set_string_member(members, "base_chosen_by", source->base_chosen_by);
	json_object_set_string_member(members, "base_tree", source->base_tree);
	json_object_set_string_member(members, "patched_tree", source->patched_tree);
	json_object_set_array_member(members, "patches", json_array_ref(source->patches));
	return members;
}

static void add_listed(Source *source, const char *subject, const char *author, int file_count)
{
	g_autofree char *clean_subject = text_plain(subject);
	g_autofree char *clean_author = text_plain(author);
	JsonObject *row = json_object_new();

	json_object_set_string_member(row, "subject", clean_subject);
	json_object_set_string_member(row, "author", clean_author);
	json_object_set_int_member(row, "file_count", file_count);
	json_array_add_object_element(source->patches, row);
}

gboolean source_checkout(StageContext *stage, Slot *slot, const char *commit)
{
	g_autoptr(GError) error = NULL;

	/* -x: a kernel's .gitignore may ignore everything */
	if (git_checkout(stage, slot->src, commit, &error) &&
	    git_run(stage, slot->src, GIT_ARGS("clean", "-ffdxq"), NULL, &error))
		return TRUE;
	return stage_fail_error(stage, "worktree", g_steal_pointer(&error));
}

/* ---- which commits ---- */

/* In the tree, if need be after fetching its remote. *ret_commit is NULL if there is none. */
static gboolean find_commit(StageContext *stage, const char *name, char **ret_commit)
{
	const JobPlace *place = stage->place;
	g_autoptr(GError) error = NULL;

	if (git_find_commit(stage, place->tree_path, name, place->tree_remote, ret_commit, &error) &&
	    (*ret_commit || !*place->tree_remote))
		return TRUE;
	if (!error) {
		stage_progress(stage, "fetching the tree", 0, 0, -1);
		if (git_fetch(stage, place->tree_remote, &error) &&
		    git_find_commit(stage, place->tree_path, name, place->tree_remote, ret_commit, &error))
			return TRUE;
	}
	return stage_fail_error(stage, "tree", g_steal_pointer(&error));
}

static gboolean choose_base(StageContext *stage, const Series *series, Source *source)
{
	const char *asked = stage->spec->base, *trailer = series ? series->base_commit : "";

	if (*asked) {
		source->base_chosen_by = "asked";
		if (!find_commit(stage, asked, &source->base_commit))
			return FALSE;
		return source->base_commit || stage_fail(stage, "apply-failed", "base-not-found", "", NULL,
							 "The tree '%s' has no commit '%s'.", stage->place->tree, asked);
	}
	if (*trailer) {
		source->base_chosen_by = "base-commit trailer";
		if (!find_commit(stage, trailer, &source->base_commit))
			return FALSE;
		if (source->base_commit)
			return TRUE;
		stage_log(stage, "the tree does not have the series' base-commit %s: its default is used", trailer);
	}
	source->base_chosen_by = "tree default";
	if (!find_commit(stage, stage->place->tree_branch, &source->base_commit))
		return FALSE;
	return source->base_commit || stage_fail(stage, "infra-failed", "tree", "", NULL,
						 "The tree '%s' has no branch '%s', which the configuration names as its default.",
						 stage->place->tree, stage->place->tree_branch);
}

static gboolean describe_base(StageContext *stage, Slot *slot, Source *source)
{
	g_autoptr(GError) error = NULL;
	g_autofree char *tree = g_strconcat(source->base_commit, "^{tree}", NULL), *subject = NULL;

	if (!git_run(stage, slot->src, GIT_ARGS("rev-parse", "--verify", tree), &source->base_tree, &error) ||
	    !git_run(stage, slot->src, GIT_ARGS("log", "-1", "--format=%s", source->base_commit), &subject, &error))
		return stage_fail_error(stage, "tree", g_steal_pointer(&error));
	source->base_subject = text_plain(subject);
	return TRUE;
}

/* What HEAD of the slot is now becomes the patched commit. */
static gboolean take_head(StageContext *stage, Slot *slot, Source *source)
{
	g_autoptr(GError) error = NULL;

	if (git_run(stage, slot->src, GIT_ARGS("rev-parse", "--verify", "HEAD"), &source->patched_commit, &error) &&
	    git_run(stage, slot->src, GIT_ARGS("rev-parse", "--verify", "HEAD^{tree}"), &source->patched_tree, &error))
		return TRUE;
	return stage_fail_error(stage, "worktree", g_steal_pointer(&error));
}

/* ---- a second commit ---- */

/* git log's records: "\1SUBJECT\2AUTHOR\n", then one file a line. */
static void list_commits(Source *source, const char *text)
{
	g_auto(GStrv) records = g_strsplit(text, "\1", 0);

	for (char **record = records; *record; record++) {
		char *author = strchr(*record, '\2');
		char *files = author ? strchr(author, '\n') : NULL;
		int count = 0;

		if (!author)
			continue;
		*author++ = 0;
		if (files) {
			*files++ = 0;
			for (; *files; files++)
				count += *files != '\n' && (files[1] == '\n' || !files[1]);
		}
		add_listed(source, *record, author, count);
	}
}

static gboolean use_head(StageContext *stage, Slot *slot, Source *source)
{
	const char *const limit = "--max-count=" G_STRINGIFY(MAX_LISTED);
	g_autofree char *head = NULL, *range = NULL, *text = NULL;
	g_autoptr(GError) error = NULL;

	if (!find_commit(stage, stage->spec->head, &head))
		return FALSE;
	if (!head)
		return stage_fail(stage, "apply-failed", "head-not-found", "", NULL, "The tree '%s' has no commit '%s'.",
				  stage->place->tree, stage->spec->head);
	range = g_strdup_printf("%s..%s", source->base_commit, head);
	if (!git_run(stage, slot->src, GIT_ARGS("log", "--no-merges", "--reverse", limit, "--name-only",
						"--format=%x01%s%x02%an <%ae>", range), &text, &error))
		return stage_fail_error(stage, "tree", g_steal_pointer(&error));
	list_commits(source, text);
	return source_checkout(stage, slot, head) && take_head(stage, slot, source);
}

/* ---- a series ---- */

void source_parse_failure(const char *git_words, char **ret_file, int *ret_line)
{
	static const char failed[] = "error: patch failed: ", plain[] = "error: ";
	static const char *const endings[] = { ": patch does not apply", ": No such file or directory",
					       ": does not exist in index", ": does not match index",
					       ": already exists in index", ": already exists in working directory" };
	g_auto(GStrv) lines = g_strsplit(git_words, "\n", 0);

	*ret_file = NULL;
	*ret_line = 0;
	for (char **line = lines; *line; line++) {
		const char *colon = strrchr(*line, ':');
		if (g_str_has_prefix(*line, failed) && colon > *line + sizeof(failed) - 1) {
			*ret_file = g_strndup(*line + sizeof(failed) - 1, (gsize)(colon - *line) - (sizeof(failed) - 1));
			*ret_line = atoi(colon + 1);
			return;
		}
		for (gsize i = 0; i < G_N_ELEMENTS(endings) && g_str_has_prefix(*line, plain); i++)
			if (g_str_has_suffix(*line, endings[i])) {
				gsize size = strlen(*line) - strlen(endings[i]) - (sizeof(plain) - 1);
				*ret_file = g_strndup(*line + sizeof(plain) - 1, size);
				return;
			}
	}
}

char *source_find_hunk(const char *mail, gsize size, const char *file, int line)
{
	g_autofree char *text = g_strndup(mail, size);
	g_auto(GStrv) lines = g_strsplit(text, "\n", 0);
	g_autofree char *start = g_strdup_printf("@@ -%d", line);
	gboolean in_file = FALSE;

	for (char **at = lines; *at; at++) {
		g_strchomp(*at);
		if (g_str_has_prefix(*at, "+++ ") || g_str_has_prefix(*at, "--- "))
			in_file = g_str_has_suffix(*at, file) || (in_file && g_str_has_suffix(*at, "/dev/null"));
		else if (in_file && g_str_has_prefix(*at, start) && strchr(", ", (*at)[strlen(start)]))
			return text_plain(*at);
	}
	return NULL;
}

/* Without its advice on what to type next; cut to what an event may hold. */
static char *keep_words(const char *git_words)
{
	static const char *const advice[] = { "hint:", "When you have resolved", "If you prefer to skip", "To restore the" };
	g_autofree char *valid = text_plain(git_words);
	g_auto(GStrv) lines = g_strsplit(valid, "\n", 0);
	g_autoptr(GString) words = g_string_new(NULL);

	for (char **line = lines; *line; line++) {
		gboolean keep = **line && words->len + strlen(*line) < MAX_GIT_WORDS;
		for (gsize i = 0; i < G_N_ELEMENTS(advice); i++)
			keep = keep && !g_str_has_prefix(*line, advice[i]);
		if (keep)
			g_string_append_printf(words, "%s\n", *line);
	}
	return g_string_free(g_steal_pointer(&words), FALSE);
}

static gboolean fail_apply(StageContext *stage, const Source *source, const SeriesPatch *patch, const char *git_words)
{
	g_autofree char *valid = keep_words(git_words);
	g_autofree char *file = NULL, *hunk = NULL;
	JsonObject *detail = json_object_new();
	gsize size;
	const char *mail = g_bytes_get_data(patch->mail, &size);
	int line;

	source_parse_failure(valid, &file, &line);
	hunk = file && line ? source_find_hunk(mail, size, file, line) : NULL;
	json_object_set_int_member(detail, "patch", patch->number);
	json_object_set_string_member(detail, "subject", patch->subject);
	json_object_set_string_member(detail, "file", file ? file : "");
	json_object_set_string_member(detail, "hunk", hunk ? hunk : "");
	json_object_set_string_member(detail, "git", valid);
	json_object_set_string_member(detail, "base", source->base_commit);
	json_object_set_string_member(detail, "base_chosen_by", source->base_chosen_by);
	return stage_fail(stage, "apply-failed", "patch-does-not-apply", "patched", detail,
			  "Patch %d (\"%s\") does not apply%s%s%s%s.", patch->number, patch->subject,
			  file ? " to " : "", file ? file : "", hunk ? " at " : "", hunk ? hunk : "");
}

static gboolean fail_unsafe(StageContext *stage, const SeriesPatch *patch, const char *path, const char *why)
{
	g_autofree char *valid = text_plain(path);
	JsonObject *detail = json_object_new();

	json_object_set_int_member(detail, "patch", patch->number);
	json_object_set_string_member(detail, "subject", patch->subject);
	json_object_set_string_member(detail, "file", valid);
	json_object_set_string_member(detail, "hunk", "");
	json_object_set_string_member(detail, "git", "");
	return stage_fail(stage, "apply-failed", "unsafe-change", "patched", detail, "Patch %d (\"%s\"): %s %s.",
			  patch->number, patch->subject, valid, why);
}

/*
 * What git made of a patch, whatever we read in it: records ":OLDMODE NEWMODE
 * OLD NEW STATUS", then the path, both ended by NUL.
 */
static gboolean check_records(StageContext *stage, const SeriesPatch *patch, const char *data, gsize size)
{
	const char *end = data + size;

	while (data < end) {
		const char *mode = data + strlen(":100644 ");
		const char *path = data + strlen(data) + 1;
		if (*data != ':' || path >= end)
			return fail_unsafe(stage, patch, "", "changes something that git does not name");
		if (g_str_has_prefix(mode, "120000") || g_str_has_prefix(mode, "160000"))
			return fail_unsafe(stage, patch, path, "would be a symbolic link or a submodule");
		if (diff_path_is_unsafe(path))
			return fail_unsafe(stage, patch, path, "leaves the tree or is git's own");
		data = path + strlen(path) + 1;
	}
	return TRUE;
}

/* Exactly one commit on top of before, and nothing in it that may not be. */
static gboolean check_applied(StageContext *stage, Slot *slot, const SeriesPatch *patch, const char *before)
{
	g_autoptr(GError) error = NULL;
	g_autofree char *parents = NULL;
	g_auto(ChildResult) result = { 0 };
	const char *const *args = GIT_ARGS("diff-tree", "-r", "-z", "--raw", "--no-renames", before, "HEAD");

	if (!git_run(stage, slot->src, GIT_ARGS("rev-list", "--parents", "-1", "HEAD"), &parents, &error) ||
	    !git_try(stage, slot->src, args, &result, &error))
		return stage_fail_error(stage, "worktree", g_steal_pointer(&error));
	const char *parent = strchr(parents, ' ');
	if (!parent || !g_str_equal(parent + 1, before))
		return fail_unsafe(stage, patch, "", "is not one commit");
	if (result.status != 0 || result.output_cut)
		return fail_unsafe(stage, patch, "", "changes more files than can be checked");
	return check_records(stage, patch, result.output, result.output_bytes);
}

#define MBOX_LINE "From 0000000000000000000000000000000000000000 Mon Sep 17 00:00:00 2001\n"

static void append_mail(GByteArray *mbox, const SeriesPatch *patch)
{
	gsize size;
	const guint8 *data = g_bytes_get_data(patch->mail, &size);

	g_byte_array_append(mbox, (const guint8 *)MBOX_LINE, strlen(MBOX_LINE));
	g_byte_array_append(mbox, data, (guint)size);
}

/* artifacts/series.mbox: the patches in the order in which they were applied, without cover letter and replies. */
static gboolean keep_series(StageContext *stage, const Series *series)
{
	g_autofree char *path = g_build_filename(stage->artifacts, "series.mbox", NULL);
	g_autoptr(GByteArray) mbox = g_byte_array_new();
	GError *error = NULL;

	for (guint i = 0; i < series->patches->len; i++) {
		append_mail(mbox, g_ptr_array_index(series->patches, i));
		if (mbox->len && mbox->data[mbox->len - 1] != '\n')
			g_byte_array_append(mbox, (const guint8 *)"\n", 1);
	}
	return file_write(path, (const char *)mbox->data, mbox->len, &error) || stage_fail_error(stage, "run-directory", error);
}

static gboolean apply_patch(StageContext *stage, Slot *slot, const Source *source, const SeriesPatch *patch)
{
	g_autofree char *before = NULL;
	g_autoptr(GError) error = NULL;
	g_autoptr(GByteArray) mail = g_byte_array_new();
	g_auto(ChildResult) result = { 0 };
	const char *const *args = GIT_ARGS("am", "--patch-format=mbox", "--no-3way", "--no-gpg-sign", "--no-scissors",
					   "--no-keep-cr", "--quoted-cr=strip");

	append_mail(mail, patch);
	if (!git_run(stage, slot->src, GIT_ARGS("rev-parse", "--verify", "HEAD"), &before, &error) ||
	    !git_try_input(stage, slot->src, args, (const char *)mail->data, mail->len, &result, &error))
		return stage_fail_error(stage, "worktree", g_steal_pointer(&error));
	if (result.status != 0) {
		g_autofree char *words = g_strconcat(result.output, result.errors, NULL);
		return fail_apply(stage, source, patch, words);
	}
	return check_applied(stage, slot, patch, before);
}

static gboolean apply_series(StageContext *stage, Slot *slot, const Series *series, Source *source)
{
	if (!keep_series(stage, series))
		return FALSE;
	for (guint i = 0; i < series->patches->len; i++) {
		const SeriesPatch *patch = g_ptr_array_index(series->patches, i);

		stage_progress(stage, "applying the series", i, series->patches->len, -1);
		if (!apply_patch(stage, slot, source, patch))
			return FALSE;
		add_listed(source, patch->subject, patch->author, (int)g_strv_length(patch->files));
	}
	return take_head(stage, slot, source);
}

static gboolean load_series(StageContext *stage, Series **ret_series)
{
	g_autofree char *path = g_build_filename(stage->dir, "series.mbox", NULL), *data = NULL;
	g_autoptr(GError) error = NULL;
	gsize size;

	*ret_series = NULL;
	if (!stage->spec->has_series)
		return TRUE;
	if (!file_read(path, SERIES_MAX_BYTES, &data, &size, &error))
		return stage_fail_error(stage, "run-directory", g_steal_pointer(&error));
	if (!series_parse(data, size, ret_series, &error))
		return stage_fail(stage, "apply-failed", "series-invalid", "patched", NULL, "%s", error->message);
	return TRUE;
}

gboolean source_prepare(StageContext *stage, Slot *slot, Source **ret_source)
{
	g_autoptr(Source) source = g_new0(Source, 1);
	g_autoptr(Series) series = NULL;

	source->patches = json_array_new();
	stage_progress(stage, "checking out the base", 0, 0, -1);
	if (!load_series(stage, &series) || !choose_base(stage, series, source) || !describe_base(stage, slot, source) ||
	    !source_checkout(stage, slot, source->base_commit))
		return FALSE;
	if (!(series ? apply_series(stage, slot, series, source) : use_head(stage, slot, source)))
		return FALSE;
	*ret_source = g_steal_pointer(&source);
	return TRUE;
}
