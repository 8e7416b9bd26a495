/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "jobs/hostmarks.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define STEP_US	(100 * 1000)

/* A mark that was removed while we waited for it is none: FALSE, and it is to be opened again. */
static gboolean is_there(int fd, const char *path)
{
	struct stat ours, there;

	return fstat(fd, &ours) == 0 && stat(path, &there) == 0 && ours.st_ino == there.st_ino;
}

int mark_lock(const char *dir, const char *name, MarkLock lock, int wait_s)
{
	g_autofree char *path = g_build_filename(dir, name, NULL);
	gint64 end_us = g_get_monotonic_time() + wait_s * G_USEC_PER_SEC;

	if (g_mkdir_with_parents(dir, 0755) < 0)
		return -1;
	for (;;) {
		int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);

		if (fd < 0)
			return -1;
		if (flock(fd, (lock == MARK_ALONE ? LOCK_EX : LOCK_SH) | LOCK_NB) == 0) {
			if (is_there(fd, path))
				return fd;
		} else if (errno != EWOULDBLOCK || g_get_monotonic_time() >= end_us) {
			int saved_errno = errno;

			close(fd);
			errno = saved_errno;
			return -1;
		} else {
			g_usleep(STEP_US);
		}
		close(fd);
	}
}

gboolean mark_is_set(int fd)
{
	struct stat status;

	return fstat(fd, &status) == 0 && status.st_size > 0;
}

gboolean mark_set(int fd)
{
	return pwrite(fd, "whole\n", 6, 0) == 6;
}

void mark_clear(int fd)
{
	if (ftruncate(fd, 0) < 0)
		errno = 0;	/* the volume is looked for as well */
}

void mark_touch(int fd)
{
	futimens(fd, NULL);
}

gint64 mark_used_s(const char *dir, const char *name)
{
	g_autofree char *path = g_build_filename(dir, name, NULL);
	struct stat status;

	return stat(path, &status) == 0 ? status.st_mtim.tv_sec : 0;
}
