/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The table of everything that is answered. One row is one call: who handles
 * it, who may ask for it, and what /openapi.json says of it.
 *
 * What holds for all of them is done before and after the handler: the host
 * and the site that the request comes from (daemon/origin.h), the role
 * (daemon/access.h), and for every method but GET the transaction "change",
 * which the handler's writes and the line in the audit log share: either both
 * last or none. A row without access is a row that nobody may use.
 */
#pragma once

#include "daemon/access.h"
#include "daemon/lab.h"

#define API "/api/v1"
#define ROUTE_MAX_BODY_MIB 64

typedef struct {
	const char *name;
	const char *type;	/* integer or string */
	const char *help;
} RouteQuery;

typedef struct RouteMatch RouteMatch;
typedef void (*RouteFunc)(HttpRequest *request, Lab *lab, const RouteMatch *match);

/* What goes before the handler, in a thread; it leaves its result in match->prepared. */
typedef struct {
	/* In the main loop. FALSE: answered. */
	gboolean (*begin)(HttpRequest *request, Lab *lab, RouteMatch *match);
	/* In the thread, with the request's body and match->prepared alone. */
	void (*work)(HttpRequest *request, RouteMatch *match);
	GDestroyNotify free;	/* of match->prepared */
} RouteWork;

typedef enum {
	BODY_NONE,
	BODY_SUBMISSION,
	BODY_TOKEN,
	BODY_MAIL,
	BODY_N,
} RouteBody;

typedef struct {
	const char *method;		/* GET also answers HEAD */
	const char *pattern;		/* {id}: a number above 0; {name}: one segment */
	RouteFunc handle;
	RouteAccess access;
	const char *action;		/* of a change, for the audit log; GET: NULL */
	gboolean is_page;		/* for people: errors are pages too */
	RouteBody body;
	const RouteQuery *queries;	/* ends with a NULL name; NULL: none */
	const char *produces;		/* content type of the good answer */
	const char *statuses;		/* that it can have, the good one first */
	const char *summary;
} Route;

struct RouteMatch {
	const Route *route;
	Caller *caller;		/* who asks; set before the handler is called */
	gint64 id;		/* of {id}, else 0 */
	char *name;		/* of {name}, else NULL */
	gpointer prepared;
};

extern const Route routes[];
extern const gsize routes_n;

/* NULL: no such path (*ret_allowed NULL), or not with this method (the caller's "GET, HEAD"). */
RouteMatch *route_find(const char *method, const char *path, char **ret_allowed);
void route_match_free(RouteMatch *match);
G_DEFINE_AUTOPTR_CLEANUP_FUNC(RouteMatch, route_match_free)

/* What http_start() needs; its data is the Lab. */
extern const HttpRules route_rules;
