/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The first error in what make, the compiler and the linker say, with the
 * lines around it. Fed as output comes; keeps a few kilobytes.
 */
#pragma once

#include <json-glib/json-glib.h>

typedef struct BuildErrors BuildErrors;

/* source: the tree's path, taken off file names. */
BuildErrors *build_errors_new(const char *source);
void build_errors_free(BuildErrors *errors);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(BuildErrors, build_errors_free)

/* One line without its newline. */
void build_errors_line(BuildErrors *errors, const char *line);

/* A program below make was killed by somebody, or found no room to run: the build has not failed, it was ended. */
gboolean build_errors_disturbed(const BuildErrors *errors);

/*
 * {file, line, error, context}: a compiler's error before one of the linker
 * before one of make or another tool, each the first of its kind; file empty
 * and line 0 if it names none. Nothing found: the last lines as context.
 */
JsonObject *build_errors_detail(const BuildErrors *errors);
