/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Text for people, the same in pages, reports and on terminals. */
#pragma once

#include <glib.h>

/* "1.3 s", "42 s", "4 min 12 s", "2 h 05 min"; empty below 0. The caller's. */
char *text_duration(gint64 ns);

/*
 * What a terminal or a mail may be sent of a text from outside: valid UTF-8, controls other than tab and newline
 * replaced by '?'. NULL is an empty string. The caller's.
 */
char *text_plain(const char *text);

/*
 * Appends words, broken at spaces so that lines have at most width columns. column says where this line is; every
 * further one begins with indent spaces. Ends with a newline.
 */
void text_wrap(GString *out, const char *text, guint indent, guint column, guint width);

/* Plain-text reports and mails, of texts from outside: lines of TEXT_WIDTH columns, as mail has them. */
#define TEXT_WIDTH	72
#define TEXT_NAME_WIDTH	14	/* of the facts' names, two spaces before them */

void text_paragraph(GString *out, const char *text);	/* and an empty line */

/* "  name          value", left out if there is no value. */
void text_fact(GString *out, const char *name, const char *value);
void text_factf(GString *out, const char *name, const char *format, ...) G_GNUC_PRINTF(3, 4);

/*
 * The same as text_plain() for a stream that comes in pieces, for a log: a control is a blank, CR ends a line, a byte that is no UTF-8
 * is '?'. Zero is the start of a stream; what a piece ends in the middle of waits for the next.
 */
typedef struct {
	char bytes[4];	/* of a character that is not whole yet */
	gsize n, size;	/* how many are there, and wanted */
} TextStream;

void text_stream_add(TextStream *stream, const char *data, gsize size, GString *out);
