/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What all subcommands share: their options, their complaints, the job's number. */
#pragma once

#include "client/client.h"
#include "client/remote.h"
#include "jobs/spec/peek.h"
#include "jobs/spec/text.h"

typedef struct {
	char *server, *token_file;
	gboolean json;
	char **words;	/* what is no option */
} Common;

/* An option that is a field of the job. */
typedef struct {
	const char *option, *field, *help, *value;
} FieldOption;

/* Entries for rows, whose texts go to values: n of each. */
void options_add_fields(GOptionEntry *entries, const FieldOption *rows, char **values, int n);

void common_clear(Common *common);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Common, common_clear)

/*
 * Parses argv: --server, --token-file, --json if with_json, the subcommand's own entries
 * (NULL: none), --help. usage: what follows the subcommand's name; summary: a
 * sentence. Between min_words and max_words words are left (-1: no limit).
 * FALSE: said why, the exit status is EXIT_USAGE.
 */
gboolean options_parse(int argc, char **argv, const GOptionEntry *entries, gboolean with_json, const char *usage,
		       const char *summary, int min_words, int max_words, Common *common);

/* name is the subcommand's, for complaints. */

/* The lab, or NULL and said why. */
Remote *options_remote(const char *name, const Common *common);

/* "7" or the address of its page. FALSE: said why. */
gboolean options_job(const char *name, const char *word, gint64 *ret_job);

/* "regrlab NAME: MESSAGE" on stderr; returns EXIT_TROUBLE. */
int options_trouble(const char *name, const GError *error);

/* Prints an object as it is. */
void options_print_json(JsonObject *object);

/* Prints, as what a terminal may be sent. */
void options_print(const char *text);
