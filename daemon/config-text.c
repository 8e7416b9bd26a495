/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The table of keys as a configuration file: with values, or as the example. */
#include <string.h>

#include "daemon/config-keys.h"

#define COLUMNS 78

/* With escapes where a key file needs them, so that it is read back as it was. */
static char *escaped(const char *value)
{
	g_autoptr(GKeyFile) file = g_key_file_new();

	g_key_file_set_string(file, "x", "x", value);
	return g_key_file_get_value(file, "x", "x", NULL);
}

static void append_comment(GString *text, const char *words)
{
	g_auto(GStrv) all = g_strsplit(words, " ", -1);
	gsize column = 1;

	g_string_append_c(text, '#');
	for (char **word = all; *word; word++) {
		if (column + 1 + strlen(*word) > COLUMNS) {
			g_string_append(text, "\n#");
			column = 1;
		}
		g_string_append_printf(text, " %s", *word);
		column += 1 + strlen(*word);
	}
	g_string_append_c(text, '\n');
}

static void append_meaning(GString *text, const ConfigKey *key)
{
	g_autofree char *allowed = config_key_allowed(key), *range = NULL;

	range = g_strconcat(allowed, key->unit ? ", " : "", key->unit ? key->unit : "", "; ",
			    key->standard ? "default: " : "must be there",
			    !key->standard ? "" : *key->standard ? key->standard : "empty", NULL);
	append_comment(text, key->help);
	append_comment(text, range);
}

static void append_group(GString *text, const char *section, const char *name, gconstpointer record)
{
	g_string_append_printf(text, "%s[%s%s%s]\n", text->len ? "\n" : "", section, name ? " " : "", name ? name : "");
	for (gsize i = 0; i < config_n_keys; i++) {
		const ConfigKey *key = &config_keys[i];
		g_autofree char *plain = NULL, *value = NULL;

		if (!g_str_equal(key->section, section))
			continue;
		plain = config_key_text(key, record);
		value = escaped(plain);
		append_meaning(text, key);
		g_string_append_printf(text, "%s=%s\n", key->key, value);
	}
}

char *config_to_text(const Config *config)
{
	g_autoptr(GString) text = g_string_new(NULL);

	for (gsize i = 0; i < config_n_sections; i++)
		if (!config_sections[i].name)
			append_group(text, config_sections[i].section, NULL, config);
	for (guint i = 0; i < config->trees->len; i++) {
		const ConfigTree *tree = g_ptr_array_index(config->trees, i);

		append_group(text, "tree", tree->name, tree);
	}
	for (guint i = 0; i < config->hosts->len; i++) {
		const ConfigHost *host = g_ptr_array_index(config->hosts, i);

		append_group(text, "host", host->name, host);
	}
	return g_string_free(g_steal_pointer(&text), FALSE);
}

static void append_example(GString *text, const ConfigSection *section)
{
	g_string_append_c(text, '\n');
	append_comment(text, section->help);
	g_string_append_printf(text, "[%s%s%s]\n", section->section, section->name ? " " : "", section->name ? section->name : "");
	for (gsize i = 0; i < config_n_keys; i++) {
		const ConfigKey *key = &config_keys[i];

		if (!g_str_equal(key->section, section->section))
			continue;
		g_string_append_c(text, '\n');
		append_meaning(text, key);
		g_string_append_printf(text, "%s%s=%s\n", key->standard ? "#" : "", key->key, key->standard ? key->standard : key->example);
	}
}

char *config_example(void)
{
	g_autoptr(GString) text = g_string_new("# SPDX-License-Identifier: GPL-2.0-or-later\n");

	append_comment(text, "Configuration of regrlabd, " CONFIG_FILE ": sections and keys as in regrlab.conf(5). Only a tree must be "
			     "there; what is commented out shows the default. This file is made from the daemon's own table. Check a "
			     "change with regrlabd --check-config; what is in force now: regrlabd --print-config.");
	for (gsize i = 0; i < config_n_sections; i++)
		append_example(text, &config_sections[i]);
	return g_string_free(g_steal_pointer(&text), FALSE);
}
