/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a program in the sandbox can reach, use and leave behind: real
 * programs, in the real bubblewrap. As root and as another user the same
 * things hold; the test runs as whoever runs it.
 */
#include <fcntl.h>
#include <glib/gstdio.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "jobs/sandbox.h"
#include "jobs/slot-file.h"
#include "jobs/source-tree.h"
#include "jobs/spec/file.h"

#define ARGV(...) ((const char *const[]){ __VA_ARGS__, NULL })

typedef struct {
	char *dir, *own, *secret;	/* a scratch folder; the one that programs may write; a file that they may not see */
	JobPlace *place;
	Sandbox *sandbox;
} Fixture;

static void set_up(Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
	g_autoptr(GError) error = NULL;

	f->dir = g_dir_make_tmp("sandbox-XXXXXX", NULL);
	f->own = g_build_filename(f->dir, "own", NULL);
	f->secret = g_build_filename(f->dir, "secret", NULL);
	g_assert_true(g_file_set_contents(f->secret, "the token\n", -1, NULL));
	f->place = job_place_new();
	f->place->build_disk_mib = 64;
	f->place->build_memory_mib = 1024;
	f->sandbox = sandbox_new(f->place, &error);
	g_assert_no_error(error);
	g_assert_true(sandbox_make_folder(f->sandbox, f->own, &error));
}

static void tear_down(Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
	g_auto(ChildResult) result = { 0 };

	sandbox_free(f->sandbox);
	job_place_free(f->place);
	child_run(&(ChildSpec){ .argv = ARGV("rm", "-rf", f->dir) }, &result, NULL);
	g_free(f->dir);
	g_free(f->own);
	g_free(f->secret);
}

/* A shell command with the own folder to write in. The caller clears the result. */
static ChildResult run_shell(Fixture *f, const char *command)
{
	ChildSpec spec = { .argv = ARGV("sh", "-c", command), .timeout_ms = 300000, .cwd = f->own };
	g_autoptr(GError) error = NULL;
	ChildResult result = { 0 };
	SandboxView view = { 0 };

	sandbox_view_add(&view, f->own, NULL, TRUE);
	sandbox_run(f->sandbox, &spec, &view, &result, &error);
	g_assert_no_error(error);
	return result;
}

static void check_says(Fixture *f, const char *command, const char *words)
{
	g_auto(ChildResult) result = run_shell(f, command);

	if (!strstr(result.output, words))
		g_error("'%s' says '%s%s', not '%s'", command, result.output, result.errors, words);
}

static void check_ended(Fixture *f, const char *command, ChildError code, const char *words)
{
	ChildSpec spec = { .argv = ARGV("sh", "-c", command), .timeout_ms = 300000, .nice = 10, .cwd = f->own };
	g_autoptr(GError) error = NULL;
	ChildResult result = { 0 };
	SandboxView view = { 0 };

	sandbox_view_add(&view, f->own, NULL, TRUE);
	g_assert_false(sandbox_run(f->sandbox, &spec, &view, &result, &error));
	if (!g_error_matches(error, CHILD_ERROR, (int)code) || !strstr(error->message, words))
		g_error("'%s' ended with '%s', not '%s'", command, error->message, words);
}

/* ---- what is in reach ---- */

static void test_files(Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
	static const char *const gone[] = { "/etc/shadow", "/etc/passwd", "/root", "/home", "/var", "/run", "/sys", "/boot" };
	static const char *const locked[] = { "/", "/usr", "/etc", "/dev", "/bin", "/usr/bin" };

	for (gsize i = 0; i < G_N_ELEMENTS(gone); i++) {
		g_autofree char *command = g_strdup_printf("test -e %s || echo gone", gone[i]);
		check_says(f, command, "gone");
	}
	for (gsize i = 0; i < G_N_ELEMENTS(locked); i++) {
		g_autofree char *command = g_strdup_printf("touch %s/x 2>/dev/null || echo locked", locked[i]);
		check_says(f, command, "locked");
	}
	g_autofree char *secret = g_strdup_printf("cat %s || ls %s; ls -A ..", f->secret, f->dir);
	g_auto(ChildResult) result = run_shell(f, secret);
	g_assert_null(strstr(result.output, "token"));
	g_assert_null(strstr(result.output, "secret"));

	check_says(f, "echo written > file; cat file; touch /tmp/x /dev/shm/y && echo there", "written\nthere");
	g_autofree char *file = NULL;
	g_assert_true(slot_file_read(f->own, "file", 100, &file, NULL, NULL));
	g_assert_cmpstr(file, ==, "written\n");
	/* each program has a /tmp of its own */
	check_says(f, "test -e /tmp/x || echo gone", "gone");
	check_says(f, "ln /usr/bin/env hard 2>/dev/null || echo refused", "refused");
}

