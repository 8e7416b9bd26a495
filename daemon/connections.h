/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The connections that are open, and which of them makes room when there are
 * too many: new ones are always taken. One that has asked for nothing yet goes
 * first, then one that is idle between two requests, then one whose request
 * has been coming in for longest, and last one that reads its answer slowly.
 * So ten thousand clients that say nothing keep nobody from being answered.
 */
#pragma once

#include <glib.h>

#define CONNECTIONS_SPARE 64	/* that may be closing while others are taken */

typedef enum {
	CONNECTION_NEW,		/* no request was complete yet */
	CONNECTION_IDLE,	/* between two requests */
	CONNECTION_RECEIVING,	/* the headers are there, the body comes in */
	CONNECTION_ANSWERING,
	CONNECTION_CLOSING,	/* it was told to close */
} ConnectionState;
#define CONNECTION_N_STATES (CONNECTION_CLOSING + 1)

typedef struct Connections Connections;
typedef struct Connection Connection;

/* max: that are open, not counting those that are closing. timeout_us: for a request to come in. */
Connections *connections_new(guint max, gint64 timeout_us);
void connections_free(Connections *connections);	/* all were removed; NULL is fine */
G_DEFINE_AUTOPTR_CLEANUP_FUNC(Connections, connections_free)

/* fd is shut down, not closed, when the connection has to go. May do so with another one. */
Connection *connections_add(Connections *connections, int fd, gint64 now_us);
void connections_remove(Connections *connections, Connection *connection);
void connections_set(Connections *connections, Connection *connection, ConnectionState state, gint64 now_us);

/* Ends those whose request has been coming in for too long. */
void connections_sweep(Connections *connections, gint64 now_us);

guint connections_count(const Connections *connections);	/* closing ones too */
guint64 connections_removed(const Connections *connections);	/* since the start */
guint64 connections_evicted(const Connections *connections);	/* of these, to make room */
