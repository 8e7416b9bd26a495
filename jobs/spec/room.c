/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "jobs/spec/room.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define PROBE_BYTES 4096	/* a block: a file of none needs no room */

const char *room_state_name(RoomState state)
{
	static const char *const names[] = { "ok", "full", "readonly", "unusable" };

	return names[state];
}

/* 0, or the errno of a write. */
static int try_write(const char *folder)
{
	static const char block[PROBE_BYTES];
	g_autofree char *path = g_strdup_printf("%s/.probe-%ld", folder, (long)getpid());
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0600), code = 0;

	if (fd < 0)
		return errno;
	errno = 0;
	if (write(fd, block, sizeof(block)) != (ssize_t)sizeof(block))
		code = errno ? errno : ENOSPC;
	close(fd);
	unlink(path);
	return code;
}

static RoomState state_of(int code)
{
	switch (code) {
	case 0:
	case EMFILE:	/* no descriptors: nothing is known of the disk */
	case ENFILE:
		return ROOM_OK;
	case ENOSPC:
	case EDQUOT:
		return ROOM_FULL;
	case EROFS:
		return ROOM_READONLY;
	default:
		return ROOM_UNUSABLE;
	}
}

RoomState room_probe(const char *folder, char **ret_words)
{
	struct statvfs status;
	int code = try_write(folder);
	RoomState state = state_of(code);

	*ret_words = NULL;
	if (state == ROOM_OK && statvfs(folder, &status) == 0 && status.f_bavail < ROOM_MIN_BYTES / status.f_frsize) {
		*ret_words = g_strdup_printf("%s has %" G_GUINT64_FORMAT " KiB left, wanted are %d", folder,
					     (guint64)status.f_bavail * status.f_frsize / 1024, ROOM_MIN_BYTES / 1024);
		return ROOM_FULL;
	}
	if (state != ROOM_OK)
		*ret_words = g_strdup_printf("%s: %s", folder, g_strerror(code));
	return state;
}
