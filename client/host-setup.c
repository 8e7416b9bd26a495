/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "client/host-setup.h"

#include <gio/gio.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>

#include "host/target.h"

#define SSH_FAILED 255	/* ssh's exit status where the trouble is its own */

void host_setup_clear(HostSetup *setup)
{
	g_free(setup->host);
	g_free(setup->require);
	g_free(setup->cpus);
	g_free(setup->root);
	g_free(setup->record);
}

static int fail(const char *name, const char *format, ...) G_GNUC_PRINTF(2, 3);

static int fail(const char *name, const char *format, ...)
{
	va_list args;

	fprintf(stderr, "regrlab %s: ", name);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputs("\n", stderr);
	return HOST_SETUP_NOTHING_DONE;
}

/* ---- which machine ---- */

static gboolean is_here(const char *server)
{
	g_autoptr(GUri) uri = g_uri_parse(server, G_URI_FLAGS_NONE, NULL);
	const char *machine = uri ? g_uri_get_host(uri) : NULL;
	const char *const loopback[] = { "127.0.0.1", "localhost", "::1", NULL };

	return machine && g_strv_contains(loopback, machine);
}

/* What the lab knows of a host of that name, unless the command line says otherwise; *ret_uri is the caller's. */
static gboolean ask_lab(const char *name, const Common *common, HostSetup *setup, char **ret_uri)
{
	g_autoptr(Remote) remote = options_remote(name, common);
	g_autofree char *escaped = g_uri_escape_string(setup->host, NULL, FALSE), *path = g_strconcat("/hosts/", escaped, NULL);
	g_autoptr(JsonObject) host = NULL;
	g_autoptr(GError) error = NULL;
	g_auto(HostTarget) target = { 0 };

	if (!remote)
		return FALSE;
	host = remote_get(remote, path, &error);
	if (!host || !host_target_init(&target, peek_string(host, "uri"), "", &error)) {
		options_trouble(name, error);
		return FALSE;
	}
	if (target.reach == HOST_HERE && !is_here(remote_server(remote))) {
		fail(name, "host '%s' is the machine of the lab itself: run this there", setup->host);
		return FALSE;
	}
	if (!setup->cpus && *peek_string(host, "vm_cpus"))
		setup->cpus = g_strdup(peek_string(host, "vm_cpus"));
	if (!setup->require && *peek_string(host, "require"))
		setup->require = g_strdup(peek_string(host, "require"));
	*ret_uri = g_strdup(peek_string(host, "uri"));
	return TRUE;
}

/* ---- running it ---- */

/* The words are borrowed. */
static GPtrArray *make_args(const char *command, const Common *common, const HostSetup *setup)
{
	const struct {
		const char *option, *value;
	} options[] = { { "--require", setup->require }, { "--cpus", setup->cpus }, { "--root", setup->root }, { "--record", setup->record } };
	GPtrArray *args = g_ptr_array_new();

	g_ptr_array_add(args, (gpointer)command);
	for (gsize i = 0; i < G_N_ELEMENTS(options); i++) {
		if (!options[i].value)
			continue;
		g_ptr_array_add(args, (gpointer)options[i].option);
		g_ptr_array_add(args, (gpointer)options[i].value);
	}
	if (common->json)
		g_ptr_array_add(args, (gpointer) "--json");
	g_ptr_array_add(args, NULL);
	return args;
}

/*
 * input: NULL: none. ret_errors: what it says on stderr, the caller's; NULL: to ours. Its exit status, or -1 with an error: it was
 * not started, or was killed.
 */
static int run(char **argv, GBytes *input, GBytes **ret_errors, GError **error)
{
	GSubprocessFlags flags = (input ? G_SUBPROCESS_FLAGS_STDIN_PIPE : 0) | (ret_errors ? G_SUBPROCESS_FLAGS_STDERR_PIPE : 0);
	g_autoptr(GSubprocess) process = g_subprocess_newv((const char *const *)argv, flags, error);
	g_autoptr(GError) unread = NULL;

	if (!process)
		return -1;
	/* one that does not read all of its input says why by its status */
	void (*before)(int) = signal(SIGPIPE, SIG_IGN);
	g_subprocess_communicate(process, input, NULL, NULL, ret_errors, &unread);
	signal(SIGPIPE, before);
	if (!g_subprocess_wait(process, NULL, error))
		return -1;
	if (g_subprocess_get_if_exited(process))
		return g_subprocess_get_exit_status(process);
	g_set_error(error, G_IO_ERROR, G_IO_ERROR_FAILED, "%s was ended by signal %d", argv[0], g_subprocess_get_term_sig(process));
	return -1;
}

