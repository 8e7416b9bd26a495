/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "jobs/slot-file.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "jobs/spec/file.h"

static gboolean io_error(GError **error, const char *what, const char *folder, const char *name)
{
	return spec_error_set(error, SPEC_ERROR_IO, NULL, "cannot %s %s/%s: %s", what, folder, name, g_strerror(errno));
}

/* A regular file, or -1 and errno. */
static int open_inside(const char *folder, const char *name)
{
	const struct open_how how = {
		.flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC,
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS,
	};
	int dir = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	struct stat status;

	if (dir < 0)
		return -1;
	int fd = (int)syscall(SYS_openat2, dir, name, &how, sizeof(how));
	close(dir);
	if (fd >= 0 && (fstat(fd, &status) < 0 || !S_ISREG(status.st_mode))) {
		close(fd);
		errno = EINVAL;	/* not a file */
		return -1;
	}
	return fd;
}

gboolean slot_file_exists(const char *folder, const char *name)
{
	int fd = open_inside(folder, name);

	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

gboolean slot_file_read(const char *folder, const char *name, gsize max_bytes, char **ret_data, gsize *ret_size, GError **error)
{
	g_autofree char *path = g_build_filename(folder, name, NULL);
	int fd = open_inside(folder, name);
	gboolean ok;

	if (fd < 0)
		return io_error(error, "read", folder, name);
	ok = file_read_fd(fd, path, max_bytes, ret_data, ret_size, error);
	close(fd);
	return ok;
}

static gboolean write_new(int dir, const char *name, const char *text)
{
	struct stat status;

	unlinkat(dir, name, 0);
	int fd = openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
	if (fd < 0)
		return FALSE;
	gboolean ok = fstat(dir, &status) == 0 && fchown(fd, status.st_uid, status.st_gid) == 0 &&
		      write(fd, text, strlen(text)) == (ssize_t)strlen(text);
	return close(fd) == 0 && ok;
}

gboolean slot_file_write(const char *folder, const char *name, const char *text, GError **error)
{
	g_autofree char *tmp = g_strconcat(name, ".new", NULL);
	int dir = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	gboolean ok = dir >= 0 && write_new(dir, tmp, text) && renameat(dir, tmp, dir, name) == 0;

	if (!ok)
		io_error(error, "write", folder, name);
	if (dir >= 0)
		close(dir);
	return ok;
}
