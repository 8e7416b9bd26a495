/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "jobs/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <pwd.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "jobs/sandbox-filter.h"
#include "jobs/sandbox-watch.h"

#define MIB		(G_GINT64_CONSTANT(1) << 20)
#define FILE_MIB	8192	/* of one file */
#define OPEN_FILES	4096
#define PROCESSES	512	/* of one program and all it starts, and so many more for each CPU */
#define PROCESSES_A_CPU	16
#define PROBE_MS	30000
#define WALK_FDS	64

struct Sandbox {
	gboolean root;		/* the stage is root: programs run as uid and gid */
	uid_t uid;
	gid_t gid;
	int processes;
	gint64 memory_bytes, disk_bytes;
};

#define NOT_SET_UP	"The sandbox of the build cannot be set up, so nothing is built: "

static gboolean sandbox_error(GError **error, const char *words, const char *advice)
{
	g_set_error(error, CHILD_ERROR, CHILD_ERROR_SANDBOX, NOT_SET_UP "%s%s%s", words, *advice ? ". " : "", advice);
	return FALSE;
}

void sandbox_view_add(SandboxView *view, const char *path, const char *at, gboolean writable)
{
	if (view->n < SANDBOX_MAX_BINDS)
		view->binds[view->n++] = (SandboxBind){ .path = path, .at = at, .writable = writable };
}

/* ---- the command line ---- */

/* /bin, /lib ...: links into /usr on a merged system, folders elsewhere. */
static void add_system(GStrvBuilder *argv)
{
	static const char *const folders[] = { "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32" };
	/* what compilers, git and mkfs look at; nothing in it is of this machine */
	static const char *const files[] = { "/etc/alternatives", "/etc/ld.so.cache", "/etc/mke2fs.conf" };

	g_strv_builder_add_many(argv, "--ro-bind", "/usr", "/usr", "--perms", "0755", "--dir", "/etc", NULL);
	for (gsize i = 0; i < G_N_ELEMENTS(folders); i++) {
		g_autofree char *target = g_file_read_link(folders[i], NULL);
		if (target)
			g_strv_builder_add_many(argv, "--symlink", target, folders[i], NULL);
		else
			g_strv_builder_add_many(argv, "--ro-bind-try", folders[i], folders[i], NULL);
	}
	for (gsize i = 0; i < G_N_ELEMENTS(files); i++)
		g_strv_builder_add_many(argv, "--ro-bind-try", files[i], files[i], NULL);
	g_strv_builder_add_many(argv, "--proc", "/proc", "--dev", "/dev", NULL);
}

static void add_memory_folder(GStrvBuilder *argv, const char *path, int size_mib)
{
	g_autofree char *size = g_strdup_printf("%" G_GINT64_FORMAT, size_mib * MIB);

	g_strv_builder_add_many(argv, "--perms", "1777", "--size", size, "--tmpfs", path, NULL);
}

/* The folders above a path, which bwrap would make for its own user alone. */
static void add_parents(GStrvBuilder *argv, const char *path)
{
	for (const char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		g_autofree char *folder = g_strndup(path, (gsize)(slash - path));
		g_strv_builder_add_many(argv, "--perms", "0755", "--dir", folder, NULL);
	}
}

static void add_view(GStrvBuilder *argv, const SandboxView *view)
{
	/* for the remote's name and certificate */
	static const char *const files[] = { "/etc/resolv.conf", "/etc/hosts", "/etc/nsswitch.conf", "/etc/ssl/certs",
					     "/etc/passwd" };

	for (gsize i = 0; view->network && i < G_N_ELEMENTS(files); i++)
		g_strv_builder_add_many(argv, "--ro-bind-try", files[i], files[i], NULL);
	for (gsize i = 0; i < view->n; i++) {
		const SandboxBind *bind = &view->binds[i];
		const char *at = bind->at ? bind->at : bind->path;
		add_parents(argv, at);
		g_strv_builder_add_many(argv, bind->writable ? "--bind" : "--ro-bind", bind->path, at, NULL);
	}
}

/* Of one process each; a lower limit that is in force already stays. */
static void add_limits(const Sandbox *sandbox, GStrvBuilder *argv, const ChildSpec *spec)
{
	const struct {
		const char *option;
		int resource;
		gint64 most;
	} limits[] = {
		{ "cpu", RLIMIT_CPU, spec->timeout_ms > 0 ? spec->timeout_ms / 1000 + 1 : G_MAXINT },
		{ "as", RLIMIT_AS, 2 * sandbox->memory_bytes },
		{ "fsize", RLIMIT_FSIZE, MIN(FILE_MIB * MIB, sandbox->disk_bytes) },
		{ "nproc", RLIMIT_NPROC, 2 * sandbox->processes },
		{ "nofile", RLIMIT_NOFILE, OPEN_FILES },
		{ "memlock", RLIMIT_MEMLOCK, 8 * MIB },
		{ "core", RLIMIT_CORE, 0 },
	};

	g_strv_builder_add(argv, "prlimit");
	for (gsize i = 0; i < G_N_ELEMENTS(limits); i++) {
		struct rlimit now = { RLIM_INFINITY, RLIM_INFINITY };
		getrlimit((__rlimit_resource_t)limits[i].resource, &now);
		g_autofree char *option = g_strdup_printf("--%s=%" G_GUINT64_FORMAT, limits[i].option,
							  MIN((guint64)limits[i].most, (guint64)now.rlim_max));
		g_strv_builder_add(argv, option);
	}
	g_strv_builder_add(argv, "--");
}

