/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

/* Numbers that cost time to find, kept in a file whose name is a digest of all that went in. A file that is cut off,
 * changed or not readable is as none, and a folder that cannot be written costs only the time. */

#include <glib.h>

/* inputs: text of all that the values depend on, whoever they are of. dir NULL: FALSE. */
gboolean stats_values_read(const char *dir, const char *inputs, gsize count, double *ret_values);
void stats_values_write(const char *dir, const char *inputs, const double *values, gsize count);
