/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Where the client has its token from: --token-file, else $REGRLAB_TOKEN,
 * else regrlab/token in the user's configuration folder, if it is there. A
 * file that others can read is refused.
 */
#pragma once

#include <glib.h>

/* file: NULL if not asked for. *ret_token NULL: there is none; else the caller's. Errors are of REMOTE_ERROR. */
gboolean token_file_find(const char *file, char **ret_token, GError **error);
