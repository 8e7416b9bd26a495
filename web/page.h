/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What all pages share: the frame around them, and small pieces of them.
 * A page is one function that takes a view (records and a time, never a
 * database) and gives the whole document; it cannot fail.
 */
#pragma once

#include "web/html.h"

typedef struct {
	const char *title;	/* of the document; " - regrlab" is added */
	int refresh_s;		/* the page asks for itself again after so many seconds; 0: never */
	const char *path;	/* of the entry of the navigation that it belongs to: "/hosts"; NULL: none */
	const char *json;	/* address of the same as JSON; NULL: there is none */
} PageFrame;

/* Up to <main>, and from </main> on. */
void page_begin(Html *html, const PageFrame *frame);
void page_end(Html *html);

/* "2026-11-30 22:05:01 UTC" in a <time> element; a dash for 0. */
void page_time(Html *html, gint64 time_ns);

/* "1.3 s" */
void page_duration(Html *html, gint64 ns);

/* <dt>name</dt><dd>value</dd>; nothing at all if value is NULL or empty. */
void page_fact(Html *html, const char *name, const char *value);
void page_factf(Html *html, const char *name, const char *format, ...) G_GNUC_PRINTF(3, 4);

/* <th scope="col">name</th> for each; ends with NULL. */
void page_columns(Html *html, const char *const *names);

/* <td>text</td> */
void page_cell(Html *html, const char *text);