/* From root to the user of builds, for good. */
static void add_user(const Sandbox *sandbox, GStrvBuilder *argv)
{
	g_autofree char *uid = g_strdup_printf("--reuid=%u", sandbox->uid), *gid = g_strdup_printf("--regid=%u", sandbox->gid);

	g_strv_builder_add_many(argv, "setpriv", uid, gid, "--clear-groups", "--inh-caps=-all", "--bounding-set=-all",
				"--no-new-privs", "--", NULL);
}

static char **make_argv(const Sandbox *sandbox, const ChildSpec *spec, const SandboxView *view, int filter_fd)
{
	g_autoptr(GStrvBuilder) argv = g_strv_builder_new();
	g_autofree char *filter = g_strdup_printf("%d", filter_fd);
	gboolean drops = sandbox->root && !view->network;

	g_strv_builder_add_many(argv, "bwrap", "--die-with-parent", "--new-session", "--unshare-pid", "--unshare-ipc",
				"--unshare-uts", "--unshare-cgroup-try", "--hostname", "regrlab", NULL);
	if (!view->network)
		g_strv_builder_add(argv, "--unshare-net");
	if (sandbox->root)
		g_strv_builder_add_many(argv, "--cap-drop", "ALL", NULL);
	else
		g_strv_builder_add_many(argv, "--unshare-user", "--disable-userns", NULL);
	if (drops)
		g_strv_builder_add_many(argv, "--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID", "--cap-add", "CAP_SETPCAP",
					NULL);
	add_system(argv);
	add_memory_folder(argv, "/dev/shm", SANDBOX_SHM_MIB);
	add_memory_folder(argv, "/tmp", SANDBOX_TMP_MIB);
	add_view(argv, view);
	g_strv_builder_add_many(argv, "--remount-ro", "/dev", "--remount-ro", "/", "--chdir", spec->cwd ? spec->cwd : "/",
				"--seccomp", filter, "--", NULL);
	if (drops)
		add_user(sandbox, argv);
	add_limits(sandbox, argv, spec);
	g_strv_builder_addv(argv, (const char **)spec->argv);
	return g_strv_builder_end(argv);
}

/* ---- running ---- */

/* What failed before the program was there speaks in the name of one of these. A program that says the same fools only its own job. */
static gboolean check_started(const ChildSpec *spec, const ChildResult *result, GError **error)
{
	static const char missing[] = "prlimit: failed to execute ";

	if (!result->status)
		return TRUE;
	if (g_str_has_prefix(result->errors, missing)) {
		g_set_error(error, CHILD_ERROR, CHILD_ERROR_START, "cannot run %s: it is not installed below /usr", spec->argv[0]);
		return FALSE;
	}
	if (!g_str_has_prefix(result->errors, "bwrap: ") && !g_str_has_prefix(result->errors, "setpriv: ") &&
	    !g_str_has_prefix(result->errors, "prlimit: "))
		return TRUE;
	g_autofree char *words = g_strchomp(g_strndup(result->errors, 300));
	return sandbox_error(error, words, "");
}

gboolean sandbox_run(Sandbox *sandbox, const ChildSpec *spec, const SandboxView *view, ChildResult *ret_result, GError **error)
{
	int filter = sandbox_filter(view->network, error);
	g_auto(GStrv) argv = filter >= 0 ? make_argv(sandbox, spec, view, filter) : NULL;
	g_auto(ChildResult) result = { 0 };
	SandboxWatch watch = {
		.view = view,
		.processes = sandbox->processes,
		.memory_bytes = sandbox->memory_bytes,
		.disk_bytes = sandbox->disk_bytes,
	};
	ChildSpec wrapped = *spec;
	gboolean ok;

	if (filter < 0)
		return FALSE;
	wrapped.argv = (const char *const *)argv;
	wrapped.name = spec->name ? spec->name : spec->argv[0];
	wrapped.cwd = NULL;
	wrapped.keep_fd = filter;
	wrapped.max_stream_bytes = SANDBOX_OUTPUT_MIB * MIB;
	wrapped.watch = sandbox_watch;
	wrapped.watch_data = &watch;
	ok = child_run(&wrapped, &result, error);
	close(filter);
	if (!ok || !check_started(spec, &result, error))
		return FALSE;
	*ret_result = result;
	result = (ChildResult){ 0 };
	return TRUE;
}

