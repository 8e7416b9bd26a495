/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The tables of the configuration: its sections and its keys, and how a value of each kind is read and written. The
 * example (deploy/regrlab.conf.example), regrlab.conf(5) and --print-config are made from them; one row adds a key.
 */
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
	CONFIG_USER,		/* char *, a user's name */
	CONFIG_LABELS,		/* char **, names separated by commas; may be empty */
	CONFIG_POLICY,		/* char *, strict or warn */
	CONFIG_REQUIRE,		/* char *, words of host/policy.h; may be empty */
	CONFIG_INT,		/* int */
	CONFIG_BOOL,		/* gboolean, yes or no */
} ConfigKind;

typedef struct {
	const char *section;
	const char *name;	/* of the example's; NULL: there is one such section, without a name behind it */
	const char *help;
} ConfigSection;

extern const ConfigSection config_sections[];
extern const gsize config_n_sections;

typedef struct {
	const char *section;	/* of config_sections */
	const char *key;
	ConfigKind kind;
	gsize offset;		/* in Config, ConfigTree or ConfigHost */
	int min, max;		/* of CONFIG_INT */
	const char *standard;	/* the default; NULL: the key must be there */
	const char *example;	/* of one that must be there */
	const char *unit;	/* NULL: none */
	gboolean live;		/* a change takes effect on reload; else when the daemon is started again */
	const char *help;
} ConfigKey;

extern const ConfigKey config_keys[];
extern const gsize config_n_keys;

/* Sets the member of record from text, or says what is allowed instead. */
gboolean config_key_set(const ConfigKey *key, gpointer record, const char *text, char **ret_allowed);
char *config_key_text(const ConfigKey *key, gconstpointer record);	/* the caller's */
char *config_key_allowed(const ConfigKey *key);				/* "a whole number from 1 to 65535"; the caller's */
void config_keys_clear(const char *section, gpointer record);		/* frees the strings */
