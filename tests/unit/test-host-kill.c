/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * regrlab-host is killed before each of its system calls that change
 * anything, one run a call: whatever was done by then, restore puts every file
 * back as it was, also after the next prepare, and after a reboot.
 */
#include <fcntl.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host-fixture.h"
#include "host/prepare.h"

#define POLICY "turbo=off governor=performance smt=off ksm=off irqs=0"
#define KILLS_MIN 12	/* far fewer would say that the calls are not seen */

static gboolean changes(const struct __ptrace_syscall_info *info)
{
	static const guint64 calls[] = { SYS_write, SYS_pwrite64, SYS_writev, SYS_fsync, SYS_ftruncate, SYS_rename, SYS_renameat,
					 SYS_renameat2, SYS_unlink, SYS_unlinkat, SYS_mkdir, SYS_mkdirat };

	if (info->op != PTRACE_SYSCALL_INFO_ENTRY)
		return FALSE;
	if (info->entry.nr == SYS_openat)
		return info->entry.args[2] & (O_CREAT | O_TRUNC);
	for (gsize i = 0; i < G_N_ELEMENTS(calls); i++)
		if (info->entry.nr == calls[i])
			return TRUE;
	return FALSE;
}

static void start(const char *command, const char *root)
{
	g_autofree char *program = g_build_filename(g_getenv("BUILD"), "regrlab-host", NULL);
	int null = open("/dev/null", O_RDWR);

	dup2(null, STDOUT_FILENO);
	/* its leak check is a tracer too */
	g_setenv("ASAN_OPTIONS", "detect_leaks=0", TRUE);
	if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0)
		execl(program, program, command, "--root", root, "--cpus", "2-3", "--require", POLICY, NULL);
	_exit(99);
}

/* Runs the program up to its changing call number `calls` and kills it there. FALSE: it had fewer, and ended well. */
static gboolean run_killed(const char *command, const char *root, int calls)
{
	struct __ptrace_syscall_info info;
	int status;
	pid_t pid = fork();

	g_assert_cmpint(pid, >=, 0);
	if (pid == 0)
		start(command, root);
	g_assert_cmpint(waitpid(pid, &status, 0), ==, pid);
	if (!WIFSTOPPED(status))
		g_error("the program does not start (status %d): is BUILD set?", status);
	g_assert_cmpint(ptrace(PTRACE_SETOPTIONS, pid, NULL, PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL), ==, 0);
	for (;;) {
		g_assert_cmpint(ptrace(PTRACE_SYSCALL, pid, NULL, NULL), ==, 0);
		g_assert_cmpint(waitpid(pid, &status, 0), ==, pid);
		if (WIFEXITED(status)) {
			g_assert_cmpint(WEXITSTATUS(status), ==, 0);
			return FALSE;
		}
		g_assert_true(WIFSTOPPED(status));
		if (WSTOPSIG(status) != (SIGTRAP | 0x80))
			continue;
		g_assert_cmpint(ptrace(PTRACE_GET_SYSCALL_INFO, pid, (void *)sizeof(info), &info), >, 0);
		if (!changes(&info) || calls-- > 0)
			continue;
		g_assert_cmpint(kill(pid, SIGKILL), ==, 0);
		g_assert_cmpint(waitpid(pid, &status, 0), ==, pid);
		g_assert_true(WIFSIGNALED(status));
		return TRUE;
	}
}

static void run(const char *root, gboolean prepare)
{
	g_autofree char *record = g_strconcat(root, HOST_RECORD_FILE, NULL);
	g_auto(HostMachine) machine = { 0 };
	g_auto(HostReport) report = { 0 };
	g_autoptr(GError) error = NULL;

	host_report_init(&report);
	host_machine_init(&machine, root, "2-3", &error);
	g_assert_no_error(error);
	if (prepare)
		host_prepare(&machine, POLICY, record, &report, &error);
	else
		host_restore(&machine, record, &report, &error);
	g_assert_no_error(error);
	g_assert_cmpint(report.failed, ==, 0);
}

static void reboot_tree(const char *root)
{
	tree_put(root, "/proc/sys/kernel/random/boot_id", "99999999-2222-3333-4444-555555555555\n");
}

typedef struct {
	gboolean restoring;	/* what is killed: restore after a whole prepare, or prepare */
	gboolean reboot;	/* the machine is rebooted after the kill */
	gboolean again;		/* prepare is run once more before restore */
} Matrix;

/* One cell: FALSE if there was no such call any more. */
static gboolean kill_at(const Matrix *matrix, int calls)
{
	char *root = tree_intel();
	g_autofree char *before = NULL, *after = NULL;

	before = tree_text(root);
	if (matrix->restoring)
		run(root, TRUE);
	gboolean killed = run_killed(matrix->restoring ? "restore" : "prepare", root, calls);
	if (matrix->reboot)
		reboot_tree(root);
	if (matrix->again)
		run(root, TRUE);
	run(root, FALSE);
	tree_put(root, "/proc/sys/kernel/random/boot_id", "11111111-2222-3333-4444-555555555555\n");
	after = tree_text(root);
	if (!g_str_equal(before, after))
		g_error("killed before changing call %d: not as it was:\n%s", calls, after);
	tree_remove(root);
	g_free(root);
	return killed;
}

static void test_matrix(gconstpointer data)
{
	int kills = 0;

	if (!g_getenv("BUILD")) {
		g_test_skip("BUILD does not say where regrlab-host is");
		return;
	}
	while (kill_at(data, kills))
		kills++;
	g_test_message("killed before each of %d calls", kills);
	g_assert_cmpint(kills, >=, KILLS_MIN);
}

int main(int argc, char **argv)
{
	static const Matrix prepare = { 0 }, prepare_again = { .again = TRUE }, prepare_reboot = { .reboot = TRUE },
			    restore = { .restoring = TRUE }, restore_reboot = { .restoring = TRUE, .reboot = TRUE },
			    restore_again = { .restoring = TRUE, .again = TRUE };

	g_test_init(&argc, &argv, NULL);
	g_test_add_data_func("/host-kill/prepare", &prepare, test_matrix);
	g_test_add_data_func("/host-kill/prepare-again", &prepare_again, test_matrix);
	g_test_add_data_func("/host-kill/prepare-reboot", &prepare_reboot, test_matrix);
	g_test_add_data_func("/host-kill/restore", &restore, test_matrix);
	g_test_add_data_func("/host-kill/restore-reboot", &restore_reboot, test_matrix);
	g_test_add_data_func("/host-kill/restore-again", &restore_again, test_matrix);
	return g_test_run();
}
