/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/token.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#define PREFIX "regrlab_"

G_STATIC_ASSERT(TOKEN_SECRET_DIGITS == TOKEN_KEY_BYTES * 2);

static gboolean fail(const char *path, int number, GError **error)
{
	g_set_error(error, G_FILE_ERROR, (int)g_file_error_from_errno(number), "%s: %s", path, g_strerror(number));
	return FALSE;
}

char *token_secret_new(GError **error)
{
	guint8 bytes[TOKEN_SECRET_DIGITS / 2];
	GString *text = g_string_new(NULL);

	if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes)) {
		fail("random numbers", errno, error);
		g_string_free(text, TRUE);
		return NULL;
	}
	for (gsize i = 0; i < sizeof(bytes); i++)
		g_string_append_printf(text, "%02x", bytes[i]);
	return g_string_free(text, FALSE);
}

/* ---- the key's file: hex digits and a newline ---- */

/* Whole or not at all, and never over one that is there. */
static gboolean make_key(const char *path, GError **error)
{
	g_autofree char *digits = token_secret_new(error);
	g_autofree char *line = g_strconcat(digits, "\n", NULL);
	g_autofree char *temporary = g_strdup_printf("%s.%d", path, (int)getpid());
	gboolean good;

	if (!digits || !g_file_set_contents_full(temporary, line, -1, G_FILE_SET_CONTENTS_CONSISTENT |
						 G_FILE_SET_CONTENTS_DURABLE, 0600, error))
		return FALSE;
	good = link(temporary, path) == 0 || errno == EEXIST || fail(path, errno, error);
	unlink(temporary);
	return good;
}

static gboolean is_digits(const char *text, gsize n)
{
	for (gsize i = 0; i < n; i++)
		if (!g_ascii_isdigit(text[i]) && !(text[i] >= 'a' && text[i] <= 'f'))
			return FALSE;
	return TRUE;
}

static gboolean read_key(int fd, const char *path, TokenKey *ret_key, GError **error)
{
	char line[TOKEN_SECRET_DIGITS + 2] = "";
	struct stat status;

	if (fstat(fd, &status) != 0)
		return fail(path, errno, error);
	if (status.st_mode & (S_IRWXG | S_IRWXO)) {
		g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_PERM, "%s: others may use it (mode %03o): chmod 600", path,
			    (unsigned)status.st_mode & 0777);
		return FALSE;
	}
	if (read(fd, line, sizeof(line) - 1) != TOKEN_SECRET_DIGITS + 1 || line[TOKEN_SECRET_DIGITS] != '\n' ||
	    !is_digits(line, TOKEN_SECRET_DIGITS)) {
		g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_INVAL, "%s: not %d hex digits and a newline", path,
			    TOKEN_SECRET_DIGITS);
		return FALSE;
	}
	for (gsize i = 0; i < TOKEN_KEY_BYTES; i++)
		ret_key->bytes[i] = (guint8)(g_ascii_xdigit_value(line[2 * i]) * 16 + g_ascii_xdigit_value(line[2 * i + 1]));
	return TRUE;
}

gboolean token_key_load(const char *path, TokenKey *ret_key, GError **error)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	gboolean good;

	if (fd < 0 && errno == ENOENT) {
		if (!make_key(path, error))
			return FALSE;
		fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	}
	if (fd < 0)
		return fail(path, errno, error);
	good = read_key(fd, path, ret_key, error);
	close(fd);
	return good;
}

/* ---- tokens ---- */

char *token_text(gint64 id, const char *secret)
{
	return g_strdup_printf(PREFIX "%" G_GINT64_FORMAT "_%s", id, secret);
}

gboolean token_parse(const char *text, gint64 *ret_id, const char **ret_secret)
{
	g_autofree char *digits = NULL;
	const char *rest, *secret;
	gint64 id;

	if (!g_str_has_prefix(text, PREFIX) || strlen(text) > TOKEN_MAX_BYTES)
		return FALSE;
	rest = text + strlen(PREFIX);
	secret = strchr(rest, '_');
	if (!secret)
		return FALSE;
	digits = g_strndup(rest, (gsize)(secret - rest));
	secret++;
	if (strlen(secret) != TOKEN_SECRET_DIGITS || !is_digits(secret, TOKEN_SECRET_DIGITS) ||
	    !g_ascii_string_to_signed(digits, 10, 1, G_MAXINT64, &id, NULL))
		return FALSE;
	*ret_id = id;
	*ret_secret = secret;
	return TRUE;
}

char *token_hash(const TokenKey *key, const char *secret)
{
	return g_compute_hmac_for_string(G_CHECKSUM_SHA256, key->bytes, sizeof(key->bytes), secret, -1);
}

gboolean token_hash_is(const char *hash, const char *other)
{
	gsize n = strlen(hash);
	volatile guint8 differ = 0;

	if (strlen(other) != n)
		return FALSE;
	for (gsize i = 0; i < n; i++)
		differ |= (guint8)(hash[i] ^ other[i]);
	return !differ;
}