static void test_rights(Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
	check_says(f, "id -u | grep -qx 0 || echo user", "user");
	check_says(f, "grep CapBnd /proc/self/status", "CapBnd:\t0000000000000000");
	check_says(f, "grep CapEff /proc/self/status", "CapEff:\t0000000000000000");
	check_says(f, "grep NoNewPrivs /proc/self/status", "NoNewPrivs:\t1");
	check_says(f, "grep Seccomp: /proc/self/status", "Seccomp:\t2");
	check_says(f, "chmod 600 /dev/null 2>/dev/null || echo refused", "refused");
	check_says(f, "echo x 2>/dev/null > /proc/sys/kernel/core_pattern || echo refused", "refused");
	check_says(f, "unshare --user true 2>/dev/null || echo refused", "refused");
	check_says(f, "unshare --mount true 2>/dev/null || echo refused", "refused");
	check_says(f, "taskset -c 0 true 2>/dev/null || echo refused", "refused");
	check_says(f, "test -t 0 || (: < /dev/tty) 2>/dev/null || echo no terminal", "no terminal");
	check_says(f, "env | sort | cut -d= -f1 | tr '\\n' ' '", "HOME LC_ALL PATH PWD TZ ");
	check_says(f, "ls /proc/self/fd | wc -l", "4");	/* the three of everybody, and what ls opens */
}

/* A daemon that listens on the loopback address and on an abstract socket, as its neighbours would. */
static void test_network(Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
	struct sockaddr_un name = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	g_autofree char *abstract = g_strdup_printf("regrlab-test-%d", getpid());

	memcpy(name.sun_path + 1, abstract, strlen(abstract));
	g_assert_cmpint(bind(fd, (struct sockaddr *)&name, (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(abstract))), ==, 0);
	g_assert_cmpint(listen(fd, 1), ==, 0);
	check_says(f, "perl -e 'use Socket; print socket(S, PF_INET, SOCK_STREAM, 0) ? \"open\" : \"refused: $!\"'", "refused");
	check_says(f, "perl -e 'use Socket; print socket(S, PF_INET6, SOCK_DGRAM, 0) ? \"open\" : \"refused: $!\"'", "refused");
	g_autofree char *reach = g_strdup_printf("perl -e 'use Socket; socket(S, PF_UNIX, SOCK_STREAM, 0) or die; "
						 "print connect(S, pack_sockaddr_un(\"\\0%s\")) ? \"open\" : \"refused: $!\"'", abstract);
	check_says(f, reach, "refused");
	check_says(f, "wc -l < /proc/net/dev", "3");	/* two lines of heading, lo */
	close(fd);
}

static void test_processes(Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
	g_autofree char *command = g_strdup_printf("kill -0 %d 2>/dev/null || echo none; ls /proc | grep -c '^[0-9]'", getpid());
	g_auto(ChildResult) result = run_shell(f, command);

	g_assert_true(g_str_has_prefix(result.output, "none\n"));
	g_assert_cmpint(atoi(result.output + 5), <, 8);
}

/* ---- limits ---- */

static void test_limits(Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
	check_ended(f, "dd if=/dev/zero of=big bs=1M count=60 status=none; dd if=/dev/zero of=more bs=1M count=60 status=none; "
		       "sleep 500", CHILD_ERROR_LIMIT, "it used more than 64 MiB of disk");
	check_says(f, "rm big more; echo gone", "gone");
	check_ended(f, "while :; do sleep 500 & done", CHILD_ERROR_LIMIT, "it had more than ");
	check_ended(f, "yes", CHILD_ERROR_LIMIT, "it printed more than 256 MiB");
	check_says(f, "dd if=/dev/zero of=/tmp/x bs=1M count=1100 2>/dev/null || echo full", "full");
	check_says(f, "dd if=/dev/zero of=/dev/shm/x bs=1M count=100 2>/dev/null || echo full", "full");
	check_says(f, "perl -e '$n = 3 << 30; $x = \"a\" x $n' 2>/dev/null || echo refused", "refused");
	check_says(f, "dd if=/dev/zero of=long bs=1M count=70 2>/dev/null || echo cut", "cut");	/* of one file */
}

