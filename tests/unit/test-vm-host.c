/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Files for a host, the embedded driver's directory, addresses of hosts. */
#include <fcntl.h>
#include <glib/gstdio.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "jobs/hostmarks.h"
#include "jobs/hostvolumes.h"
#include "jobs/spec/file.h"
#include "jobs/vm-embed.h"
#include "jobs/vm-host.h"

/* ---- the store ---- */

typedef struct {
	char *dir;
} Place;

static void place_open(Place *place, gconstpointer data G_GNUC_UNUSED)
{
	place->dir = g_dir_make_tmp("vm-XXXXXX", NULL);
	g_chmod(place->dir, 0755);
}

static void remove_all(const char *path)
{
	g_autoptr(GDir) dir = g_dir_open(path, 0, NULL);
	const char *name;

	while (dir && (name = g_dir_read_name(dir))) {
		g_autofree char *child = g_build_filename(path, name, NULL);
		if (g_file_test(child, G_FILE_TEST_IS_DIR) && !g_file_test(child, G_FILE_TEST_IS_SYMLINK))
			remove_all(child);
		g_unlink(child);
	}
	g_rmdir(path);
}

static void place_close(Place *place, gconstpointer data G_GNUC_UNUSED)
{
	remove_all(place->dir);
	g_free(place->dir);
}

static void test_store_kept(Place *place, gconstpointer data G_GNUC_UNUSED)
{
	g_autoptr(HostStore) store = host_store_new(place->dir, (uid_t)-1, (gid_t)-1, NULL);
	g_autofree char *a = g_build_filename(place->dir, "a", NULL), *b = g_build_filename(place->dir, "b", NULL);
	g_autoptr(GBytes) tail = g_bytes_new_static("tail", 4);

	g_assert_true(g_file_set_contents(a, "one", 3, NULL) && g_file_set_contents(b, "two", 3, NULL));
	g_autofree char *path = host_store_put_file(store, a, NULL), *same = host_store_put_file(store, a, NULL);
	g_autofree char *other = host_store_put_file(store, b, NULL), *file = host_store_put_file(store, other, NULL);
	g_autofree char *joined = host_store_put_joined(store, a, tail, "rl-1-0", NULL), *content = NULL;
	gsize size;
	struct stat status;

	g_assert_cmpstr(path, ==, same);
	g_assert_cmpstr(path, !=, other);
	g_assert_cmpstr(file, ==, other);
	g_assert_cmpint(stat(path, &status), ==, 0);
	g_assert_cmpint(status.st_mode & 0777, ==, 0644);
	g_assert_null(host_store_put_file(store, "/nonexistent", NULL));
	g_assert_null(host_store_put_joined(store, "/nonexistent", tail, "x", NULL));
	/* an archive begins at a multiple of 4 */
	g_assert_true(g_file_get_contents(joined, &content, &size, NULL));
	g_assert_cmpmem(content, size, "one\0tail", 8);
	host_store_remove(store, joined);

	/* the one used longest ago goes first */
	struct timespec old[2] = { { .tv_sec = 1000000000 }, { .tv_sec = 1000000000 } };
	utimensat(AT_FDCWD, path, old, 0);
	host_store_prune(store, 4, 60);
	g_assert_cmpint(access(path, F_OK), <, 0);
	g_assert_cmpint(access(other, F_OK), ==, 0);
	host_store_remove(store, other);
	host_store_remove(store, other);
	g_assert_cmpint(access(other, F_OK), <, 0);
}

