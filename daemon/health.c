/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "daemon/health.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "jobs/spec/room.h"

#define FRESH_US		500000
#define DESCRIPTORS_MIN		16	/* for a stage's start, a database's journal, a few files */
#define SECOND_NS		G_GINT64_CONSTANT(1000000000)

struct Health {
	Lab *lab;
	gint64 (*clock_us)(void);
	GPtrArray *troubles;	/* of Trouble */
	guint timer_id;
	gint64 looked_us;	/* 0: never */
	gint64 newest_ns;	/* the latest time that the clock has shown */
	gint64 offset_ns;	/* of the clock to the one nobody sets */
	gint64 ahead_us;	/* when it went ahead; 0: it has not */
	gint64 ahead_s;
};

static void trouble_free(gpointer data)
{
	Trouble *trouble = data;

	g_free(trouble->name);
	g_free(trouble->message);
	g_free(trouble);
}

static const Trouble *find(const GPtrArray *troubles, const char *name)
{
	for (guint i = 0; i < troubles->len; i++) {
		const Trouble *trouble = g_ptr_array_index(troubles, i);

		if (g_str_equal(trouble->name, name))
			return trouble;
	}
	return NULL;
}

static void add(Health *health, GPtrArray *to, const char *what, const char *how, gboolean blocks, const char *message)
{
	Trouble *trouble = g_new0(Trouble, 1);
	const Trouble *before;

	trouble->name = g_strdup_printf("%s-%s", what, how);
	trouble->message = g_strdup(message);
	trouble->blocks = blocks;
	before = find(health->troubles, trouble->name);
	trouble->since_ns = before ? before->since_ns : health->lab->now_ns();
	g_ptr_array_add(to, trouble);
}

/* ---- what is looked at ---- */

static const char *database_state(int code)
{
	switch (code) {
	case DB_ERROR_FULL:
		return "full";
	case DB_ERROR_READONLY:
		return "readonly";
	case DB_ERROR_CORRUPT:
		return "corrupt";
	default:
		return "unusable";
	}
}

static void look_at_folder(Health *health, GPtrArray *to, const char *what, const char *folder)
{
	g_autofree char *words = NULL;
	RoomState state = room_probe(folder, &words);

	if (state != ROOM_OK)
		add(health, to, what, room_state_name(state), TRUE, words);
}

static void look_at_database(Health *health, GPtrArray *to)
{
	g_autoptr(GError) error = NULL;

	/* a transaction may still find room in a file that is there already: the next one might not */
	if (db_writable(health->lab->db, &error))
		look_at_folder(health, to, "database", health->lab->config->state_dir);
	else
		add(health, to, "database", database_state(error->code), TRUE, error->message);
}

static void look_at_folders(Health *health, GPtrArray *to)
{
	const Config *config = health->lab->config;
	g_autofree char *jobs = g_build_filename(config->state_dir, "jobs", NULL);

	look_at_folder(health, to, "run-directory", jobs);
	look_at_folder(health, to, "cache", config->cache_dir);
	look_at_folder(health, to, "tmp", g_get_tmp_dir());
}

static void look_at_descriptors(Health *health, GPtrArray *to)
{
	int fds[DESCRIPTORS_MIN], n = 0;

	while (n < DESCRIPTORS_MIN && (fds[n] = open("/", O_PATH | O_CLOEXEC)) >= 0)
		n++;
	for (int i = 0; i < n; i++)
		close(fds[i]);
	if (n < DESCRIPTORS_MIN)
		add(health, to, "descriptors", "exhausted", TRUE,
		    "there are hardly any file descriptors left: too many connections, or LimitNOFILE= is too low");
}

/* Jobs go on whatever the clock says: their times are wrong, their measurements are not. */
static void look_at_clock(Health *health, GPtrArray *to)
{
	gint64 now_ns = health->lab->now_ns(), clock_us = health->clock_us();
	gint64 step_ns = now_ns - clock_us * 1000 - health->offset_ns;
	g_autofree char *words = NULL;

	health->offset_ns += step_ns;
	if (step_ns > HEALTH_CLOCK_S * SECOND_NS && now_ns > health->newest_ns + HEALTH_CLOCK_S * SECOND_NS) {
		health->ahead_us = clock_us;
		health->ahead_s = step_ns / SECOND_NS;
	}
	health->newest_ns = MAX(health->newest_ns, now_ns);
	if (now_ns < health->newest_ns - HEALTH_CLOCK_S * SECOND_NS) {
		words = g_strdup_printf("the clock was set back: it has shown a time %" G_GINT64_FORMAT " s later, and times of jobs "
					"are out of order until then", (health->newest_ns - now_ns) / SECOND_NS);
		add(health, to, "clock", "behind", FALSE, words);
	} else if (health->ahead_us && clock_us - health->ahead_us < HEALTH_CLOCK_NOTE_S * G_USEC_PER_SEC) {
		words = g_strdup_printf("the clock was set ahead by %" G_GINT64_FORMAT " s", health->ahead_s);
		add(health, to, "clock", "ahead", FALSE, words);
	}
}

static void (*const looks[])(Health *health, GPtrArray *to) = {
	look_at_database, look_at_folders, look_at_descriptors, look_at_clock,
};

/* ---- looking ---- */

static void tell_changes(const GPtrArray *before, const GPtrArray *now)
{
	for (guint i = 0; i < now->len; i++) {
		const Trouble *trouble = g_ptr_array_index(now, i);

		if (!find(before, trouble->name))
			lab_log(G_LOG_LEVEL_WARNING, 0, "%s: %s", trouble->name, trouble->message);
	}
	for (guint i = 0; i < before->len; i++) {
		const Trouble *trouble = g_ptr_array_index(before, i);

		if (!find(now, trouble->name))
			lab_log(G_LOG_LEVEL_MESSAGE, 0, "%s: over", trouble->name);
	}
}

void health_look(Health *health)
{
	g_autoptr(GPtrArray) now = NULL;

	if (health->looked_us && health->clock_us() - health->looked_us < FRESH_US)
		return;
	now = g_ptr_array_new_with_free_func(trouble_free);
	for (gsize i = 0; i < G_N_ELEMENTS(looks); i++)
		looks[i](health, now);
	tell_changes(health->troubles, now);
	g_ptr_array_unref(health->troubles);
	health->troubles = g_steal_pointer(&now);
	health->looked_us = health->clock_us();
}

static gboolean look_again(gpointer data)
{
	health_look(data);
	return G_SOURCE_CONTINUE;
}

Health *health_new(Lab *lab, gint64 (*clock_us)(void))
{
	Health *health = g_new0(Health, 1);

	health->lab = lab;
	health->clock_us = clock_us;
	health->troubles = g_ptr_array_new_with_free_func(trouble_free);
	health->newest_ns = lab->now_ns();
	health->offset_ns = health->newest_ns - clock_us() * 1000;
	health->timer_id = g_timeout_add_seconds(HEALTH_EVERY_S, look_again, health);
	return health;
}

void health_free(Health *health)
{
	if (!health)
		return;
	g_source_remove(health->timer_id);
	g_ptr_array_unref(health->troubles);
	g_free(health);
}

const GPtrArray *health_troubles(const Health *health)
{
	return health->troubles;
}

gboolean health_blocks(Health *health)
{
	if (!health)	/* a test's lab */
		return FALSE;
	health_look(health);
	for (guint i = 0; i < health->troubles->len; i++)
		if (((const Trouble *)g_ptr_array_index(health->troubles, i))->blocks)
			return TRUE;
	return FALSE;
}