/* Two processes, each within what one may have. */
static void test_memory(Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
	sandbox_free(f->sandbox);
	f->place->build_memory_mib = 128;
	f->sandbox = sandbox_new(f->place, NULL);
	check_ended(f, "perl -e '$n = 80 << 20; $x = \"a\" x $n; fork; sleep 500'", CHILD_ERROR_LIMIT, "it used more than 128 MiB of memory");
}

/* Every fork is answered by another: the kernel's limit holds until it is seen, and nothing is left. */
static void test_fork_bomb(Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
	check_ended(f, "bomb() { bomb | bomb & }; bomb; sleep 7301.5", CHILD_ERROR_LIMIT, " processes");
	check_says(f, "echo well", "well");
}

static gboolean is_running(const char *word)
{
	g_auto(ChildResult) result = { 0 };

	g_assert_true(child_run(&(ChildSpec){ .argv = ARGV("pgrep", "-f", word) }, &result, NULL));
	return result.status == 0;
}

/* Whatever it does to stay: when the call is back nothing of it is there. */
static void test_left_behind(Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
	check_says(f, "setsid sleep 7302.5 & (setsid nohup sleep 7302.5 >/dev/null 2>&1 &) ; echo done", "done");
	g_assert_false(is_running("sleep 7302.5"));

	ChildSpec spec = { .argv = ARGV("sh", "-c", "trap '' TERM; setsid sleep 7302.5 & sleep 7302.5"), .timeout_ms = 500 };
	ChildResult result = { 0 };
	SandboxView view = { 0 };
	g_autoptr(GError) error = NULL;
	g_assert_false(sandbox_run(f->sandbox, &spec, &view, &result, &error));
	g_assert_error(error, CHILD_ERROR, CHILD_ERROR_TIMEOUT);
	g_assert_cmpstr(error->message, ==, "sh did not end within 0.5 s and was killed");
	g_assert_false(is_running("sleep 7302.5"));
}

/* ---- what cannot be set up ---- */

static void test_fails_closed(Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
	g_autofree char *path = g_strdup(g_getenv("PATH")), *bin = g_build_filename(f->dir, "bin", NULL);
	g_autoptr(GError) missing = NULL, user = NULL;

	g_setenv("PATH", bin, TRUE);
	g_assert_null(sandbox_new(f->place, &missing));
	g_assert_error(missing, CHILD_ERROR, CHILD_ERROR_SANDBOX);
	g_assert_nonnull(strstr(missing->message, "nothing is built: bwrap is missing. Install the package bubblewrap."));
	g_setenv("PATH", path, TRUE);

	if (geteuid() != 0)
		return;
	g_free(f->place->build_user);
	f->place->build_user = g_strdup("root");
	g_assert_null(sandbox_new(f->place, &user));
	g_assert_error(user, CHILD_ERROR, CHILD_ERROR_SANDBOX);
	g_assert_nonnull(strstr(user->message, "[build] user"));
}

static void test_advice(Fixture *f G_GNUC_UNUSED, gconstpointer data G_GNUC_UNUSED)
{
	g_assert_nonnull(strstr(sandbox_advice("bwrap: No permissions to create new namespace"), "Allow user namespaces"));
	g_assert_nonnull(strstr(sandbox_advice("bwrap: Failed to make / slave: Invalid argument"), "a mount point"));
	g_assert_nonnull(strstr(sandbox_advice("bwrap: Can't mount proc on /newroot/proc"), "unmasked"));
	g_assert_nonnull(strstr(sandbox_advice("bwrap: something new"), "by hand"));
}

static void test_not_found(Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
	g_autoptr(GError) error = NULL;
	ChildResult result = { 0 };
	SandboxView view = { 0 };

	g_assert_false(sandbox_run(f->sandbox, &(ChildSpec){ .argv = ARGV("no-such-program") }, &view, &result, &error));
	g_assert_error(error, CHILD_ERROR, CHILD_ERROR_START);
	g_assert_nonnull(strstr(error->message, "no-such-program"));
}

/* ---- what a build leaves for the stage ---- */

