/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What all pages share: the frame around them, and small pieces of them.
 * A page is one function that takes a view (records and a time, never a
 * database) and gives the whole document; it cannot fail.
 */
#pragma once

#include "web/html.h"

typedef struct {
	const char *title;	/* of the document; "regrlab" is added */
	int refresh_s;		/* the page asks for itself again after so many seconds; 0: never */
	const char *json_url;	/* the same as JSON (a path of ours), or NULL */
} PageFrame;

void page_begin(Html *html, const PageFrame *frame);
void page_end(Html *html);

/* "2026-11-30 22:05:01 UTC" in a <time> element; a dash for 0. */
void page_time(Html *html, gint64 time_ns);

/* <dt>name</dt><dd>value</dd>; nothing at all if value is NULL or empty. */
void page_fact(Html *html, const char *name, const char *value);
