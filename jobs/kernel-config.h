/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Kernel configurations as text. A fragment is lines "CONFIG_X=value" and
 * "# CONFIG_X is not set"; all else in it is comment. Pure.
 */
#pragma once

#include <json-glib/json-glib.h>

#include "jobs/spec/error.h"

#define CONFIG_MAX_BYTES	(1024 * 1024)

/* An option that somebody needs: "CONFIG_LRU_GEN=y" by "aging". */
typedef struct {
	char *option;	/* CONFIG_LRU_GEN */
	char *value;	/* y; n: must not be set */
	char *by;	/* a benchmark's name, or "the guest" */
} ConfigNeed;

/*
 * What the guest needs to start at all and to speak to us, and what the
 * benchmarks need: an array of ConfigNeed, the caller's. dir: of NAME.ini.
 */
gboolean config_needs(const char *dir, char **benchmarks, GPtrArray **ret_needs, GError **error);

/* The needs as a fragment. */
char *config_needs_fragment(GPtrArray *needs);

/* What every kernel of the lab has, so that two arms differ in nothing but the patch: a fragment. */
extern const char config_lab_fragment[];

/* base with the options of fragment in the place of its own. The caller's. */
char *config_merge(const char *base, const char *fragment);

/* The value of an option: "y", "m", "64", "\"text\"", "n" if it is not set. The caller's. */
char *config_value(const char *config, const char *option);

/*
 * The first need that config does not meet; NULL: all are met. y is not met
 * by m: the guest has no modules.
 */
const ConfigNeed *config_lost(const char *config, GPtrArray *needs);

/*
 * make targets of the first line "# base: TARGET [TARGET]"; NULL-terminated,
 * the caller's. No such line: NULL (a whole configuration, not a fragment).
 */
char **config_base_targets(const char *fragment, GError **error);
