/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "jobs/vm-embed.h"

#include <errno.h>
#include <fcntl.h>
#include <pwd.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "jobs/spec/file.h"
#include "jobs/vm-host.h"

#define URI_PREFIX	"qemu:///embed?"
#define QEMU_USER	"libvirt-qemu"
#define CONF_MARK	"# written by regrlab; change this line to keep your own"
#define CONF_MAX_BYTES	(64 * 1024)
#define STATUS_MAX_BYTES (4 * 1024 * 1024)	/* of libvirt's file of a domain */
#define KILL_TRIES	50
/* ROOT/lib/qemu/channel/target/domain-NNN-(20 characters)/org.regrlab.results.0 must fit into 107 bytes */
#define ROOT_MAX	24

gboolean vm_embed_is(const char *uri)
{
	return g_str_has_prefix(uri, URI_PREFIX);
}

void vm_embed_clear(VmEmbed *embed)
{
	g_clear_pointer(&embed->root, g_free);
	g_clear_pointer(&embed->uri, g_free);
	g_clear_pointer(&embed->note, g_free);
}

static gboolean access_error(GError **error, const char *what, const char *path)
{
	g_set_error(error, VM_ERROR, VM_ERROR_ACCESS, "cannot %s %s: %s", what, path, g_strerror(errno));
	return FALSE;
}

static gboolean parse_root(const char *uri, char **ret_root, GError **error)
{
	g_autoptr(GHashTable) query = g_uri_parse_params(uri + strlen(URI_PREFIX), -1, "&", G_URI_PARAMS_NONE, NULL);
	const char *root = query ? g_hash_table_lookup(query, "root") : NULL;

	if (!root || !g_path_is_absolute(root)) {
		g_set_error(error, VM_ERROR, VM_ERROR_URI, "%s: wanted qemu:///embed?root=DIR with an absolute DIR", uri);
		return FALSE;
	}
	*ret_root = g_canonicalize_filename(root, NULL);
	return TRUE;
}

/* Whom QEMU shall run as: us, unless we are root and there is a user made for it who can get at the root. */
static void choose_user(VmEmbed *embed)
{
	const struct passwd *user = geteuid() == 0 ? getpwnam(QEMU_USER) : NULL;
	g_autofree char *closed = NULL;

	embed->uid = geteuid();
	embed->gid = getegid();
	embed->note = g_strdup("");
	if (geteuid() != 0)
		return;
	if (user && host_store_reachable(embed->root, user->pw_uid, user->pw_gid, &closed)) {
		embed->uid = user->pw_uid;
		embed->gid = user->pw_gid;
		return;
	}
	g_free(embed->note);
	if (user)
		embed->note = g_strdup_printf("QEMU runs as root: its own user %s cannot enter %s; a state directory outside "
					      "of it is safer", QEMU_USER, closed);
	else
		embed->note = g_strdup("QEMU runs as root: there is no user " QEMU_USER);
}

/* QEMU needs no network, nor does who starts it: both get one with nothing in it. Only root can make one so. */
static void leave_network(VmEmbed *embed)
{
	char *note;

	if (geteuid() != 0 || unshare(CLONE_NEWNET) == 0)
		return;
	note = g_strdup_printf("%s%sQEMU has this machine's network in reach: %s", embed->note, *embed->note ? "; " : "",
			       g_strerror(errno));
	g_free(embed->note);
	embed->note = note;
}

static gboolean write_conf(const VmEmbed *embed, GError **error)
{
	g_autofree char *dir = g_build_filename(embed->root, "etc", NULL);
	g_autofree char *path = g_build_filename(embed->root, "etc", "qemu.conf", NULL);
	g_autofree char *text = g_strdup_printf(
		CONF_MARK "\n"
		"user = \"+%u\"\n"
		"group = \"+%u\"\n"
		"# the files of a boot are made for QEMU's user: nothing to hand over\n"
		"dynamic_ownership = 0\n"
		"remember_owner = 0\n"
		"security_driver = \"none\"\n"
		"# no virtlogd, no cgroups, no mount namespaces: works in a bare chroot\n"
		"stdio_handler = \"file\"\n"
		"cgroup_controllers = [ ]\n"
		"namespaces = [ ]\n",
		(guint)embed->uid, (guint)embed->gid);
	g_autofree char *old = NULL;

	if (g_mkdir_with_parents(dir, 0755) < 0)
		return access_error(error, "make", dir);
	if (g_file_test(path, G_FILE_TEST_EXISTS)) {
		if (!file_read(path, CONF_MAX_BYTES, &old, NULL, error))
			return FALSE;
		if (!g_str_has_prefix(old, CONF_MARK) || g_str_equal(old, text))
			return TRUE;
	}
	return file_write(path, text, strlen(text), error);
}