/* What a person has to know when it did not come to its end. */
static int interrupted(const char *name, const char *command, const char *why)
{
	static const char *const states[] = { "prepare", "restore", NULL };
	gboolean changes = g_strv_contains(states, command);

	return fail(name, "%s%s", why,
		    changes ? ". If it had begun, what was before is on record on that machine: prepare goes on where it stopped, restore "
			      "puts everything back" : "");
}

static int copy_there(const char *name, const HostTarget *target, GBytes *program)
{
	g_auto(GStrv) argv = host_target_copy_argv(target);
	g_autoptr(GError) error = NULL;
	int status = run(argv, program, NULL, &error);

	if (status == 0)
		return 0;
	return fail(name, "regrlab-host cannot be copied to %s: %s", target->destination,
		    status < 0 ? error->message : status == SSH_FAILED ? "ssh does not get there" : "it cannot be written there");
}

static int run_there(const char *name, const char *command, HostTarget *target, const GPtrArray *args)
{
	g_autoptr(GError) error = NULL;
	g_autofree char *why = NULL;
	char *content;
	gsize size;

	if (!host_target_load(target, &content, &size, &error))
		return fail(name, "%s", error->message);
	g_autoptr(GBytes) program = g_bytes_new_take(content, size), errors = NULL;
	g_auto(GStrv) argv = host_target_argv(target, (const char *const *)args->pdata);
	int status = run(argv, NULL, &errors, &error);
	if (status == HOST_TARGET_MISSING) {
		status = copy_there(name, target, program);
		if (status != 0)
			return status;
		status = run(argv, NULL, NULL, &error);
	} else if (errors && g_bytes_get_size(errors)) {
		fwrite(g_bytes_get_data(errors, NULL), 1, g_bytes_get_size(errors), stderr);
	}
	if (status >= 0 && status <= HOST_SETUP_NOTHING_DONE)
		return status;
	why = status < 0 ? g_strdup(error->message) :
	      status == SSH_FAILED ? g_strdup_printf("ssh to %s failed", target->destination) :
				     g_strdup_printf("regrlab-host on %s did not come to its end (exit status %d)", target->destination, status);
	return interrupted(name, command, why);
}

static int run_here(const char *name, const char *command, const HostTarget *target, const GPtrArray *args)
{
	g_auto(GStrv) argv = host_target_argv(target, (const char *const *)args->pdata);
	g_autoptr(GError) error = NULL;
	int status = run(argv, NULL, NULL, &error);

	return status >= 0 ? status : interrupted(name, command, error->message);
}

int host_setup_run(const char *name, const char *command, const Common *common, const HostSetup *setup)
{
	g_auto(HostSetup) whole = { g_strdup(setup->host), g_strdup(setup->require), g_strdup(setup->cpus), g_strdup(setup->root),
				    g_strdup(setup->record) };
	g_autofree char *program = host_target_program(), *uri = NULL;
	g_auto(HostTarget) target = { 0 };
	g_autoptr(GError) error = NULL;

	if (!whole.host)
		uri = g_strdup("qemu:///system");
	else if (strstr(whole.host, "://"))
		uri = g_strdup(whole.host);
	else if (!ask_lab(name, common, &whole, &uri))
		return HOST_SETUP_NOTHING_DONE;
	if (!host_target_init(&target, uri, program, &error))
		return fail(name, "%s", error->message);
	g_autoptr(GPtrArray) args = make_args(command, common, &whole);
	switch (target.reach) {
	case HOST_HERE:
		return run_here(name, command, &target, args);
	case HOST_SSH:
		return run_there(name, command, &target, args);
	case HOST_CLOSED:
		break;
	}
	return fail(name, "%s lets libvirt in and nothing else: run regrlab-host on that machine, or give the host a qemu+ssh URI", uri);
}