static void test_store_scratch(Place *place, gconstpointer data G_GNUC_UNUSED)
{
	g_autoptr(HostStore) store = host_store_new(place->dir, (uid_t)-1, (gid_t)-1, NULL);
	g_autofree char *image = g_build_filename(place->dir, "template", NULL);
	int fd = open(image, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	char buffer[8];
	struct stat status;

	/* 64 MiB with two islands */
	g_assert_cmpint(ftruncate(fd, 64 << 20), ==, 0);
	g_assert_cmpint(pwrite(fd, "begin", 5, 0), ==, 5);
	g_assert_cmpint(pwrite(fd, "middle", 6, 33 << 20), ==, 6);
	close(fd);
	g_autofree char *copy = host_store_scratch(store, image, "rl-1-0", NULL);
	g_autofree char *again = host_store_scratch(store, image, "rl-1-0", NULL);
	g_assert_cmpstr(copy, ==, again);
	fd = open(copy, O_RDWR | O_CLOEXEC);
	g_assert_cmpint(fstat(fd, &status), ==, 0);
	g_assert_cmpint(status.st_size, ==, 64 << 20);
	g_assert_cmpint(status.st_blocks, <, 1024);
	g_assert_cmpint(pread(fd, buffer, 6, 33 << 20), ==, 6);
	g_assert_cmpint(memcmp(buffer, "middle", 6), ==, 0);
	g_assert_cmpint(pread(fd, buffer, 5, 0), ==, 5);
	g_assert_cmpint(memcmp(buffer, "begin", 5), ==, 0);
	close(fd);

	host_store_prune(store, 0, 3600);
	g_assert_cmpint(access(copy, F_OK), ==, 0);
	struct timespec old[2] = { { .tv_sec = 1000000000 }, { .tv_sec = 1000000000 } };
	utimensat(AT_FDCWD, copy, old, 0);
	host_store_prune(store, 0, 3600);
	g_assert_cmpint(access(copy, F_OK), <, 0);
	g_assert_null(host_store_scratch(store, "/nonexistent", "x", NULL));
}

static void test_reachable(Place *place, gconstpointer data G_GNUC_UNUSED)
{
	g_autofree char *closed_dir = g_build_filename(place->dir, "closed", NULL);
	g_autofree char *inner = g_build_filename(closed_dir, "in", "ner", NULL);
	g_autofree char *closed = NULL, *none = NULL;
	g_autoptr(GError) error = NULL;

	g_assert_cmpint(g_mkdir(closed_dir, 0700), ==, 0);
	g_assert_true(host_store_reachable(place->dir, 12345, 12345, &none));
	g_assert_false(host_store_reachable(inner, 12345, 12345, &closed));
	g_assert_cmpstr(closed, ==, closed_dir);
	g_assert_true(host_store_reachable(inner, getuid(), getgid(), &none));
	g_assert_true(host_store_reachable(inner, 0, 0, &none));
	g_assert_null(host_store_new(inner, 12345, 12345, &error));
	g_assert_error(error, HOST_STORE_ERROR, HOST_STORE_ERROR_ACCESS);
	g_assert_nonnull(strstr(error->message, closed_dir));
}

/* A run that somebody works on, one that nobody does, and one of which nothing can be said: only the second is dead. */
static void test_dead_runs(Place *place, gconstpointer data G_GNUC_UNUSED)
{
	g_autofree char *file = g_build_filename(place->dir, "file", NULL), *marks = g_build_filename(place->dir, "marks", NULL);
	g_autofree char *below = g_build_filename(file, "marks", NULL);
	int mark = mark_lock(marks, "run-lives", MARK_SHARED, 0);

	g_assert_cmpint(mark, >=, 0);
	g_assert_false(host_run_is_dead(marks, "lives"));
	g_assert_true(host_run_is_dead(marks, "died"));
	close(mark);
	g_assert_true(host_run_is_dead(marks, "lives"));
	g_assert_true(g_file_set_contents(file, "", 0, NULL));
	g_assert_false(host_run_is_dead(below, "died"));
}

/* ---- the embedded driver's directory ---- */

static void test_embed(Place *place, gconstpointer data G_GNUC_UNUSED)
{
	g_autofree char *root = g_build_filename(place->dir, "a rather long name of a directory", "root", NULL);
	g_autofree char *uri = g_strdup_printf("qemu:///embed?root=%s", root);
	g_autofree char *escaped = g_uri_escape_string(uri, ":/?=", FALSE);
	g_autofree char *conf = g_build_filename(root, "etc", "qemu.conf", NULL), *text = NULL;
	VmEmbed embed;

	g_assert_true(vm_embed_is(escaped));
	g_assert_false(vm_embed_is("qemu:///system"));
	g_assert_true(vm_embed_prepare(escaped, &embed, NULL));
	g_assert_cmpstr(embed.root, ==, root);
	/* the link is short and leads there */
	const char *link = strstr(embed.uri, "root=") + 5;
	g_assert_cmpuint(strlen(link), <=, 40);
	g_autofree char *target = g_file_read_link(link, NULL);
	g_assert_cmpstr(target, ==, root);
	g_unlink(link);
	g_assert_true(g_file_get_contents(conf, &text, NULL, NULL));
	g_autofree char *user = g_strdup_printf("user = \"+%u\"", (guint)embed.uid);
	g_assert_nonnull(strstr(text, user));
	vm_embed_clear(&embed);

	/* what an administrator wrote stays */
	g_assert_true(g_file_set_contents(conf, "# mine\n", -1, NULL));
	g_assert_true(vm_embed_prepare(escaped, &embed, NULL));
	g_unlink(strstr(embed.uri, "root=") + 5);
	vm_embed_clear(&embed);
	g_free(text);
	g_assert_true(g_file_get_contents(conf, &text, NULL, NULL));
	g_assert_cmpstr(text, ==, "# mine\n");
}

static pid_t start_named(const char *name)
{
	g_autofree char *guest = g_strconcat("guest=", name, NULL);
	const char *argv[] = { "/bin/sleep", guest, "600", NULL };	/* what it runs, and its command line */
	GPid pid;

	g_assert_true(g_spawn_async(NULL, (char **)argv, NULL, G_SPAWN_FILE_AND_ARGV_ZERO | G_SPAWN_DO_NOT_REAP_CHILD, NULL, NULL, &pid, NULL));
	return pid;
}

static void write_status(const char *folder, const char *name, const char *job, pid_t pid)
{
	g_autofree char *xml = g_strdup_printf("%s/%s.xml", folder, name), *number = g_strdup_printf("%s/%s.pid", folder, name);
	g_autofree char *text = g_strdup_printf("<domstatus pid='0'>\n  <job type='none' async='%s'/>\n</domstatus>\n", job);
	g_autofree char *line = g_strdup_printf("%d\n", (int)pid);

	g_assert_true(g_file_set_contents(xml, text, -1, NULL) && g_file_set_contents(number, line, -1, NULL));
}

static gboolean is_there(const char *folder, const char *name)
{
	g_autofree char *xml = g_strdup_printf("%s/%s.xml", folder, name);

	return g_file_test(xml, G_FILE_TEST_EXISTS);
}

/* What a stage was about to start when it was killed is ended; what ran is libvirt's, and a number given away is nobody's. */
static void test_unstarted(Place *place, gconstpointer data G_GNUC_UNUSED)
{
	g_autofree char *folder = g_build_filename(place->dir, "run", "qemu", NULL);
	pid_t starting = start_named("rl-1"), running = start_named("rl-2"), other = start_named("else");

	g_assert_cmpint(g_mkdir_with_parents(folder, 0755), ==, 0);
	g_usleep(G_USEC_PER_SEC / 5);	/* until they are what they will be */
	write_status(folder, "rl-1", "start", starting);
	write_status(folder, "rl-2", "none", running);
	write_status(folder, "rl-3", "start", other);
	vm_embed_forget_unstarted(place->dir);
	g_assert_false(is_there(folder, "rl-1"));
	g_assert_true(is_there(folder, "rl-2"));
	g_assert_false(is_there(folder, "rl-3"));
	g_assert_cmpint(waitpid(starting, NULL, 0), ==, starting);
	g_assert_cmpint(waitpid(running, NULL, WNOHANG), ==, 0);
	g_assert_cmpint(waitpid(other, NULL, WNOHANG), ==, 0);
	kill(running, SIGKILL);
	kill(other, SIGKILL);
	g_assert_cmpint(waitpid(running, NULL, 0), ==, running);
	g_assert_cmpint(waitpid(other, NULL, 0), ==, other);
}

static void test_embed_uri(void)
{
	const char *const wrong[] = { "qemu:///embed?root=relative", "qemu:///embed?", "qemu:///embed?rot=/x" };

	for (gsize i = 0; i < G_N_ELEMENTS(wrong); i++) {
		g_autoptr(GError) error = NULL;
		VmEmbed embed;
		g_assert_false(vm_embed_prepare(wrong[i], &embed, &error));
		g_assert_error(error, VM_ERROR, VM_ERROR_URI);
	}
}

static void test_remote_uri(void)
{
	const char *const wrong[] = { "xen:///", "nonsense", "" };

	for (gsize i = 0; i < G_N_ELEMENTS(wrong); i++) {
		const VmHostSetup setup = { wrong[i], "", "/nonexistent", "lab", "run", -1 };
		g_autoptr(GError) error = NULL;

		g_assert_null(vm_host_open(&setup, &error));
		g_assert_error(error, VM_ERROR, VM_ERROR_URI);
	}
	g_assert_true(vm_host_is_here("qemu:///system") && vm_host_is_here("qemu:///embed?root=/x"));
	g_assert_false(vm_host_is_here("qemu+ssh://root@fast.example.org/system"));
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add("/vm/store/kept", Place, NULL, place_open, test_store_kept, place_close);
	g_test_add("/vm/store/scratch", Place, NULL, place_open, test_store_scratch, place_close);
	g_test_add("/vm/embed/unstarted", Place, NULL, place_open, test_unstarted, place_close);
	g_test_add("/vm/dead-runs", Place, NULL, place_open, test_dead_runs, place_close);
	g_test_add("/vm/store/reachable", Place, NULL, place_open, test_reachable, place_close);
	g_test_add("/vm/embed/directory", Place, NULL, place_open, test_embed, place_close);
	g_test_add_func("/vm/embed/uri", test_embed_uri);
	g_test_add_func("/vm/remote-uri", test_remote_uri);
	return g_test_run();
}
