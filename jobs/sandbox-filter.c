/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "jobs/sandbox-filter.h"

#include <errno.h>
#include <sched.h>
#include <seccomp.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "jobs/child.h"

typedef struct {
	const char *call;
	int answer;	/* errno */
} Refused;

static const Refused refused[] = {
	/* other namespaces and mounts */
	{ "unshare", EPERM }, { "setns", EPERM }, { "mount", EPERM }, { "umount2", EPERM }, { "pivot_root", EPERM },
	{ "chroot", EPERM }, { "move_mount", EPERM }, { "open_tree", EPERM }, { "fsopen", EPERM }, { "fsconfig", EPERM },
	{ "fsmount", EPERM }, { "fspick", EPERM }, { "mount_setattr", EPERM },
	{ "clone3", ENOSYS },	/* its flags are out of sight: libc falls back to clone */
	/* the kernel itself */
	{ "bpf", EPERM }, { "perf_event_open", EPERM }, { "userfaultfd", EPERM }, { "kexec_load", EPERM },
	{ "kexec_file_load", EPERM }, { "init_module", EPERM }, { "finit_module", EPERM }, { "delete_module", EPERM },
	{ "reboot", EPERM }, { "swapon", EPERM }, { "swapoff", EPERM }, { "acct", EPERM }, { "quotactl", EPERM },
	{ "quotactl_fd", EPERM }, { "syslog", EPERM }, { "iopl", EPERM }, { "ioperm", EPERM }, { "modify_ldt", EPERM },
	{ "io_uring_setup", ENOSYS }, { "io_uring_enter", ENOSYS }, { "io_uring_register", ENOSYS },
	{ "name_to_handle_at", EPERM }, { "open_by_handle_at", EPERM }, { "fanotify_init", EPERM },
	/* keys are not in a namespace */
	{ "add_key", EPERM }, { "request_key", EPERM }, { "keyctl", EPERM },
	/* other processes */
	{ "ptrace", EPERM }, { "process_vm_readv", EPERM }, { "process_vm_writev", EPERM }, { "process_madvise", EPERM },
	{ "kcmp", EPERM }, { "pidfd_getfd", EPERM },
	/* the clock */
	{ "settimeofday", EPERM }, { "clock_settime", EPERM }, { "clock_adjtime", EPERM }, { "adjtimex", EPERM },
	/* the CPUs that measure, and a place before other processes */
	{ "sched_setaffinity", EPERM }, { "sched_setscheduler", EPERM }, { "sched_setparam", EPERM },
	{ "sched_setattr", EPERM }, { "ioprio_set", EPERM }, { "set_mempolicy", EPERM }, { "mbind", EPERM },
	{ "migrate_pages", EPERM }, { "move_pages", EPERM },
	/* memory that belongs to no process, so that nobody could say whose it is */
	{ "memfd_create", ENOSYS }, { "memfd_secret", ENOSYS }, { "shmget", ENOSYS }, { "msgget", ENOSYS },
	{ "semget", ENOSYS }, { "mq_open", ENOSYS },
};

/* A name that libseccomp does not know is newer than it is: such a call is allowed. */
static int add_names(scmp_filter_ctx filter)
{
	int code = 0;

	for (gsize i = 0; !code && i < G_N_ELEMENTS(refused); i++) {
		int number = seccomp_syscall_resolve_name(refused[i].call);
		if (number != __NR_SCMP_ERROR)
			code = seccomp_rule_add(filter, SCMP_ACT_ERRNO((guint32)refused[i].answer), number, 0);
	}
	return code;
}

static struct scmp_arg_cmp masked(unsigned argument, scmp_datum_t mask, scmp_datum_t value)
{
	return (struct scmp_arg_cmp){ .arg = argument, .op = SCMP_CMP_MASKED_EQ, .datum_a = mask, .datum_b = value };
}

static int add_arguments(scmp_filter_ctx filter, gboolean network)
{
	static const unsigned long terminal[] = { TIOCSTI, TIOCLINUX };	/* input typed for others */
	static const int namespaces[] = { CLONE_NEWNS, CLONE_NEWUSER, CLONE_NEWPID, CLONE_NEWNET, CLONE_NEWIPC, CLONE_NEWUTS,
					  CLONE_NEWCGROUP };
	int code = 0;

	for (gsize i = 0; !code && i < G_N_ELEMENTS(namespaces); i++)
		code = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(clone), 1,
					masked(0, (scmp_datum_t)namespaces[i], (scmp_datum_t)namespaces[i]));
	for (gsize i = 0; !code && i < G_N_ELEMENTS(terminal); i++)
		code = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(ioctl), 1,
					masked(1, 0xffffffffu, terminal[i]));
	if (!code && !network)
		code = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EAFNOSUPPORT), SCMP_SYS(socket), 1,
					(struct scmp_arg_cmp){ .arg = 0, .op = SCMP_CMP_NE, .datum_a = AF_UNIX });
	return code;
}

int sandbox_filter(gboolean network, GError **error)
{
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);	/* calls of another architecture end the process */
	int fd = memfd_create("filter", MFD_CLOEXEC);
	int code = filter && fd >= 0 ? add_names(filter) : -ENOMEM;

	if (!code)
		code = add_arguments(filter, network);
	if (!code)
		code = seccomp_export_bpf(filter, fd);
	if (filter)
		seccomp_release(filter);
	if (!code && lseek(fd, 0, SEEK_SET) == 0)
		return fd;
	g_set_error(error, CHILD_ERROR, CHILD_ERROR_SANDBOX, "the system call filter cannot be made: %s", g_strerror(-code));
	if (fd >= 0)
		close(fd);
	return -1;
}
