/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Figures for people, the same in reasons, tables, sentences and pages, and the same in every locale. */

#include <glib.h>

/* Four significant digits, at most eight characters: "32.9", "118225", "1.234G"; NaN is "-". */
void stats_append_figure(GString *out, double value);
/* A percentage with its sign, at most six characters: "-17.9%", "+0.02%", ">9999%"; NaN is "-". */
void stats_append_percent(GString *out, double percent);
/* The size of a percentage in words: "18 %", "0.42 %". */
void stats_append_share(GString *out, double percent);
