/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a mail asks for: lines that begin with "#regrlab". Quoted lines are
 * none, nor is what stands below a signature's "-- ".
 *
 *   #regrlab test: [TREE] [COMMIT] [<MESSAGE-ID> or its link] [name=value …]
 *   #regrlab more [JOB] [boots=N]
 *   #regrlab cancel [JOB]
 *   #regrlab bisect: GOOD BAD BENCHMARK
 *   #regrlab no-mail [list]
 */
#pragma once

#include <glib.h>

#define COMMAND_MAX		4	/* in one mail */
#define COMMAND_MAX_WORDS	40	/* in one line */

typedef enum { VERB_NONE, VERB_TEST, VERB_MORE, VERB_CANCEL, VERB_BISECT, VERB_NO_MAIL, VERB_N } Verb;

typedef struct {
	char *name, *value;	/* a field of POST /jobs */
} CommandField;

typedef struct {
	Verb verb;		/* VERB_NONE: unknown */
	char *line;		/* as it was written, one line, UTF-8 */
	char *problem;		/* a sentence for who wrote it; NULL: well-formed, all below holds */
	char *tree, *commit;	/* test: or empty */
	char *message_id;	/* test: of the series that is meant, or empty: the thread's */
	GPtrArray *fields;	/* test: of CommandField, owned, in their order */
	gint64 job;		/* more, cancel; 0: the thread's */
	int boots;		/* more */
	char *good, *bad, *benchmark;	/* bisect */
	gboolean whole_list;	/* no-mail: for the list, not the sender alone */
} Command;

const char *verb_name(Verb verb);	/* "" for none */

/* Of Command, owned; more than COMMAND_MAX: the last has that as its problem. */
GPtrArray *commands_find(const char *text);
void command_free(Command *command);

/* How to write them: lines for a reply, none of which is a command itself. */
const char *commands_help(void);

/* The Message-ID in "<id>" or in a link to an archive; NULL: it is neither. The caller's. */
char *command_message_id(const char *word);
