/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a program of ours says to --help, as parts. */
#pragma once

#include <glib.h>

typedef struct {
	char *name;	/* "-s, --server=URL", or a command */
	char *text;
} HelpRow;

typedef struct {
	char *usage;	/* one line, without the program's name */
	char *summary;	/* paragraphs and lists as they are, what comes before the options; may be empty */
	GPtrArray *options;	/* of HelpRow, owned; but --help */
	GPtrArray *commands;	/* of HelpRow, owned */
} Help;

/* argv: NULL-terminated, with --help. */
Help *help_of(const char *const *argv, GError **error);
void help_free(Help *help);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Help, help_free)

char *help_long_name(const HelpRow *option);	/* "--server"; the caller's */
gboolean help_takes_value(const HelpRow *option);
