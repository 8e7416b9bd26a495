/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <unistd.h>

#include "jobs/spec/error.h"
#include "jobs/spec/place.h"

#define SEARCH_PATH "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

/* What a stage may know of our environment: where libvirt and ssh find their things, and the sanitizers' options. */
static const char *const passed[] = {
	"HOME", "USER", "XDG_RUNTIME_DIR", "SSH_AUTH_SOCK", "TMPDIR",
	"ASAN_OPTIONS", "LSAN_OPTIONS", "UBSAN_OPTIONS",
};

static char **make_environment(void)
{
	GPtrArray *variables = g_ptr_array_new();

	g_ptr_array_add(variables, g_strdup(SEARCH_PATH));
	g_ptr_array_add(variables, g_strdup("LANG=C.UTF-8"));
	for (gsize i = 0; i < G_N_ELEMENTS(passed); i++)
		if (g_getenv(passed[i]))
			g_ptr_array_add(variables, g_strdup_printf("%s=%s", passed[i], g_getenv(passed[i])));
	g_ptr_array_add(variables, g_strdup_printf(STAGE_PARENT_VARIABLE "=%ld", (long)getpid()));
	g_ptr_array_add(variables, NULL);
	return (char **)g_ptr_array_free(variables, FALSE);
}

static int prepare(posix_spawn_file_actions_t *files, posix_spawnattr_t *attributes, const char *log)
{
	sigset_t none, all;
	int code;

	sigemptyset(&none);
	sigfillset(&all);
	if ((code = posix_spawn_file_actions_addopen(files, STDIN_FILENO, "/dev/null", O_RDONLY, 0)) ||
	    (code = posix_spawn_file_actions_addopen(files, STDOUT_FILENO, log, O_WRONLY | O_CREAT | O_APPEND, 0644)) ||
	    (code = posix_spawn_file_actions_adddup2(files, STDOUT_FILENO, STDERR_FILENO)) ||
	    (code = posix_spawn_file_actions_addclosefrom_np(files, STDERR_FILENO + 1)) ||
	    (code = posix_spawnattr_setpgroup(attributes, 0)) ||
	    (code = posix_spawnattr_setsigmask(attributes, &none)) ||
	    (code = posix_spawnattr_setsigdefault(attributes, &all)))
		return code;
	return posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
}

/* A child has its parent's CPUs, and posix_spawn() knows no others: the parent goes there for the moment. */
static int spawn_on(const cpu_set_t *cpus, pid_t *pid, const char *const *argv, const posix_spawn_file_actions_t *files,
		    const posix_spawnattr_t *attributes, char **environment)
{
	cpu_set_t own;
	gboolean moved = cpus && sched_getaffinity(0, sizeof(own), &own) == 0 && sched_setaffinity(0, sizeof(*cpus), cpus) == 0;
	int code = posix_spawn(pid, argv[0], files, attributes, (char *const *)argv, environment);

	if (moved)
		sched_setaffinity(0, sizeof(own), &own);
	return code;
}

gboolean spawn_stage(const char *const *argv, const char *log, const cpu_set_t *cpus, GPid *ret_pid, GError **error)
{
	g_auto(GStrv) environment = make_environment();
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attributes;
	pid_t pid;
	int code;

	posix_spawn_file_actions_init(&files);
	posix_spawnattr_init(&attributes);
	code = prepare(&files, &attributes, log);
	if (!code)
		code = spawn_on(cpus, &pid, argv, &files, &attributes, environment);
	posix_spawnattr_destroy(&attributes);
	posix_spawn_file_actions_destroy(&files);
	if (code)
		return spec_error_set(error, SPEC_ERROR_IO, NULL, "%s: %s", argv[0], g_strerror(code));
	*ret_pid = pid;
	return TRUE;
}
