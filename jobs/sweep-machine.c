/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Stages whose daemon died, virtual machines whose stage died, links to drivers' folders that are gone. */
#include <errno.h>
#include <libvirt/libvirt.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "jobs/measure-boot.h"
#include "jobs/spec/file.h"
#include "jobs/spec/place.h"
#include "jobs/sweep.h"
#include "jobs/vm-embed.h"
#include "jobs/vm-host.h"

#define PROC_MAX	(1024 * 1024)
#define NAME_PREFIX	"rl-"
#define LINK_DIGITS	8

/* ---- stages ---- */

/* The words of a command line or an environment, each ended by NUL; the caller's, NULL: it is gone, or not ours to see. */
static char **proc_words(const char *pid, const char *what)
{
	g_autofree char *path = g_strdup_printf("/proc/%s/%s", pid, what), *data = NULL;
	gsize size;
	GPtrArray *words;

	if (!file_read(path, PROC_MAX, &data, &size, NULL))
		return NULL;
	words = g_ptr_array_new();
	for (gsize at = 0; at < size; at += strlen(data + at) + 1)
		g_ptr_array_add(words, g_strdup(data + at));
	g_ptr_array_add(words, NULL);
	return (char **)g_ptr_array_free(words, FALSE);
}

static long parent_of(const char *pid)
{
	g_autofree char *path = g_strdup_printf("/proc/%s/stat", pid), *text = NULL;
	const char *end;

	if (!file_read(path, PROC_MAX, &text, NULL, NULL) || !(end = strrchr(text, ')')) || strlen(end) < 5)
		return 0;
	return strtol(end + 4, NULL, 10);	/* ") S PPID" */
}

/* A stage of this lab that a daemon started (who runs one by hand has no such variable), and that is nobody's child now. */
static gboolean is_left_alone(const Sweep *sweep, const char *pid)
{
	g_auto(GStrv) words = proc_words(pid, "cmdline"), variables = NULL;
	g_autofree char *jobs = g_strconcat(sweep->order->state_dir, "/jobs/", NULL);

	if (!words || g_strv_length(words) != 3 || !g_str_equal(words[0], sweep->order->job_program) ||
	    !g_str_has_prefix(words[2], jobs))
		return FALSE;
	variables = proc_words(pid, "environ");
	for (char **variable = variables; variable && *variable; variable++)
		if (g_str_has_prefix(*variable, STAGE_PARENT_VARIABLE "="))
			return strtol(strchr(*variable, '=') + 1, NULL, 10) != parent_of(pid);
	return FALSE;
}

static void sweep_stages(Sweep *sweep)
{
	g_autoptr(GDir) dir = g_dir_open("/proc", 0, NULL);
	const char *pid;

	while (dir && (pid = g_dir_read_name(dir)))
		if (g_ascii_isdigit(*pid) && is_left_alone(sweep, pid) && sweep_say(sweep, "process", pid, 0, "its daemon has died") &&
		    kill((pid_t)atol(pid), SIGKILL) != 0)
			sweep_failed(sweep, pid, g_strerror(errno));
}

/* ---- virtual machines: rl-JOB-BOOT-RUN, and the run in their metadata ---- */

/* Its run directory, if it is of this lab; the caller's. */
static char *run_dir_of(const Sweep *sweep, virDomainPtr domain)
{
	const char *name = virDomainGetName(domain);
	g_autofree char *run = NULL, *want = NULL, *dir = NULL;
	gint64 job;

	if (!name || !g_str_has_prefix(name, NAME_PREFIX) || (job = g_ascii_strtoll(name + strlen(NAME_PREFIX), NULL, 10)) <= 0)
		return NULL;
	dir = g_strdup_printf("%s/jobs/%" G_GINT64_FORMAT, sweep->order->state_dir, job);
	run = vm_domain_run(domain);
	want = boot_run_name(dir);
	return g_strcmp0(run, want) == 0 ? g_steal_pointer(&dir) : NULL;
}

static void sweep_domain(Sweep *sweep, VmHost *host, virDomainPtr domain)
{
	g_autofree char *dir = run_dir_of(sweep, domain), *lock = dir ? g_build_filename(dir, "lock", NULL) : NULL;
	g_autoptr(GError) error = NULL;
	int fd = dir ? sweep_lock(lock) : -1;

	/* no lock: a stage is at work in it. No such directory: none can be */
	if (dir && (fd >= 0 || access(dir, F_OK) != 0) &&
	    sweep_say(sweep, "domain", virDomainGetName(domain), 0, "its stage has died") && !vm_host_end_domain(host, domain, &error))
		sweep_failed(sweep, virDomainGetName(domain), error->message);
	if (fd >= 0)
		close(fd);
}

static void sweep_host(Sweep *sweep, const char *uri)
{
	g_autofree char *marks = g_build_filename(sweep->order->cache_dir, "volumes", "sweep", NULL);
	g_autofree char *lab = boot_lab_name(sweep->order->cache_dir), *run = boot_run_name(marks);
	const VmHostSetup setup = { uri, "", marks, lab, run, -1 };
	g_autoptr(GError) error = NULL;
	g_autoptr(VmHost) host = NULL;
	virDomainPtr *domains = NULL;
	int count;

	/* the others have looks (look.h), which do this and their volumes */
	if (!vm_embed_is(uri))
		return;
	host = vm_host_open(&setup, &error);
	if (!host) {	/* a stage has it, or it is away: next time */
		g_print("not looked at: %s\n", error->message);
		return;
	}
	count = virConnectListAllDomains(vm_host_connection(host), &domains, VIR_CONNECT_LIST_DOMAINS_ACTIVE);
	for (int i = 0; i < count; i++) {
		sweep_domain(sweep, host, domains[i]);
		virDomainFree(domains[i]);
	}
	free(domains);
}

/* ---- /run/rl-…, which lead to the folders of embedded drivers ---- */

static void sweep_links(Sweep *sweep)
{
	const char *runtime = geteuid() == 0 ? "/run" : g_get_user_runtime_dir();
	g_autoptr(GDir) dir = g_dir_open(runtime, 0, NULL);
	const char *name;

	while (dir && (name = g_dir_read_name(dir))) {
		g_autofree char *path = g_build_filename(runtime, name, NULL), *target = g_file_read_link(path, NULL), *digest = NULL;
		struct stat status;

		if (!g_str_has_prefix(name, NAME_PREFIX) || !target || lstat(path, &status) != 0 || status.st_uid != geteuid() ||
		    sweep->now_s - status.st_mtim.tv_sec < sweep->order->grace_s || access(target, F_OK) == 0 || errno != ENOENT)
			continue;
		/* the name is made of the target: a link that is not so made is not ours */
		digest = g_compute_checksum_for_string(G_CHECKSUM_SHA256, target, -1);
		if (strlen(name) == strlen(NAME_PREFIX) + LINK_DIGITS &&
		    strncmp(name + strlen(NAME_PREFIX), digest, LINK_DIGITS) == 0)
			sweep_remove(sweep, "link", path, NULL, 0, "leads nowhere");
	}
}

void sweep_machine(Sweep *sweep)
{
	if (sweep->order->daemon_pid)
		sweep_stages(sweep);
	for (char **uri = sweep->order->hosts; *uri; uri++)
		sweep_host(sweep, *uri);
	sweep_links(sweep);
}
