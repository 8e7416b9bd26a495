/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Text as what troff takes for it, with the macros of man(7). */
#pragma once

#include <glib.h>

/* Appends it so that it is shown as it is: no escape, no request, hyphens that can be copied. */
void roff_text(GString *out, const char *text);

/* ".TP", the words in bold, and the text below them. */
void roff_item(GString *out, const char *words, const char *text);

/* Paragraphs; lines that begin with a blank are shown as they stand. */
void roff_paragraphs(GString *out, const char *text);