static void check_not_read(Fixture *f, const char *name)
{
	g_autoptr(GError) error = NULL;
	char *data = NULL;

	g_assert_false(slot_file_exists(f->own, name));
	g_assert_false(slot_file_read(f->own, name, 1000, &data, NULL, &error));
	g_assert_error(error, SPEC_ERROR, SPEC_ERROR_IO);
}

static void test_traps(Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
	g_autofree char *command = g_strdup_printf("ln -s %s link; ln -s %s folder; ln -s %s .config.new; ln -s %s .config; mkfifo pipe; "
						   "mkdir -p deep; head -c 2000 /dev/zero > large", f->secret, f->dir, f->secret, f->secret);
	g_auto(ChildResult) result = run_shell(f, command);
	g_autoptr(GError) error = NULL;
	g_autofree char *text = NULL, *secret = NULL;
	char *data2 = NULL;

	g_assert_cmpint(result.status, ==, 0);
	check_not_read(f, "link");
	check_not_read(f, "folder/secret");
	check_not_read(f, "pipe");
	check_not_read(f, "deep");
	check_not_read(f, "../secret");
	g_assert_false(slot_file_read(f->own, "large", 1000, &data2, NULL, &error));
	g_assert_error(error, SPEC_ERROR, SPEC_ERROR_LIMIT);

	/* a file that the stage writes replaces the trap, and what it led to stays as it was */
	g_assert_true(slot_file_write(f->own, ".config", "CONFIG_A=y\n", NULL));
	g_assert_true(slot_file_read(f->own, ".config", 1000, &text, NULL, NULL));
	g_assert_cmpstr(text, ==, "CONFIG_A=y\n");
	g_assert_true(g_file_get_contents(f->secret, &secret, NULL, NULL));
	g_assert_cmpstr(secret, ==, "the token\n");
}

/* ---- a tree ---- */

static void write_text(const char *dir, const char *name, const char *text)
{
	g_autofree char *path = g_build_filename(dir, name, NULL), *folder = g_path_get_dirname(path);

	g_assert_cmpint(g_mkdir_with_parents(folder, 0755), ==, 0);
	g_assert_true(g_file_set_contents(path, text, -1, NULL));
}

static void test_tree_folders(Fixture *f, gconstpointer data G_GNUC_UNUSED)
{
	g_autofree char *bare = g_build_filename(f->dir, "bare", NULL), *linked = g_build_filename(f->dir, "linked", NULL);
	g_autofree char *git = g_strdup_printf("gitdir: %s/worktrees/linked\n", bare), *shared = g_build_filename(f->dir, "shared/objects", NULL);
	g_autoptr(TreeFolders) folders = NULL, none = NULL, of_link = NULL;

	g_assert_false(tree_folders(f->dir, &none, NULL));
	write_text(bare, "objects/info/alternates", "# shared\n../../shared/objects\n");
	write_text(bare, "worktrees/linked/commondir", "../..\n");
	write_text(linked, ".git", git);
	write_text(shared, "info/alternates", "../../bare/objects\n");	/* a circle has an end */
	g_assert_true(tree_folders(bare, &folders, NULL));
	g_assert_cmpstr(folders->git, ==, bare);
	g_assert_cmpstr(folders->objects[1], ==, shared);
	g_assert_cmpuint(g_strv_length(folders->objects), <=, 8);
	g_assert_true(tree_folders(linked, &of_link, NULL));
	g_assert_cmpstr(of_link->common, ==, bare);
	g_assert_nonnull(of_link->link);
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*func)(Fixture *f, gconstpointer data);
	} rows[] = {
		{ "/sandbox/files", test_files },
		{ "/sandbox/rights", test_rights },
		{ "/sandbox/network", test_network },
		{ "/sandbox/processes", test_processes },
		{ "/sandbox/limits", test_limits },
		{ "/sandbox/memory", test_memory },
		{ "/sandbox/fork-bomb", test_fork_bomb },
		{ "/sandbox/left-behind", test_left_behind },
		{ "/sandbox/fails-closed", test_fails_closed },
		{ "/sandbox/advice", test_advice },
		{ "/sandbox/not-found", test_not_found },
		{ "/sandbox/traps", test_traps },
		{ "/sandbox/tree-folders", test_tree_folders },
	};

	g_test_init(&argc, &argv, NULL);
	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++)
		g_test_add(rows[i].name, Fixture, NULL, set_up, rows[i].func, tear_down);
	return g_test_run();
}
