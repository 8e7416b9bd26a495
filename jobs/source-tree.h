/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where a configured tree keeps what git needs of it: its folders are all that git sees in the sandbox. */
#pragma once

#include "jobs/sandbox.h"

typedef struct {
	char *link;	/* of a linked worktree: its file .git; else NULL */
	char *git;	/* the git folder of the tree */
	char *common;	/* the same, or of the repository that the tree is a worktree of */
	char **objects;	/* of common, and those that it borrows from */
} TreeFolders;

/* A bare repository, a checkout or a linked worktree. The caller's. */
gboolean tree_folders(const char *tree, TreeFolders **ret_folders, GError **error);
void tree_folders_free(TreeFolders *folders);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(TreeFolders, tree_folders_free)

/* Into a view, which borrows the strings: the objects alone, or everything. */
void tree_folders_show_objects(const TreeFolders *folders, SandboxView *view);
void tree_folders_show_all(const TreeFolders *folders, SandboxView *view, gboolean writable);
