/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The sink that every page is written into, and its escapers. Text from
 * outside (subjects, authors, file names, logs, messages) reaches a page only
 * through html_text(), html_attr() and html_url(); html_raw() takes string
 * literals and nothing else.
 *
 * Strings may hold any bytes: what is not UTF-8, and control characters that
 * HTML does not allow, come out as U+FFFD. NULL is an empty string.
 */
#pragma once

#include <glib.h>

typedef struct Html Html;

Html *html_new(void);
void html_free(Html *html);	/* NULL is fine */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Html, html_free)

/* What was written so far; the sink is empty afterwards. The caller's. */
char *html_take(Html *html, gsize *ret_size);

/* Markup. "" literal "" does not compile for anything but a literal. */
#define html_raw(html, literal) html_raw_literal((html), "" literal "")
void html_raw_literal(Html *html, const char *literal);

/* Between tags. */
void html_text(Html *html, const char *text);
void html_textf(Html *html, const char *format, ...) G_GNUC_PRINTF(2, 3);

/* Inside an attribute's double quotes. */
void html_attr(Html *html, const char *value);
void html_attrf(Html *html, const char *format, ...) G_GNUC_PRINTF(2, 3);

/* One path segment or query value of a link, inside double quotes: all but [A-Za-z0-9._~-] is percent-encoded. */
void html_url(Html *html, const char *segment);
