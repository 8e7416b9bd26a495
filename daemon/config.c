/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/config.h"

#include <string.h>

#include "daemon/address.h"
#include "daemon/config-keys.h"
#include "jobs/spec/file.h"
#include "jobs/spec/spec.h"

G_DEFINE_QUARK(regrlab-config-error, config_error)

typedef struct {
	const char *name;	/* of the file */
	const char *data;
	GKeyFile *file;
} Source;

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
	config_keys_clear("daemon", config);
	config_keys_clear("access", config);
	config_keys_clear("build", config);
	g_clear_pointer(&config->trees, g_ptr_array_unref);
	g_clear_pointer(&config->hosts, g_ptr_array_unref);
	g_free(config);
}

/* The line of a group's header, or of a key in it (the last one counts, as for GKeyFile); 0: not there. */
static int line_of(const char *data, const char *group, const char *key)
{
	g_auto(GStrv) lines = g_strsplit(data, "\n", -1);
	g_autofree char *header = g_strdup_printf("[%s]", group);
	gboolean inside = FALSE;
	int found = 0;

	for (int i = 0; lines[i]; i++) {
		char *line = g_strstrip(lines[i]);
		gsize length = key ? strlen(key) : 0;

		if (*line == '[')
			inside = g_str_equal(line, header);
		if (inside && (key ? strncmp(line, key, length) == 0 && *g_strchug(line + length) == '=' :
				     *line == '['))
			found = i + 1;
	}
	return found;
}

static gboolean fail(const Source *source, ConfigError code, const char *group, const char *key, GError **error,
		     const char *format, ...) G_GNUC_PRINTF(6, 7);
static gboolean fail(const Source *source, ConfigError code, const char *group, const char *key, GError **error,
		     const char *format, ...)
{
	g_autofree char *message = NULL;
	int line = line_of(source->data, group, key);
	va_list args;

	va_start(args, format);
	message = g_strdup_vprintf(format, args);
	va_end(args);
	if (line)
		g_set_error(error, CONFIG_ERROR, code, "%s:%d: [%s]%s%s: %s", source->name, line, group,
			    key ? " " : "", key ? key : "", message);
	else
		g_set_error(error, CONFIG_ERROR, code, "%s: [%s]%s%s: %s", source->name, group,
			    key ? " " : "", key ? key : "", message);
	return FALSE;
}

