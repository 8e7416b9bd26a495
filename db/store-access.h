/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tokens, the audit log, and what a submitter has used. A submitter is
 * "token N", or the address of who came without one.
 */
#pragma once

#include "db/db.h"

/* What a caller may do; each role may do what those before it may. */
typedef enum { ROLE_NOBODY, ROLE_READ, ROLE_SUBMIT, ROLE_ADMIN } Role;
#define ROLE_N (ROLE_ADMIN + 1)

const char *role_name(Role role);
gboolean role_from_name(const char *name, Role *ret_role);	/* not "nobody" */

#define STORE_TOKEN_MAX_NAME	80	/* bytes */
#define STORE_TOKENS_MAX	1000	/* that work */

typedef struct {
	gint64 id;
	char *name;
	Role role;
	char *hash;		/* of the secret, in hex */
	int queue_max;		/* jobs that have not ended; of each limit, 0 is none */
	int requests_per_min;
	int hours_per_day;	/* of machine time */
	gint64 created_ns, revoked_ns;
	gint64 expires_ns;	/* 0: never */
} StoreToken;

/* Neither revoked nor expired. */
gboolean store_token_works(const StoreToken *token, gint64 now_ns);

void store_token_free(StoreToken *token);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(StoreToken, store_token_free)

/* Transaction "token"; token->id is set. LIMIT of STORE_TOKENS_MAX: CONFLICT. */
gboolean store_token_add(Db *db, StoreToken *token, GError **error);
/* *ret_token NULL: there never was one. */
gboolean store_token_get(Db *db, gint64 id, StoreToken **ret_token, GError **error);
/* Oldest first, revoked ones too; an array of StoreToken that owns them. */
gboolean store_tokens(Db *db, GPtrArray **ret_tokens, GError **error);
/* Transaction "revoke". One that is revoked stays so. */
gboolean store_token_revoke(Db *db, gint64 id, gint64 now_ns, GError **error);
/* Whether there ever was a token, and whether one of an admin still works. */
gboolean store_tokens_exist(Db *db, gint64 now_ns, gboolean *ret_any, gboolean *ret_admin, GError **error);

typedef struct {
	gint64 id, time_ns;
	const char *who, *name, *address, *action, *target;
} StoreAudit;

/* Transaction "audit", or a part of the one that is open. id is not read. */
gboolean store_audit_add(Db *db, const StoreAudit *entry, GError **error);
typedef void (*StoreAuditFunc)(const StoreAudit *entry, gpointer data);
/* Newest first, at most limit with ids below before_id (0: from the newest). */
gboolean store_audit_list(Db *db, gint64 before_id, int limit, StoreAuditFunc func, gpointer data, GError **error);

/* How many of a submitter's jobs have not ended. */
gboolean store_jobs_live_of(Db *db, const char *submitter, int *ret_jobs, GError **error);

/* Transaction "machine-time": stages of the job ran for so long. Older than a week is forgotten. */
gboolean store_machine_time_add(Db *db, gint64 job, gint64 ns, gint64 now_ns, GError **error);
/* In the last 24 hours, by whole hours. */
gboolean store_machine_time(Db *db, const char *submitter, gint64 now_ns, gint64 *ret_ns, GError **error);
/* Of everybody who used any, with what their token may use (0: no limit). */
typedef void (*StoreShareFunc)(const char *submitter, gint64 used_ns, int hours_per_day, gpointer data);
gboolean store_machine_times(Db *db, gint64 now_ns, StoreShareFunc func, gpointer data, GError **error);
