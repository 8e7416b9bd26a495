/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "host/target.h"

#include <string.h>

#include "jobs/spec/error.h"

#define FOLDER ".cache/regrlab"
#define CONNECT_TIMEOUT "ConnectTimeout=15"

void host_target_clear(HostTarget *target)
{
	g_clear_pointer(&target->destination, g_free);
	g_clear_pointer(&target->ssh, g_free);
	g_clear_pointer(&target->keyfile, g_free);
	g_clear_pointer(&target->program, g_free);
	g_clear_pointer(&target->copy, g_free);
}

static gboolean take_query(HostTarget *target, const char *query)
{
	g_autoptr(GHashTable) params = query ? g_uri_parse_params(query, -1, "&", G_URI_PARAMS_NONE, NULL) : NULL;
	const char *command = params ? g_hash_table_lookup(params, "command") : NULL;
	const char *keyfile = params ? g_hash_table_lookup(params, "keyfile") : NULL;

	target->ssh = g_strdup(command && *command ? command : "ssh");
	target->keyfile = keyfile && *keyfile ? g_strdup(keyfile) : NULL;
	return !query || params;
}

gboolean host_target_init(HostTarget *target, const char *uri, const char *program, GError **error)
{
	g_autoptr(GUri) parsed = g_uri_parse(uri, G_URI_FLAGS_NONE, NULL);
	const char *machine = parsed ? g_uri_get_host(parsed) : NULL, *user = parsed ? g_uri_get_userinfo(parsed) : NULL;

	*target = (HostTarget){ .reach = HOST_HERE, .program = g_strdup(program) };
	if (!parsed || !take_query(target, g_uri_get_query(parsed))) {
		host_target_clear(target);
		return spec_error_set(error, SPEC_ERROR_VALUE, "uri", "'%.100s' is no URI", uri);
	}
	if (!machine || !*machine)
		return TRUE;
	target->reach = g_str_has_suffix(g_uri_get_scheme(parsed), "+ssh") ? HOST_SSH : HOST_CLOSED;
	target->destination = user ? g_strdup_printf("%s@%s", user, machine) : g_strdup(machine);
	target->port = MAX(g_uri_get_port(parsed), 0);
	/* a destination that begins with a dash would be an option of ssh's */
	if (*target->destination != '-')
		return TRUE;
	host_target_clear(target);
	return spec_error_set(error, SPEC_ERROR_VALUE, "uri", "'%.100s' names no machine", uri);
}

static void add(GPtrArray *argv, const char *word)
{
	g_ptr_array_add(argv, g_strdup(word));
}

/* ssh up to and with its destination. */
static GPtrArray *ssh_argv(const HostTarget *target)
{
	GPtrArray *argv = g_ptr_array_new();

	add(argv, target->ssh);
	add(argv, "-o");
	add(argv, "BatchMode=yes");
	add(argv, "-o");
	add(argv, CONNECT_TIMEOUT);
	if (target->keyfile) {
		add(argv, "-i");
		add(argv, target->keyfile);
	}
	if (target->port) {
		add(argv, "-p");
		g_ptr_array_add(argv, g_strdup_printf("%d", target->port));
	}
	add(argv, "--");
	add(argv, target->destination);
	return argv;
}

static char **take_argv(GPtrArray *argv)
{
	g_ptr_array_add(argv, NULL);
	return (char **)g_ptr_array_free(argv, FALSE);
}

char **host_target_argv(const HostTarget *target, const char *const *args)
{
	g_autoptr(GString) line = NULL;

	if (target->reach == HOST_HERE) {
		GPtrArray *argv = g_ptr_array_new();
		add(argv, target->program);
		for (; *args; args++)
			add(argv, *args);
		return take_argv(argv);
	}
	g_assert(target->reach == HOST_SSH && target->copy);
	line = g_string_new("exec ");
	g_string_append(line, target->copy);
	for (; *args; args++) {
		g_autofree char *quoted = g_shell_quote(*args);
		g_string_append_printf(line, " %s", quoted);
	}
	GPtrArray *argv = ssh_argv(target);
	add(argv, line->str);
	return take_argv(argv);
}

gboolean host_target_load(HostTarget *target, char **ret_content, gsize *ret_size, GError **error)
{
	g_autoptr(GError) problem = NULL;
	char *content;
	gsize size;

	if (!g_file_get_contents(target->program, &content, &size, &problem))
		return spec_error_set(error, SPEC_ERROR_IO, NULL, "%s", problem->message);
	g_autofree char *digest = g_compute_checksum_for_data(G_CHECKSUM_SHA256, (const guchar *)content, size);
	g_free(target->copy);
	target->copy = g_strdup_printf(FOLDER "/regrlab-host-%.16s", digest);
	*ret_content = content;
	*ret_size = size;
	return TRUE;
}

char **host_target_copy_argv(const HostTarget *target)
{
	GPtrArray *argv = ssh_argv(target);

	/* whole or not at all, and nobody else's to change */
	g_ptr_array_add(argv, g_strdup_printf("umask 077 && mkdir -p " FOLDER " && cat > %s.$$ && chmod 700 %s.$$ && mv -f %s.$$ %s",
					      target->copy, target->copy, target->copy, target->copy));
	return take_argv(argv);
}

char *host_target_program(void)
{
	g_autofree char *self = g_file_read_link("/proc/self/exe", NULL);
	g_autofree char *folder = g_path_get_dirname(self ? self : "/usr/local/bin/x");

	return g_build_filename(folder, "regrlab-host", NULL);
}
