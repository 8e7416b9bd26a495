/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which paths a patch touches, and whether it may. Used by series.c alone. */
#pragma once

#include <glib.h>

#include "jobs/spec/error.h"

/*
 * Scans a decoded mail body for diffs: "diff --git", or "---" and "+++" lines.
 * Hunks are skipped by their line counts, so a removed line that looks like a
 * header is none. Appends each path once (newly allocated, without its a/ or
 * b/) to files; nothing is appended if there is no diff.
 * An unsafe path or mode, or a hunk header that is none, is an error (UNSAFE,
 * SYNTAX) that names the path.
 */
gboolean diff_scan(const char *body, gsize size, GPtrArray *files, GError **error);

/* Absolute, empty, with a component "..", "." or ".git" (any case, also git~1), or with control characters. */
gboolean diff_path_is_unsafe(const char *path);
