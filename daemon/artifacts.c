/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/artifacts.h"

#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

gboolean artifact_name_is_good(const char *name)
{
	if (*name == '.' || !*name || strlen(name) > 128)
		return FALSE;
	for (; *name; name++)
		if (!g_ascii_isalnum(*name) && !strchr("._+-", *name))
			return FALSE;
	return TRUE;
}

/* STATE/jobs/N or a folder in it; -1: not there, or not a folder but a link. */
static int open_folder(const Lab *lab, gint64 job, const char *folder)
{
	g_autofree char *dir = lab_job_dir(lab, job);
	int fd = open(dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	int inner;

	if (fd < 0 || !folder)
		return fd;
	inner = openat(fd, folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	close(fd);
	return inner;
}

static int compare_names(gconstpointer a, gconstpointer b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static gboolean is_file(int folder, const char *name)
{
	struct stat status;

	return fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(status.st_mode);
}

char **artifacts_list(const Lab *lab, gint64 job)
{
	GPtrArray *names = g_ptr_array_new();
	int fd = open_folder(lab, job, "artifacts");
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;

	while (dir && names->len < ARTIFACTS_MAX && (entry = readdir(dir)))
		if (artifact_name_is_good(entry->d_name) && is_file(fd, entry->d_name))
			g_ptr_array_add(names, g_strdup(entry->d_name));
	if (dir)
		closedir(dir);
	else if (fd >= 0)
		close(fd);
	g_ptr_array_sort(names, compare_names);
	g_ptr_array_add(names, NULL);
	return (char **)g_ptr_array_free(names, FALSE);
}

int artifact_open(const Lab *lab, gint64 job, const char *folder, const char *name, guint64 *ret_size)
{
	int dir = open_folder(lab, job, folder);
	struct stat status;
	int fd;

	if (dir < 0)
		return -1;
	fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	close(dir);
	if (fd < 0)
		return -1;
	if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode)) {
		close(fd);
		return -1;
	}
	*ret_size = (guint64)status.st_size;
	return fd;
}

const char *artifact_type(const char *name)
{
	static const struct {
		const char *suffix, *type;
	} types[] = {
		{ ".txt", "text/plain; charset=utf-8" },
		{ ".log", "text/plain; charset=utf-8" },
		{ ".xml", "text/plain; charset=utf-8" },	/* to be read, not rendered */
		{ ".config", "text/plain; charset=utf-8" },
		{ ".csv", "text/csv; charset=utf-8" },
		{ ".mbox", "text/plain; charset=utf-8" },
		{ ".json", "application/json" },
	};

	for (gsize i = 0; i < G_N_ELEMENTS(types); i++)
		if (g_str_has_suffix(name, types[i].suffix))
			return types[i].type;
	if (g_str_has_prefix(name, "config-"))
		return "text/plain; charset=utf-8";
	return "application/octet-stream";
}