/* A link of few characters to a long root, in a directory that only we can write. */
static gboolean short_root(const char *root, char **ret_root, GError **error)
{
	const char *runtime = geteuid() == 0 ? "/run" : g_get_user_runtime_dir();
	g_autofree char *digest = g_compute_checksum_for_string(G_CHECKSUM_SHA256, root, -1);
	g_autofree char *link = g_strdup_printf("%s/rl-%.8s", runtime, digest);
	char *target = g_file_read_link(link, NULL);
	gboolean there = g_strcmp0(target, root) == 0;

	g_free(target);
	if (!there) {
		unlink(link);
		if (symlink(root, link) < 0)
			return access_error(error, "make the link", link);
	}
	*ret_root = g_steal_pointer(&link);
	return TRUE;
}

/* ---- what was not started to the end ---- */

/* Whether another process has the root open: libvirt locks this file then. */
static gboolean is_open(const char *root)
{
	g_autofree char *path = g_build_filename(root, "run", "qemu", "driver.pid", NULL);
	struct flock lock = { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1 };
	int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
	gboolean locked;

	if (fd < 0)
		return errno != ENOENT;
	locked = fcntl(fd, F_GETLK, &lock) != 0 || lock.l_type != F_UNLCK;
	close(fd);
	return locked;
}

/* The process of that domain, by its pid file; 0: it is gone. */
static pid_t find_qemu(const char *folder, const char *name)
{
	g_autofree char *file = g_strconcat(name, ".pid", NULL), *path = g_build_filename(folder, file, NULL), *text = NULL;
	g_autofree char *guest = g_strconcat("guest=", name, NULL), *proc = NULL, *line = NULL;
	guint64 pid;
	gsize size;

	if (!file_read(path, 64, &text, NULL, NULL) ||
	    !g_ascii_string_to_unsigned(g_strchomp(text), 10, 2, G_MAXINT, &pid, NULL))
		return 0;
	proc = g_strdup_printf("/proc/%d/cmdline", (int)pid);
	/* the number may be another program's by now */
	return g_file_get_contents(proc, &line, &size, NULL) && memmem(line, size, guest, strlen(guest)) ? (pid_t)pid : 0;
}

static void forget(const char *folder, const char *name)
{
	static const char *const suffixes[] = { ".xml", ".pid" };
	pid_t pid;

	for (int tries = 0; (pid = find_qemu(folder, name)) && tries < KILL_TRIES; tries++) {
		kill(pid, SIGKILL);
		g_usleep(G_USEC_PER_SEC / 10);
	}
	for (gsize i = 0; i < G_N_ELEMENTS(suffixes); i++) {
		g_autofree char *file = g_strconcat(name, suffixes[i], NULL), *path = g_build_filename(folder, file, NULL);

		unlink(path);
	}
}

void vm_embed_forget_unstarted(const char *root)
{
	g_autofree char *folder = g_build_filename(root, "run", "qemu", NULL);
	g_auto(GStrv) names = file_names(folder, ".xml", NULL);

	if (!names || is_open(root))
		return;
	for (char **name = names; *name; name++) {
		g_autofree char *file = g_strconcat(*name, ".xml", NULL), *path = g_build_filename(folder, file, NULL);
		g_autofree char *status = NULL;

		if (file_read(path, STATUS_MAX_BYTES, &status, NULL, NULL) && strstr(status, " async='start'"))
			forget(folder, *name);
	}
}

/* ---- opening ---- */

gboolean vm_embed_prepare(const char *uri, VmEmbed *ret_embed, GError **error)
{
	VmEmbed embed = { 0 };
	g_autofree char *root = NULL;

	if (!parse_root(uri, &embed.root, error))
		return FALSE;
	if (g_mkdir_with_parents(embed.root, 0755) < 0) {
		access_error(error, "make", embed.root);
		vm_embed_clear(&embed);
		return FALSE;
	}
	vm_embed_forget_unstarted(embed.root);
	choose_user(&embed);
	leave_network(&embed);
	if (!write_conf(&embed, error) ||
	    (strlen(embed.root) > ROOT_MAX && !short_root(embed.root, &root, error))) {
		vm_embed_clear(&embed);
		return FALSE;
	}
	g_autofree char *escaped = g_uri_escape_string(root ? root : embed.root, "/", FALSE);
	embed.uri = g_strconcat(URI_PREFIX, "root=", escaped, NULL);
	*ret_embed = embed;
	return TRUE;
}
