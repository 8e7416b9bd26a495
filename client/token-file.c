/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "client/token-file.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "client/remote.h"

#define TOKEN_FILE_MAX 512

static gboolean fail(GError **error, const char *path, const char *what)
{
	g_set_error(error, REMOTE_ERROR, REMOTE_ERROR_FILE, "%s: %s", path, what);
	return FALSE;
}

/* It goes into a header as it is. */
static gboolean is_token(const char *text)
{
	if (!*text)
		return FALSE;
	for (; *text; text++)
		if (!g_ascii_isalnum(*text) && *text != '_')
			return FALSE;
	return TRUE;
}

static gboolean read_token(int fd, const char *path, char **ret_token, GError **error)
{
	char text[TOKEN_FILE_MAX + 1] = "";
	struct stat status;

	if (fstat(fd, &status) != 0 || read(fd, text, TOKEN_FILE_MAX) < 0)
		return fail(error, path, g_strerror(errno));
	if (status.st_mode & (S_IRWXG | S_IRWXO))
		return fail(error, path, "others can read this token; chmod 600, and better make a new one");
	g_strstrip(text);
	if (!is_token(text))
		return fail(error, path, "there is no token in it");
	*ret_token = g_strdup(text);
	return TRUE;
}

gboolean token_file_find(const char *file, char **ret_token, GError **error)
{
	g_autofree char *standard = g_build_filename(g_get_user_config_dir(), "regrlab", "token", NULL);
	const char *path = file ? file : standard, *environment = g_getenv("REGRLAB_TOKEN");
	gboolean good;
	int fd;

	*ret_token = NULL;
	if (!file && environment && *environment) {
		if (!is_token(environment))
			return fail(error, "$REGRLAB_TOKEN", "there is no token in it");
		*ret_token = g_strdup(environment);
		return TRUE;
	}
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return (!file && errno == ENOENT) || fail(error, path, g_strerror(errno));
	good = read_token(fd, path, ret_token, error);
	close(fd);
	return good;
}
