/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/config.h"

#include <string.h>

#include "daemon/address.h"
#include "daemon/config-file.h"
#include "daemon/config-keys.h"
#include "jobs/spec/file.h"
#include "jobs/spec/spec.h"

G_DEFINE_QUARK(regrlab-config-error, config_error)

static void tree_free(gpointer data)
{
	ConfigTree *tree = data;

	config_keys_clear("tree", tree);
	g_free(tree->name);
	g_free(tree);
}

static void host_free(gpointer data)
{
	ConfigHost *host = data;

	config_keys_clear("host", host);
	g_free(host->name);
	g_free(host);
}

void config_free(Config *config)
{
	if (!config)
		return;
	for (gsize i = 0; i < config_n_sections; i++)
		if (!config_sections[i].name)
			config_keys_clear(config_sections[i].section, config);
	g_clear_pointer(&config->trees, g_ptr_array_unref);
	g_clear_pointer(&config->hosts, g_ptr_array_unref);
	g_free(config);
}

/* "tree linux": the section tree, and *ret_name "linux". Those that are there once have no name: NULL. */
static const ConfigSection *find_section(const char *group, const char **ret_name)
{
	for (gsize i = 0; i < config_n_sections; i++) {
		const ConfigSection *section = &config_sections[i];
		gsize length = strlen(section->section);

		*ret_name = section->name ? group + length + 1 : NULL;
		if (section->name ? g_str_has_prefix(group, section->section) && group[length] == ' ' :
				    g_str_equal(group, section->section))
			return section;
	}
	return NULL;
}

static gboolean is_name(const char *text)
{
	if (!g_ascii_isalnum(*text) || strlen(text) > SPEC_MAX_NAME)
		return FALSE;
	for (; *text; text++)
		if (!g_ascii_isalnum(*text) && !strchr("_.-", *text))
			return FALSE;
	return TRUE;
}

static gboolean known_key(const char *section, const char *key)
{
	for (gsize i = 0; i < config_n_keys; i++)
		if (g_str_equal(config_keys[i].section, section) && g_str_equal(config_keys[i].key, key))
			return TRUE;
	return FALSE;
}

static char *keys_of(const char *section)
{
	g_autoptr(GString) text = g_string_new(NULL);

	for (gsize i = 0; i < config_n_keys; i++)
		if (g_str_equal(config_keys[i].section, section))
			g_string_append_printf(text, "%s%s", text->len ? ", " : "", config_keys[i].key);
	return g_string_free(g_steal_pointer(&text), FALSE);
}

static char *sections_text(void)
{
	g_autoptr(GString) text = g_string_new(NULL);

	for (gsize i = 0; i < config_n_sections; i++)
		g_string_append_printf(text, "%s[%s%s]", !i ? "" : i + 1 < config_n_sections ? ", " : " and ",
				       config_sections[i].section, config_sections[i].name ? " NAME" : "");
	return g_string_free(g_steal_pointer(&text), FALSE);
}

static void check_keys(ConfigFile *file, const char *group, const char *section)
{
	g_auto(GStrv) keys = g_key_file_get_keys(config_file_keys(file), group, NULL, NULL);
	g_autofree char *known = keys_of(section);

	for (char **key = keys; key && *key; key++)
		if (!known_key(section, *key))
			config_file_complain(file, CONFIG_ERROR_UNKNOWN, group, *key, "no such key; there are %s", known);
}

/* All keys of a section from one group; group NULL: none, all are defaults. What is not good is as its default. */
static void read_group(ConfigFile *file, const char *group, const char *section, gpointer record)
{
	for (gsize i = 0; i < config_n_keys; i++) {
		const ConfigKey *key = &config_keys[i];
		g_autofree char *text = NULL, *allowed = NULL;
		g_autoptr(GError) problem = NULL;

		if (!g_str_equal(key->section, section))
			continue;
		if (!config_key_set(key, record, key->standard ? key->standard : key->example, &allowed))
			g_assert_not_reached();
		if (group)
			text = g_key_file_get_string(config_file_keys(file), group, key->key, &problem);
		if (problem && problem->code != G_KEY_FILE_ERROR_KEY_NOT_FOUND)
			config_file_complain(file, CONFIG_ERROR_VALUE, group, key->key, "%s", problem->message);
		else if (!text && !key->standard)
			config_file_complain(file, CONFIG_ERROR_MISSING, group, NULL, "the key %s must be there: %s", key->key, key->help);
		else if (text && !config_key_set(key, record, text, &allowed))
			config_file_complain(file, CONFIG_ERROR_VALUE, group, key->key, "'%s' is not %s", text, allowed);
	}
	if (group)
		check_keys(file, group, section);
}

/* group: NULL: all are defaults */
static void read_named(Config *config, ConfigFile *file, const char *group, const char *section, const char *name)
{
	if (!is_name(name)) {
		config_file_complain(file, CONFIG_ERROR_VALUE, group, NULL,
				     "a name has letters, digits, '_', '.' and '-' and begins with a letter or digit");
		return;
	}
	if (g_str_equal(section, "tree")) {
		ConfigTree *tree = g_new0(ConfigTree, 1);

		tree->name = g_strdup(name);
		g_ptr_array_add(config->trees, tree);
		read_group(file, group, section, tree);
	} else {
		ConfigHost *host = g_new0(ConfigHost, 1);

		host->name = g_strdup(name);
		g_ptr_array_add(config->hosts, host);
		read_group(file, group, section, host);
	}
}

