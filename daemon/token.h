/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tokens as text: regrlab_ID_SECRET, the secret being 256 random bits in hex.
 *
 * At rest there is only HMAC-SHA256 of the secret with a key of this lab, in
 * STATE/token.key (mode 0600), which is not in the database. A secret of 256
 * random bits cannot be guessed, so that a slow hash would protect nothing;
 * the key makes that who reads or writes a copy of the database alone can
 * neither test nor make a token.
 */
#pragma once

#include <glib.h>

#define TOKEN_KEY_BYTES 32
#define TOKEN_SECRET_DIGITS 64
#define TOKEN_MAX_BYTES 128

typedef struct {
	guint8 bytes[TOKEN_KEY_BYTES];
} TokenKey;

/* Makes the file if there is none. Others may not be able to read it. Errors are of G_FILE_ERROR. */
gboolean token_key_load(const char *path, TokenKey *ret_key, GError **error);

/* Random; the caller's. Errors are of G_FILE_ERROR. */
char *token_secret_new(GError **error);
char *token_text(gint64 id, const char *secret);	/* the caller's */
/* FALSE: this is none. *ret_secret points into text. */
gboolean token_parse(const char *text, gint64 *ret_id, const char **ret_secret);

char *token_hash(const TokenKey *key, const char *secret);	/* in hex; the caller's */
/* In a time that does not depend on where they differ. */
gboolean token_hash_is(const char *hash, const char *other);
