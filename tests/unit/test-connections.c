/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/connections.h"

#define OPEN_MAX 4
#define TIMEOUT_US 1000

typedef struct {
	int ours, theirs;
	Connection *connection;
} Pair;

static Pair add(Connections *connections, gint64 now_us)
{
	Pair pair;
	int ends[2];

	g_assert_cmpint(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends), ==, 0);
	pair.ours = ends[0];
	pair.theirs = ends[1];
	pair.connection = connections_add(connections, pair.ours, now_us);
	return pair;
}

static gboolean is_open(const Pair *pair)
{
	char byte;

	return recv(pair->theirs, &byte, 1, 0) != 0;
}

static void take_out(Connections *connections, Pair *pair)
{
	connections_remove(connections, pair->connection);
	close(pair->ours);
	close(pair->theirs);
}

/* Who does nothing goes first, and who is answered last. */
static void test_room(void)
{
	static const ConnectionState order[OPEN_MAX] = { CONNECTION_NEW, CONNECTION_IDLE, CONNECTION_RECEIVING, CONNECTION_ANSWERING };
	g_autoptr(Connections) connections = connections_new(OPEN_MAX, TIMEOUT_US);
	Pair old[OPEN_MAX], fresh[OPEN_MAX];

	/* the one that goes last came first */
	for (int i = OPEN_MAX - 1; i >= 0; i--) {
		old[i] = add(connections, 10 - i);
		connections_set(connections, old[i].connection, order[i], 10 - i);
	}
	for (int i = 0; i < OPEN_MAX; i++) {
		fresh[i] = add(connections, 100 + i);
		/* so that it is not the one that makes room for the next */
		connections_set(connections, fresh[i].connection, CONNECTION_ANSWERING, 100 + i);
		for (int k = 0; k < OPEN_MAX; k++)
			g_assert_cmpint(is_open(&old[k]), ==, k > i);
		g_assert_true(is_open(&fresh[i]));
	}
	g_assert_cmpuint(connections_evicted(connections), ==, OPEN_MAX);
	g_assert_cmpuint(connections_count(connections), ==, 2 * OPEN_MAX);
	for (int i = 0; i < OPEN_MAX; i++) {
		take_out(connections, &old[i]);
		take_out(connections, &fresh[i]);
	}
	g_assert_cmpuint(connections_removed(connections), ==, 2 * OPEN_MAX);
}

/* Of those in one state the one that is in it for longest; a request sets the clock anew. */
static void test_oldest(void)
{
	g_autoptr(Connections) connections = connections_new(3, TIMEOUT_US);
	Pair pairs[5];

	for (int i = 0; i < 3; i++) {
		pairs[i] = add(connections, i);
		connections_set(connections, pairs[i].connection, CONNECTION_IDLE, i);
	}
	connections_set(connections, pairs[0].connection, CONNECTION_ANSWERING, 10);
	connections_set(connections, pairs[0].connection, CONNECTION_IDLE, 11);
	pairs[3] = add(connections, 12);
	g_assert_true(is_open(&pairs[0]) && !is_open(&pairs[1]) && is_open(&pairs[2]));
	pairs[4] = add(connections, 13);
	/* the newest said nothing yet, and goes before one that did */
	g_assert_true(is_open(&pairs[0]) && is_open(&pairs[2]) && !is_open(&pairs[3]));
	for (int i = 0; i < 5; i++)
		take_out(connections, &pairs[i]);
}

static void test_sweep(void)
{
	g_autoptr(Connections) connections = connections_new(10, TIMEOUT_US);
	Pair pairs[4];

	for (int i = 0; i < 4; i++)
		pairs[i] = add(connections, 0);
	connections_set(connections, pairs[1].connection, CONNECTION_RECEIVING, TIMEOUT_US);
	connections_set(connections, pairs[2].connection, CONNECTION_ANSWERING, TIMEOUT_US);
	connections_set(connections, pairs[3].connection, CONNECTION_IDLE, TIMEOUT_US);
	connections_sweep(connections, TIMEOUT_US);
	for (int i = 0; i < 4; i++)
		g_assert_true(is_open(&pairs[i]));
	/* a body that drips does not set the clock anew */
	connections_sweep(connections, TIMEOUT_US + 1);
	g_assert_true(!is_open(&pairs[0]) && !is_open(&pairs[1]) && is_open(&pairs[2]) && is_open(&pairs[3]));
	for (int i = 0; i < 4; i++)
		take_out(connections, &pairs[i]);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/connections/room", test_room);
	g_test_add_func("/connections/oldest", test_oldest);
	g_test_add_func("/connections/sweep", test_sweep);
	return g_test_run();
}
