/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A configuration file while it is read: its groups and keys, and all that is wrong with it, each with its line.
 * A line that is no key file's is complained about and left out, so that what is wrong behind it is found, too.
 */
#pragma once

#include "daemon/config.h"

typedef struct ConfigFile ConfigFile;

/* name: what complaints call it; borrowed. Never NULL. */
ConfigFile *config_file_parse(const char *name, const char *data, gsize size);
void config_file_free(ConfigFile *file);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(ConfigFile, config_file_free)

GKeyFile *config_file_keys(const ConfigFile *file);	/* borrowed */

/* key: NULL: the group as a whole. Where the file has neither, the complaint has no line. */
void config_file_complain(ConfigFile *file, ConfigError code, const char *group, const char *key, const char *format, ...)
	G_GNUC_PRINTF(5, 6);

/* TRUE: nothing is wrong. Else an error with the code of the first complaint and all of them, a line each, in the file's order. */
gboolean config_file_good(ConfigFile *file, GError **error);
