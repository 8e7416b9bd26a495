/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/reload.h"

#include "daemon/config-keys.h"

typedef struct {
	guint changed;
	GStrvBuilder *restart;
} Changes;

void reload_clear(Reload *reload)
{
	g_strfreev(reload->restart);
}

static void apply_keys(const char *section, const char *name, gpointer now, gconstpointer fresh, Changes *changes)
{
	for (gsize i = 0; i < config_n_keys; i++) {
		const ConfigKey *key = &config_keys[i];
		g_autofree char *old = NULL, *text = NULL, *label = NULL, *allowed = NULL;

		if (!g_str_equal(key->section, section))
			continue;
		old = config_key_text(key, now);
		text = config_key_text(key, fresh);
		if (g_str_equal(old, text))
			continue;
		if (key->live && config_key_set(key, now, text, &allowed)) {
			changes->changed++;
			continue;
		}
		label = g_strdup_printf("[%s%s%s] %s", section, name ? " " : "", name ? name : "", key->key);
		g_strv_builder_add(changes->restart, label);
	}
}

static void add_section(const char *section, const char *name, Changes *changes)
{
	g_autofree char *label = g_strdup_printf("[%s %s]", section, name);

	g_strv_builder_add(changes->restart, label);
}

static ConfigTree *tree_of(const Config *config, const char *name)
{
	return (ConfigTree *)config_tree(config, name);
}

static ConfigHost *host_of(const Config *config, const char *name)
{
	return (ConfigHost *)config_host(config, name);
}

static void apply_trees(Config *now, const Config *fresh, Changes *changes)
{
	for (guint i = 0; i < fresh->trees->len; i++) {
		const ConfigTree *tree = g_ptr_array_index(fresh->trees, i);

		if (tree_of(now, tree->name))
			apply_keys("tree", tree->name, tree_of(now, tree->name), tree, changes);
		else
			add_section("tree", tree->name, changes);
	}
	for (guint i = 0; i < now->trees->len; i++) {
		const ConfigTree *tree = g_ptr_array_index(now->trees, i);

		if (!tree_of(fresh, tree->name))
			add_section("tree", tree->name, changes);
	}
}

static void apply_hosts(Config *now, const Config *fresh, Changes *changes)
{
	for (guint i = 0; i < fresh->hosts->len; i++) {
		const ConfigHost *host = g_ptr_array_index(fresh->hosts, i);

		if (host_of(now, host->name))
			apply_keys("host", host->name, host_of(now, host->name), host, changes);
		else
			add_section("host", host->name, changes);
	}
	for (guint i = 0; i < now->hosts->len; i++) {
		const ConfigHost *host = g_ptr_array_index(now->hosts, i);

		if (!host_of(fresh, host->name))
			add_section("host", host->name, changes);
	}
}

void reload_apply(Config *now, const Config *fresh, Reload *ret_reload)
{
	g_autoptr(GStrvBuilder) restart = g_strv_builder_new();
	Changes changes = { .restart = restart };

	for (gsize i = 0; i < config_n_sections; i++)
		if (!config_sections[i].name)
			apply_keys(config_sections[i].section, NULL, now, fresh, &changes);
	apply_trees(now, fresh, &changes);
	apply_hosts(now, fresh, &changes);
	*ret_reload = (Reload){ changes.changed, g_strv_builder_end(restart) };
}