/* "tree linux": section "tree", name "linux". Sections with one instance have no name. */
static gboolean split_group(const char *group, const char **ret_section, const char **ret_name)
{
	static const char *const single[] = { "daemon", "access", "build", "retention", NULL };
	static const char *const named[] = { "tree", "host", NULL };

	for (gsize i = 0; single[i]; i++) {
		if (g_str_equal(group, single[i])) {
			*ret_section = single[i];
			*ret_name = NULL;
			return TRUE;
		}
	}
	for (gsize i = 0; named[i]; i++) {
		gsize length = strlen(named[i]);

		if (g_str_has_prefix(group, named[i]) && group[length] == ' ') {
			*ret_section = named[i];
			*ret_name = group + length + 1;
			return TRUE;
		}
	}
	return FALSE;
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

static gboolean check_keys(const Source *source, const char *group, const char *section, GError **error)
{
	g_auto(GStrv) keys = g_key_file_get_keys(source->file, group, NULL, NULL);

	for (char **key = keys; key && *key; key++) {
		if (!known_key(section, *key)) {
			g_autofree char *known = keys_of(section);

			return fail(source, CONFIG_ERROR_UNKNOWN, group, *key, error,
				    "no such key; there are %s", known);
		}
	}
	return TRUE;
}

/* All keys of a section from one group (NULL: none, all defaults). */
static gboolean read_group(const Source *source, const char *group, const char *section, gpointer record,
			   GError **error)
{
	for (gsize i = 0; i < config_n_keys; i++) {
		const ConfigKey *key = &config_keys[i];
		g_autofree char *text = NULL, *allowed = NULL;

		if (!g_str_equal(key->section, section))
			continue;
		if (group)
			text = g_key_file_get_string(source->file, group, key->key, NULL);
		if (!text && !key->standard)
			return fail(source, CONFIG_ERROR_MISSING, group, NULL, error,
				    "the key %s must be there: %s", key->key, key->help);
		if (!config_key_set(key, record, text ? text : key->standard, &allowed))
			return fail(source, CONFIG_ERROR_VALUE, group ? group : section, key->key, error,
				    "'%s' is not %s", text ? text : key->standard, allowed);
	}
	return !group || check_keys(source, group, section, error);
}

static gboolean read_named(Config *config, const Source *source, const char *group, const char *section,
			   const char *name, GError **error)
{
	gboolean is_tree = g_str_equal(section, "tree");

	if (!is_name(name))
		return fail(source, CONFIG_ERROR_VALUE, group, NULL, error,
			    "a name has letters, digits, '_', '.' and '-' and begins with a letter or digit");
	if (is_tree) {
		ConfigTree *tree = g_new0(ConfigTree, 1);

		tree->name = g_strdup(name);
		g_ptr_array_add(config->trees, tree);
		return read_group(source, group, section, tree, error);
	} else {
		ConfigHost *host = g_new0(ConfigHost, 1);

		host->name = g_strdup(name);
		g_ptr_array_add(config->hosts, host);
		return read_group(source, group, section, host, error);
	}
}

static gboolean read_groups(Config *config, const Source *source, GError **error)
{
	g_auto(GStrv) groups = g_key_file_get_groups(source->file, NULL);

	for (char **group = groups; *group; group++) {
		const char *section, *name;

		if (!split_group(*group, &section, &name))
			return fail(source, CONFIG_ERROR_UNKNOWN, *group, NULL, error,
				    "no such section; there are [daemon], [access], [build], [tree NAME] and [host NAME]");
		if (name && !read_named(config, source, *group, section, name, error))
			return FALSE;
	}
	return TRUE;
}

static gboolean read_single(Config *config, const Source *source, const char *section, GError **error)
{
	return read_group(source, g_key_file_has_group(source->file, section) ? section : NULL, section, config, error);
}

/* The network is for those who have a token, and a token is not for a wire that others read. */
static gboolean check_listen(const Config *config, const Source *source, GError **error)
{
	if (address_is_loopback(config->listen))
		return TRUE;
	if (!config->behind_tls_proxy)
		return fail(source, CONFIG_ERROR_VALUE, "daemon", "listen", error,
			    "'%s' is not a loopback address: that needs behind_tls_proxy=yes in [access], and a proxy that "
			    "speaks TLS in front", config->listen);
	if (!*config->url)
		return fail(source, CONFIG_ERROR_MISSING, "daemon", "listen", error,
			    "'%s' is not a loopback address: that needs url, too", config->listen);
	return TRUE;
}

/* What depends on more than one key. */
static gboolean complete(Config *config, const Source *source, GError **error)
{
	if (!config->trees->len)
		return fail(source, CONFIG_ERROR_MISSING, "tree NAME", NULL, error,
			    "at least one tree must be there, with its path");
	if (!config->hosts->len && !read_named(config, source, NULL, "host", "local", error))
		return FALSE;
	for (guint i = 0; i < config->hosts->len; i++) {
		ConfigHost *host = g_ptr_array_index(config->hosts, i);

		if (!*host->uri) {
			g_free(host->uri);
			host->uri = g_strdup_printf(CONFIG_EMBEDDED "?root=%s/libvirt-%s", config->state_dir, host->name);
		}
		if (host->slots > 1 && g_str_has_prefix(host->uri, CONFIG_EMBEDDED)) {
			g_autofree char *section = g_strconcat("host ", host->name, NULL);
			return fail(source, CONFIG_ERROR_VALUE, section, "slots", error,
				    "the embedded driver runs one comparison at a time: more need a libvirt daemon, such as uri=qemu:///system");
		}
	}
	g_assert(config->url && config->listen);
	if (!check_listen(config, source, error))
		return FALSE;
	if (!*config->url) {
		gboolean v6 = strchr(config->listen, ':') != NULL;

		g_free(config->url);
		config->url = g_strdup_printf("http://%s%s%s:%d", v6 ? "[" : "", config->listen, v6 ? "]" : "",
					      config->port);
	}
	return TRUE;
}

gboolean config_from_data(const char *name, const char *data, gsize size, Config **ret_config, GError **error)
{
	g_autoptr(Config) config = g_new0(Config, 1);
	g_autoptr(GKeyFile) file = g_key_file_new();
	g_autoptr(GError) problem = NULL;
	g_autofree char *text = g_strndup(data, size);
	Source source = { name, text, file };

	config->trees = g_ptr_array_new_with_free_func(tree_free);
	config->hosts = g_ptr_array_new_with_free_func(host_free);
	if (!g_key_file_load_from_data(file, text, strlen(text), G_KEY_FILE_NONE, &problem) &&
	    !g_error_matches(problem, G_KEY_FILE_ERROR, G_KEY_FILE_ERROR_NOT_FOUND)) {
		g_set_error(error, CONFIG_ERROR, CONFIG_ERROR_SYNTAX, "%s: %s", name, problem->message);
		return FALSE;
	}
	if (!read_groups(config, &source, error) || !read_single(config, &source, "daemon", error) ||
	    !read_single(config, &source, "access", error) || !read_single(config, &source, "build", error) ||
	    !read_single(config, &source, "retention", error) ||
	    !complete(config, &source, error))
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

static void append_group(GString *text, const char *section, const char *name, gconstpointer record)
{
	g_string_append_printf(text, "%s[%s%s%s]\n", text->len ? "\n" : "", section, name ? " " : "", name ? name : "");
	for (gsize i = 0; i < config_n_keys; i++) {
		const ConfigKey *key = &config_keys[i];
		g_autofree char *allowed = NULL, *value = NULL;

		if (!g_str_equal(key->section, section))
			continue;
		allowed = config_key_allowed(key);
		value = config_key_text(key, record);
		g_string_append_printf(text, "# %s\n# %s%s%s; ", key->help, allowed, key->unit ? ", " : "",
				       key->unit ? key->unit : "");
		if (key->standard)
			g_string_append_printf(text, "default: %s\n", *key->standard ? key->standard : "empty");
		else
			g_string_append(text, "must be there\n");
		g_string_append_printf(text, "%s=%s\n", key->key, value);
	}
}

char *config_to_text(const Config *config)
{
	g_autoptr(GString) text = g_string_new(NULL);

	append_group(text, "daemon", NULL, config);
	append_group(text, "access", NULL, config);
	append_group(text, "build", NULL, config);
	append_group(text, "retention", NULL, config);
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

char *config_database(const Config *config)
{
	return g_build_filename(config->state_dir, "regrlab.db", NULL);
}

char *config_token_key(const Config *config)
{
	return g_build_filename(config->state_dir, "token.key", NULL);
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
