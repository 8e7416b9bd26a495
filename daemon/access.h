/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Who asks, and whether they may.
 *
 * A lab is open, and everybody may do all but what concerns tokens, while it
 * never had a token, listens on loopback with no proxy configured, and the
 * request was not forwarded. Else changes need a token, and reading does if
 * read_needs_token says so. A token comes as "Authorization: Bearer"; for
 * reading also as the password of Basic, so that a browser can show pages and
 * never holds what is needed for a change.
 */
#pragma once

#include "daemon/lab.h"
#include "daemon/token.h"
#include "db/store-access.h"

/* What a route asks for. */
typedef enum {
	ACCESS_UNDECLARED,	/* a row without it: nobody may */
	ACCESS_ANYONE,		/* no token is looked at */
	ACCESS_READ,
	ACCESS_SUBMIT,
	ACCESS_ADMIN,
	ACCESS_TOKENS,		/* an admin's token, also in an open lab */
} RouteAccess;

#define ACCESS_WRONG_PER_MIN 30	/* tokens that are none, from one address */

typedef struct {
	Role role;
	gint64 token;		/* 0: none */
	char *name;		/* of the token, or empty */
	char *address;		/* "" if it cannot be told */
	char *submitter;	/* "token N", or the address */
	int queue_max;		/* of the token; 0: no limit */
	int hours_per_day;
	char *target;		/* what a change was done to, for the audit log; NULL: the path says it */
} Caller;

void caller_free(Caller *caller);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Caller, caller_free)

/* Whether the caller may end or change what that submitter asked for: its own, or all of an open lab and of an admin. */
gboolean caller_owns(const Caller *caller, const char *submitter);
void caller_set_target(Caller *caller, const char *format, ...) G_GNUC_PRINTF(2, 3);

/*
 * The lab's key, proxies and rates, to be kept in lab->access. Refuses a lab
 * that listens elsewhere than on loopback without a token that works.
 */
Access *access_new(const Lab *lab, GError **error);
void access_free(Access *access);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Access, access_free)

/* Who it is, the caller's of this function; NULL: answered with 401, 403 or 429. */
Caller *access_admit(HttpRequest *request, Lab *lab, RouteAccess needed);

/* A new token's text, the caller's; token->id and .hash are filled in. */
char *access_new_token(const TokenKey *key, Db *db, StoreToken *token, GError **error);
const TokenKey *access_key(const Access *access);

/* Writes down what the caller has done to caller->target, or else target: in the audit log, and in the journal. */
gboolean access_audit(const Lab *lab, const Caller *caller, const char *action, const char *target, GError **error);
void access_log(const Caller *caller, const char *action, const char *target);