static void read_groups(Config *config, ConfigFile *file)
{
	g_auto(GStrv) groups = g_key_file_get_groups(config_file_keys(file), NULL);

	for (char **group = groups; *group; group++) {
		const char *name;
		const ConfigSection *section = find_section(*group, &name);
		g_autofree char *known = NULL;

		if (section && name)
			read_named(config, file, *group, section->section, name);
		if (section)
			continue;
		known = sections_text();
		config_file_complain(file, CONFIG_ERROR_UNKNOWN, *group, NULL, "no such section; there are %s", known);
	}
	for (gsize i = 0; i < config_n_sections; i++) {
		const char *section = config_sections[i].section;

		if (!config_sections[i].name)
			read_group(file, g_key_file_has_group(config_file_keys(file), section) ? section : NULL, section, config);
	}
}

/* The network is for those who have a token, and a token is not for a wire that others read. */
static void check_listen(const Config *config, ConfigFile *file)
{
	if (address_is_loopback(config->listen))
		return;
	if (!config->behind_tls_proxy)
		config_file_complain(file, CONFIG_ERROR_VALUE, "daemon", "listen",
				     "'%s' is not a loopback address: that needs behind_tls_proxy=yes in [access], and a proxy that "
				     "speaks TLS in front", config->listen);
	if (!*config->url)
		config_file_complain(file, CONFIG_ERROR_MISSING, "daemon", "listen",
				     "'%s' is not a loopback address: that needs url, too", config->listen);
}

static void complete_host(const Config *config, ConfigFile *file, ConfigHost *host)
{
	g_autofree char *group = g_strconcat("host ", host->name, NULL);

	if (!*host->uri) {
		g_free(host->uri);
		host->uri = g_strdup_printf(CONFIG_EMBEDDED "?root=%s/libvirt-%s", config->state_dir, host->name);
	}
	if (host->slots > 1 && g_str_has_prefix(host->uri, CONFIG_EMBEDDED))
		config_file_complain(file, CONFIG_ERROR_VALUE, group, "slots",
				     "the embedded driver runs one comparison at a time: more need a libvirt daemon, such as "
				     "uri=qemu:///system");
}

/* What depends on more than one key. */
static void complete(Config *config, ConfigFile *file)
{
	if (!config->trees->len)
		config_file_complain(file, CONFIG_ERROR_MISSING, "tree NAME", NULL, "at least one tree must be there, with its path");
	if (!config->hosts->len)
		read_named(config, file, NULL, "host", "local");
	for (guint i = 0; i < config->hosts->len; i++)
		complete_host(config, file, g_ptr_array_index(config->hosts, i));
	g_assert(config->url && config->listen);
	check_listen(config, file);
	if (!*config->url) {
		gboolean v6 = strchr(config->listen, ':') != NULL;

		g_free(config->url);
		config->url = g_strdup_printf("http://%s%s%s:%d", v6 ? "[" : "", config->listen, v6 ? "]" : "", config->port);
	}
}

gboolean config_from_data(const char *name, const char *data, gsize size, Config **ret_config, GError **error)
{
	g_autoptr(Config) config = g_new0(Config, 1);
	g_autoptr(ConfigFile) file = config_file_parse(name, data, size);

	config->trees = g_ptr_array_new_with_free_func(tree_free);
	config->hosts = g_ptr_array_new_with_free_func(host_free);
	read_groups(config, file);
	complete(config, file);
	if (!config_file_good(file, error))
		return FALSE;
	*ret_config = g_steal_pointer(&config);
	return TRUE;
}

gboolean config_load(const char *path, Config **ret_config, GError **error)
{
	g_autofree char *data = NULL;
	g_autoptr(GError) problem = NULL;
	gsize size;

	if (!file_read(path, CONFIG_MAX_BYTES, &data, &size, &problem)) {
		g_set_error_literal(error, CONFIG_ERROR, CONFIG_ERROR_IO, problem->message);
		return FALSE;
	}
	return config_from_data(path, data, size, ret_config, error);
}

char *config_database(const Config *config)
{
	return g_build_filename(config->state_dir, "regrlab.db", NULL);
}

char *config_token_key(const Config *config)
{
	const char *credentials = g_getenv("CREDENTIALS_DIRECTORY");
	g_autofree char *credential = credentials ? g_build_filename(credentials, CONFIG_TOKEN_CREDENTIAL, NULL) : NULL;

	if (credential && g_file_test(credential, G_FILE_TEST_EXISTS))
		return g_steal_pointer(&credential);
	return *config->token_key ? g_strdup(config->token_key) : g_build_filename(config->state_dir, "token.key", NULL);
}

const ConfigTree *config_tree(const Config *config, const char *name)
{
	for (guint i = 0; i < config->trees->len; i++) {
		const ConfigTree *tree = g_ptr_array_index(config->trees, i);

		if (!*name || g_str_equal(tree->name, name))
			return tree;
	}
	return NULL;
}

const ConfigHost *config_host(const Config *config, const char *name)
{
	for (guint i = 0; i < config->hosts->len; i++) {
		const ConfigHost *host = g_ptr_array_index(config->hosts, i);

		if (g_str_equal(host->name, name))
			return host;
	}
	return NULL;
}

gboolean config_host_is_here(const ConfigHost *host)
{
	g_autoptr(GUri) uri = g_uri_parse(host->uri, G_URI_FLAGS_NONE, NULL);
	const char *machine = uri ? g_uri_get_host(uri) : NULL;

	return !machine || !*machine;
}