/* ---- setting up ---- */

const char *sandbox_advice(const char *words)
{
	static const struct {
		const char *words, *advice;
	} rows[] = {
		{ "namespace", "Allow user namespaces to the lab's user (sysctl user.max_user_namespaces, "
			       "kernel.unprivileged_userns_clone, kernel.apparmor_restrict_unprivileged_userns), "
			       "or, in a container, give it the right to make namespaces." },
		{ "Operation not permitted", "In a container, give it the right to make namespaces and mounts." },
		{ "make / slave", "In a chroot, its root has to be a mount point (mount --bind DIR DIR, before chroot)." },
		{ "proc", "In a container, leave /proc unmasked." },
	};

	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++)
		if (strstr(words, rows[i].words))
			return rows[i].advice;
	return "Run it by hand to see more.";
}

static gboolean probe(Sandbox *sandbox, GError **error)
{
	g_autoptr(GError) problem = NULL;
	g_auto(ChildResult) result = { 0 };
	SandboxView view = { 0 };
	ChildSpec spec = { .argv = (const char *const[]){ "true", NULL }, .timeout_ms = PROBE_MS };

	if (sandbox_run(sandbox, &spec, &view, &result, &problem) && result.status == 0)
		return TRUE;
	const char *message = problem ? problem->message : "";
	gsize said = g_str_has_prefix(message, NOT_SET_UP) ? strlen(NOT_SET_UP) : 0;
	g_autofree char *words = problem ? g_strdup(message + said)
					 : g_strdup_printf("a program in it exits with %d", result.status);
	return sandbox_error(error, words, sandbox_advice(words));
}

static gboolean find_programs(GError **error)
{
	static const char *const rows[][2] = { { "bwrap", "bubblewrap" }, { "setpriv", "util-linux" }, { "prlimit", "util-linux" } };

	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
		g_autofree char *path = g_find_program_in_path(rows[i][0]);
		g_autofree char *words = g_strdup_printf("%s is missing", rows[i][0]);
		g_autofree char *advice = g_strdup_printf("Install the package %s.", rows[i][1]);
		if (!path)
			return sandbox_error(error, words, advice);
	}
	return TRUE;
}

static gboolean find_user(Sandbox *sandbox, const char *name, GError **error)
{
	const struct passwd *user;

	sandbox->root = geteuid() == 0;
	if (!sandbox->root)
		return TRUE;
	user = getpwnam(name);
	if (!user || user->pw_uid == 0) {
		g_autofree char *words = g_strdup_printf("there is no user '%s' other than root, as whom builds run when root starts them",
							 name);
		return sandbox_error(error, words, "Name one in the configuration ([build] user).");
	}
	sandbox->uid = user->pw_uid;
	sandbox->gid = user->pw_gid;
	return TRUE;
}

Sandbox *sandbox_new(const JobPlace *place, GError **error)
{
	g_autoptr(Sandbox) sandbox = g_new0(Sandbox, 1);
	gint64 memory = (gint64)sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE);

	sandbox->processes = PROCESSES + PROCESSES_A_CPU * (int)sysconf(_SC_NPROCESSORS_ONLN);
	sandbox->memory_bytes = place->build_memory_mib ? place->build_memory_mib * MIB : memory / 4 * 3;
	sandbox->disk_bytes = place->build_disk_mib * MIB;
	if (!find_programs(error) || !find_user(sandbox, place->build_user, error) || !probe(sandbox, error))
		return NULL;
	return g_steal_pointer(&sandbox);
}

void sandbox_free(Sandbox *sandbox)
{
	g_free(sandbox);
}

/* ---- folders ---- */

static __thread const Sandbox *giver;	/* nftw() has no argument for it */

static int give_one(const char *path, const struct stat *status, int kind G_GNUC_UNUSED, struct FTW *ftw G_GNUC_UNUSED)
{
	if (status->st_uid == giver->uid && status->st_gid == giver->gid)
		return 0;
	return lchown(path, giver->uid, giver->gid);
}

gboolean sandbox_give(Sandbox *sandbox, const char *path, GError **error)
{
	if (!sandbox->root)
		return TRUE;
	giver = sandbox;
	if (nftw(path, give_one, WALK_FDS, FTW_PHYS | FTW_MOUNT) == 0)
		return TRUE;
	return spec_error_set(error, SPEC_ERROR_IO, NULL, "cannot give %s to the user of builds: %s", path, g_strerror(errno));
}

gboolean sandbox_make_folder(Sandbox *sandbox, const char *path, GError **error)
{
	if (g_mkdir_with_parents(path, 0755) < 0 ||
	    (sandbox->root && chown(path, sandbox->uid, sandbox->gid) < 0))
		return spec_error_set(error, SPEC_ERROR_IO, NULL, "cannot make %s: %s", path, g_strerror(errno));
	return TRUE;
}
