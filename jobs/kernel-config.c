/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "jobs/kernel-config.h"

#include <string.h>

#include "jobs/spec/benchmark.h"

#define BASE_LINE "# base:"

/* A kernel without one of these never says hello. */
static const char *const guest_needs[] = {
	"CONFIG_64BIT=y",	"CONFIG_PRINTK=y",	"CONFIG_TTY=y",		   "CONFIG_SERIAL_8250_CONSOLE=y",
	"CONFIG_BLK_DEV_INITRD=y", "CONFIG_BINFMT_ELF=y", "CONFIG_PROC_FS=y",	   "CONFIG_SYSFS=y",
	"CONFIG_DEVTMPFS=y",	"CONFIG_TMPFS=y",	"CONFIG_PCI=y",		   "CONFIG_VIRTIO_PCI=y",
	"CONFIG_VIRTIO_CONSOLE=y",
};

/* The release string must not differ with the commit: it is part of the image. */
const char config_lab_fragment[] = "CONFIG_LOCALVERSION=\"\"\n"
				   "# CONFIG_LOCALVERSION_AUTO is not set\n";

/* ---- needs ---- */

static void need_free(gpointer data)
{
	ConfigNeed *need = data;

	g_free(need->option);
	g_free(need->value);
	g_free(need->by);
	g_free(need);
}

static void add_need(GPtrArray *needs, const char *text, const char *by)
{
	const char *equals = strchr(text, '=');
	ConfigNeed *need = g_new0(ConfigNeed, 1);

	g_assert(equals);	/* benchmark_load() has looked */
	need->option = g_strndup(text, (gsize)(equals - text));
	need->value = g_strdup(equals + 1);
	need->by = g_strdup(by);
	g_ptr_array_add(needs, need);
}

gboolean config_needs(const char *dir, char **benchmarks, GPtrArray **ret_needs, GError **error)
{
	g_autoptr(GPtrArray) needs = g_ptr_array_new_with_free_func(need_free);

	for (gsize i = 0; i < G_N_ELEMENTS(guest_needs); i++)
		add_need(needs, guest_needs[i], "the guest");
	for (; *benchmarks; benchmarks++) {
		g_autoptr(Benchmark) benchmark = benchmark_load(dir, *benchmarks, error);
		if (!benchmark)
			return FALSE;
		for (char **text = benchmark->needs; *text; text++)
			add_need(needs, *text, benchmark->name);
	}
	*ret_needs = g_steal_pointer(&needs);
	return TRUE;
}

static void append_option(GString *text, const char *option, const char *value)
{
	if (g_str_equal(value, "n"))
		g_string_append_printf(text, "# %s is not set\n", option);
	else
		g_string_append_printf(text, "%s=%s\n", option, value);
}

char *config_needs_fragment(GPtrArray *needs)
{
	GString *text = g_string_new(NULL);

	for (guint i = 0; i < needs->len; i++) {
		const ConfigNeed *need = g_ptr_array_index(needs, i);
		append_option(text, need->option, need->value);
	}
	return g_string_free(text, FALSE);
}

/* ---- lines ---- */

/* "CONFIG_X=value" or "# CONFIG_X is not set" (value "n"). FALSE: neither. */
static gboolean parse_line(const char *line, char **ret_option, char **ret_value)
{
	static const char unset[] = " is not set";
	gboolean comment = g_str_has_prefix(line, "# CONFIG_");
	const char *name = comment ? line + 2 : line;
	gsize size = 0;

	if (!g_str_has_prefix(name, "CONFIG_"))
		return FALSE;
	while (g_ascii_isalnum(name[size]) || name[size] == '_')
		size++;
	if (comment ? !g_str_has_prefix(name + size, unset) : name[size] != '=')
		return FALSE;
	*ret_option = g_strndup(name, size);
	*ret_value = comment ? g_strdup("n") : g_strchomp(g_strdup(name + size + 1));
	return TRUE;
}

/* option -> value of the last line that sets it. */
static GHashTable *parse_config(const char *config)
{
	GHashTable *options = g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
	g_auto(GStrv) lines = g_strsplit(config, "\n", 0);

	for (char **line = lines; *line; line++) {
		char *option, *value;
		if (parse_line(*line, &option, &value))
			g_hash_table_replace(options, option, value);
	}
	return options;
}

char *config_merge(const char *base, const char *fragment)
{
	g_autoptr(GHashTable) options = parse_config(fragment);
	g_auto(GStrv) lines = g_strsplit(base, "\n", 0);
	g_auto(GStrv) added = g_strsplit(fragment, "\n", 0);
	GString *text = g_string_new(NULL);

	for (char **line = lines; *line; line++) {
		g_autofree char *option = NULL, *value = NULL;
		if (**line && (!parse_line(*line, &option, &value) || !g_hash_table_contains(options, option)))
			g_string_append_printf(text, "%s\n", *line);
	}
	for (char **line = added; *line; line++) {
		g_autofree char *option = NULL, *value = NULL;
		if (!parse_line(*line, &option, &value) || !g_hash_table_contains(options, option))
			continue;
		append_option(text, option, g_hash_table_lookup(options, option));
		g_hash_table_remove(options, option);
	}
	return g_string_free(text, FALSE);
}

char *config_value(const char *config, const char *option)
{
	g_autoptr(GHashTable) options = parse_config(config);
	const char *value = g_hash_table_lookup(options, option);

	return g_strdup(value ? value : "n");
}

const ConfigNeed *config_lost(const char *config, GPtrArray *needs)
{
	g_autoptr(GHashTable) options = parse_config(config);

	for (guint i = 0; i < needs->len; i++) {
		const ConfigNeed *need = g_ptr_array_index(needs, i);
		const char *value = g_hash_table_lookup(options, need->option);
		if (!g_str_equal(value ? value : "n", need->value))
			return need;
	}
	return NULL;
}

static gboolean is_target(const char *word)
{
	for (const char *p = word; *p; p++)
		if (!g_ascii_isalnum(*p) && !strchr("_.-", *p))
			return FALSE;
	return *word != '-' && g_str_has_suffix(word, "config");
}

char **config_base_targets(const char *fragment, GError **error)
{
	if (!g_str_has_prefix(fragment, BASE_LINE)) {
		spec_error_set(error, SPEC_ERROR_SYNTAX, "config", "its first line is not '" BASE_LINE " TARGET'");
		return NULL;
	}

	const char *start = fragment + strlen(BASE_LINE);
	g_autofree char *line = g_strndup(start, strcspn(start, "\n"));
	g_auto(GStrv) words = g_strsplit_set(line, " \t\r", 0);
	g_autoptr(GStrvBuilder) targets = g_strv_builder_new();
	gsize count = 0;

	for (char **word = words; *word; word++) {
		if (!**word)
			continue;
		if (!is_target(*word)) {
			spec_error_set(error, SPEC_ERROR_VALUE, "config", "'%s' is not a target that makes a configuration", *word);
			return NULL;
		}
		g_strv_builder_add(targets, *word);
		count++;
	}
	if (count == 0) {
		spec_error_set(error, SPEC_ERROR_MISSING, "config", "'" BASE_LINE "' names no target");
		return NULL;
	}
	return g_strv_builder_end(targets);
}
