/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table of configuration keys, and how a value of each kind is read and written. */
#pragma once

#include "daemon/config.h"

typedef enum {
	CONFIG_TEXT,		/* char *, any text */
	CONFIG_PATH,		/* char *, absolute */
	CONFIG_FOLDER,		/* the same, or empty */
	CONFIG_CPUS,		/* char *, "0-3,8" or empty */
	CONFIG_ADDRESS,		/* char *, an address of IPv4 or IPv6 */
	CONFIG_NETWORKS,	/* char *, addresses and networks with commas between them; may be empty */
	CONFIG_URL,		/* char *, http or https, no slash at its end; may be empty */
	CONFIG_REF,		/* char *, a branch or remote of git; may be empty */
	CONFIG_LABELS,		/* char **, names separated by commas; may be empty */
	CONFIG_POLICY,		/* char *, strict or warn */
	CONFIG_REQUIRE,		/* char *, words of host/policy.h; may be empty */
	CONFIG_INT,		/* int */
	CONFIG_BOOL,		/* gboolean, yes or no */
} ConfigKind;

typedef struct {
	const char *section;	/* daemon, access, build, retention, tree or host; the last two have a name behind them */
	const char *key;
	ConfigKind kind;
	gsize offset;		/* in Config, ConfigTree or ConfigHost */
	int min, max;		/* of CONFIG_INT */
	const char *standard;	/* the default; NULL: the key must be there */
	const char *unit;	/* NULL: none */
	const char *help;
} ConfigKey;

extern const ConfigKey config_keys[];
extern const gsize config_n_keys;

/* Sets the member of record from text, or says what is allowed instead. */
gboolean config_key_set(const ConfigKey *key, gpointer record, const char *text, char **ret_allowed);
char *config_key_text(const ConfigKey *key, gconstpointer record);	/* the caller's */
char *config_key_allowed(const ConfigKey *key);				/* "a whole number from 1 to 65535"; the caller's */
void config_keys_clear(const char *section, gpointer record);		/* frees the strings */
