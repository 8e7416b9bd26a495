/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * git, run by a stage: no hooks, no user or system configuration, no filters,
 * no helpers, no editor, no network but in git_fetch(). What is committed has
 * a fixed committer, so the same patches on the same base give the same hash.
 * dir is the tree, which git reads, or a folder that git writes.
 */
#pragma once

#include "jobs/stage.h"

#define GIT_TIMEOUT_MS		(10 * 60 * 1000)
#define GIT_FETCH_TIMEOUT_MS	(30 * 60 * 1000)

#define GIT_ARGS(...) ((const char *const[]){ __VA_ARGS__, NULL })

/*
 * "git -C DIR ARGS": TRUE if it ran, whatever it exited with. ret_result is
 * the caller's to clear.
 */
gboolean git_try(StageContext *stage, const char *dir, const char *const *args, ChildResult *ret_result, GError **error);

/* The same with something on its standard input. */
gboolean git_try_input(StageContext *stage, const char *dir, const char *const *args, const char *input, gsize size,
		       ChildResult *ret_result, GError **error);

/* git_try(); an exit status other than 0 is an error (CHILD_ERROR_FAILED). ret_output (may be NULL): stdout without its last newline. */
gboolean git_run(StageContext *stage, const char *dir, const char *const *args, char **ret_output, GError **error);

/* Checks out a commit, detached; how far it is, is the progress of the step that is shown. */
gboolean git_checkout(StageContext *stage, const char *dir, const char *commit, GError **error);

/* Fetches the branches of a remote of the tree. */
gboolean git_fetch(StageContext *stage, const char *remote, GError **error);

/*
 * NAME to the hash of a commit: as it stands, then as a branch of the remote
 * (may be empty). *ret_commit is NULL if the repository has no such commit.
 */
gboolean git_find_commit(StageContext *stage, const char *dir, const char *name, const char *remote, char **ret_commit,
			 GError **error);
