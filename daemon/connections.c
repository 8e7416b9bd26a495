/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/connections.h"

#include <sys/socket.h>

struct Connection {
	int fd;
	ConnectionState state;
	gint64 since_us;	/* monotonic: in this state; while it is new or idle, its request may be coming in */
	GList link;		/* in the queue of its state, those that are in it for longest first */
};

struct Connections {
	guint max;
	gint64 timeout_us;
	GQueue queues[CONNECTION_N_STATES];
	guint64 removed, evicted;
};

Connections *connections_new(guint max, gint64 timeout_us)
{
	Connections *connections = g_new0(Connections, 1);

	connections->max = max;
	connections->timeout_us = timeout_us;
	for (int i = 0; i < CONNECTION_N_STATES; i++)
		g_queue_init(&connections->queues[i]);
	return connections;
}

void connections_free(Connections *connections)
{
	if (!connections)
		return;
	g_assert(!connections_count(connections));
	g_free(connections);
}

guint connections_count(const Connections *connections)
{
	guint count = 0;

	for (int i = 0; i < CONNECTION_N_STATES; i++)
		count += connections->queues[i].length;
	return count;
}

static void end(Connections *connections, Connection *connection, gint64 now_us)
{
	shutdown(connection->fd, SHUT_RDWR);
	connections_set(connections, connection, CONNECTION_CLOSING, now_us);
}

static void make_room(Connections *connections, gint64 now_us)
{
	guint open = connections_count(connections) - connections->queues[CONNECTION_CLOSING].length;

	/* the states are in the order in which they go */
	for (int i = 0; i < CONNECTION_CLOSING && open >= connections->max; i++) {
		GQueue *queue = &connections->queues[i];

		for (; queue->head && open >= connections->max; open--) {
			end(connections, queue->head->data, now_us);
			connections->evicted++;
		}
	}
}

Connection *connections_add(Connections *connections, int fd, gint64 now_us)
{
	Connection *connection = g_new0(Connection, 1);

	make_room(connections, now_us);
	connection->fd = fd;
	connection->since_us = now_us;
	connection->link.data = connection;
	g_queue_push_tail_link(&connections->queues[CONNECTION_NEW], &connection->link);
	return connection;
}

void connections_remove(Connections *connections, Connection *connection)
{
	g_queue_unlink(&connections->queues[connection->state], &connection->link);
	g_free(connection);
	connections->removed++;
}

void connections_set(Connections *connections, Connection *connection, ConnectionState state, gint64 now_us)
{
	if (connection->state == CONNECTION_CLOSING)
		return;
	/* a body is a part of the request that began when the connection was new or idle */
	if (state != CONNECTION_RECEIVING)
		connection->since_us = now_us;
	g_queue_unlink(&connections->queues[connection->state], &connection->link);
	connection->state = state;
	g_queue_push_tail_link(&connections->queues[state], &connection->link);
}

/* A client that sends a byte now and then is never idle; its request still has to end. */
void connections_sweep(Connections *connections, gint64 now_us)
{
	for (int i = CONNECTION_NEW; i <= CONNECTION_RECEIVING; i++) {
		GList *next, *link = connections->queues[i].head;

		for (; link; link = next) {
			Connection *connection = link->data;

			next = link->next;
			if (now_us - connection->since_us > connections->timeout_us)
				end(connections, connection, now_us);
		}
	}
}

guint64 connections_removed(const Connections *connections)
{
	return connections->removed;
}

guint64 connections_evicted(const Connections *connections)
{
	return connections->evicted;
}
