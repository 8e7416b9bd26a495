/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The two commits of a job: base, found in the tree, and patched, made by
 * applying the series on it or found too. Functions that return FALSE have
 * called stage_fail().
 */
#pragma once

#include "jobs/source-slot.h"

typedef struct {
	char *base_commit, *base_tree;		/* hashes of a commit and of its tree */
	char *base_subject;
	const char *base_chosen_by;		/* as in the 'source' event */
	char *patched_commit, *patched_tree;
	JsonArray *patches;			/* of the 'source' event */
} Source;

void source_free(Source *source);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Source, source_free)

/*
 * Finds base (asked for, else the series' base-commit trailer if the tree has
 * it, else the tree's default branch; fetched from the tree's remote when it
 * is missing), checks it out in the slot and applies the series, one patch at
 * a time, each as one commit. Ends apply-failed with a reason: base-not-found,
 * head-not-found, series-invalid, patch-does-not-apply (detail {patch,
 * subject, file, hunk, git}), unsafe-change.
 */
gboolean source_prepare(StageContext *stage, Slot *slot, Source **ret_source);

/* The members of a 'source' event; the caller's. */
JsonObject *source_event(const Source *source);

/* The slot's src at a commit, with nothing else in it, ignored files included. */
gboolean source_checkout(StageContext *stage, Slot *slot, const char *commit);

/*
 * What git said about a patch that does not apply: the file and the line of
 * the first hunk that fails. NULL and 0 if it said neither.
 */
void source_parse_failure(const char *git_words, char **ret_file, int *ret_line);

/* The "@@ ... @@" line of the hunk of file that starts at line; NULL: none. */
char *source_find_hunk(const char *mail, gsize size, const char *file, int line);
