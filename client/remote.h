/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The lab's HTTP API, from outside. Blocking; one request at a time. Paths
 * are below /api/v1 ("/jobs/7"). An answer that is not good is an error with
 * the lab's own words.
 */
#pragma once

#include <json-glib/json-glib.h>
#include <stdio.h>

#define REMOTE_DEFAULT "http://127.0.0.1:8642"
#define REMOTE_MAX_BYTES (256u * 1024 * 1024)	/* of an answer that is kept in memory */

#define REMOTE_ERROR (remote_error_quark())
GQuark remote_error_quark(void);

typedef enum {
	REMOTE_ERROR_ADDRESS,		/* the server's address is not one */
	REMOTE_ERROR_UNREACHABLE,	/* no answer: trying again may help */
	REMOTE_ERROR_REFUSED,		/* the lab says no */
	REMOTE_ERROR_PROTOCOL,		/* this is not a lab */
	REMOTE_ERROR_FILE,		/* what was to be sent cannot be read, or the answer not be written */
} RemoteError;

typedef struct Remote Remote;

/* server: NULL takes $REGRLAB_SERVER, else REMOTE_DEFAULT. */
Remote *remote_new(const char *server, GError **error);
void remote_free(Remote *remote);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Remote, remote_free)

const char *remote_server(const Remote *remote);	/* no slash at its end */

/* Sent with each request. Refused (ADDRESS) for http to another machine: others could read it. */
gboolean remote_set_token(Remote *remote, const char *token, GError **error);

/* The answer's object, the caller's; NULL with an error. */
JsonObject *remote_get(Remote *remote, const char *path, GError **error);
JsonObject *remote_delete(Remote *remote, const char *path, GError **error);
JsonObject *remote_post_nothing(Remote *remote, const char *path, GError **error);	/* without a body */

/* The answer as it is, written to out while it comes in. */
gboolean remote_copy(Remote *remote, const char *path, FILE *out, GError **error);

/*
 * The log from *offset on, written to out as plain text; *offset moves on.
 * *ret_final: the job has ended and there is nothing more.
 */
gboolean remote_log(Remote *remote, const char *path, gint64 *offset, FILE *out, gboolean *ret_final, GError **error);

typedef struct {
	const char *name;
	const char *data;
	gsize size;
	const char *file_name;	/* NULL: a plain field */
} RemoteField;

/* A multipart form. key: the Idempotency-Key, or NULL. */
JsonObject *remote_post(Remote *remote, const char *path, const GArray *fields, const char *key, GError **error);

/* An object as JSON; transfer none. */
JsonObject *remote_post_json(Remote *remote, const char *path, JsonObject *object, GError **error);
