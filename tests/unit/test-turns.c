/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whose turn it is: the order itself, and what it makes of a lab's day with one machine. */
#include <string.h>

#include "daemon/turns.h"

#define HOUR_NS (60 * TURN_MINUTE_NS)

static void job_free(gpointer data)
{
	LineJob *job = data;

	job_spec_free(job->spec);
	g_free(job->submitter);
	g_free(job);
}

static LineJob *job_new(gint64 id, const char *submitter, int priority, gint64 created_ns)
{
	LineJob *job = g_new0(LineJob, 1);

	job->id = id;
	job->submitter = g_strdup(submitter);
	job->spec = job_spec_new();
	job->spec->priority = priority;
	job->created_ns = created_ns;
	return job;
}

static GHashTable *shares_new(void)
{
	return g_hash_table_new_full(g_str_hash, g_str_equal, g_free, g_free);
}

static void set_share(GHashTable *shares, const char *submitter, gint64 used_ns, gint64 limit_ns, int running)
{
	TurnShare share = { used_ns, limit_ns, running };

	g_hash_table_replace(shares, g_strdup(submitter), g_memdup2(&share, sizeof(share)));
}

/* "ann:0:5": whose, priority, submitted at that minute; ids count from 1. */
static void check(GHashTable *shares, const char *const *texts, const char *expected)
{
	g_autoptr(GPtrArray) jobs = g_ptr_array_new_with_free_func(job_free);
	g_autoptr(GString) order = g_string_new(NULL);

	for (guint i = 0; texts[i]; i++) {
		g_auto(GStrv) words = g_strsplit(texts[i], ":", 3);

		g_ptr_array_add(jobs, job_new(i + 1, words[0], atoi(words[1]), atoi(words[2]) * TURN_MINUTE_NS));
	}
	turns_sort(jobs, shares);
	for (guint i = 0; i < jobs->len; i++) {
		const LineJob *job = g_ptr_array_index(jobs, i);

		g_string_append_printf(order, "%s%" G_GINT64_FORMAT "%s", i ? " " : "", job->id, job->over ? "!" : "");
	}
	g_assert_cmpstr(order->str, ==, expected);
}

#define CHECK(shares, expected, ...) check(shares, (const char *const[]){ __VA_ARGS__, NULL }, expected)

static void test_one_submitter(void)
{
	g_autoptr(GHashTable) shares = shares_new();

	check(shares, (const char *const[]){ NULL }, "");
	CHECK(shares, "1 2 3", "ann:0:0", "ann:0:1", "ann:0:2");
	CHECK(shares, "4 2 3 1", "ann:-5:0", "ann:0:1", "ann:0:2", "ann:5:3");
	/* a level is worth an hour */
	CHECK(shares, "1 2", "ann:0:0", "ann:1:61");
	CHECK(shares, "2 1", "ann:0:0", "ann:1:59");
}

static void test_several(void)
{
	g_autoptr(GHashTable) shares = shares_new();

	/* a crowd of one's jobs does not keep the first of another */
	CHECK(shares, "1 5 2 3 4", "ann:0:0", "ann:0:0", "ann:0:0", "ann:0:0", "bob:0:1");
	/* nor does it help to ask for priority */
	CHECK(shares, "5 1 2 3 4", "ann:10:2", "ann:10:2", "ann:10:2", "ann:10:2", "bob:0:1");
	/* who lets others go first does so, for a while */
	CHECK(shares, "2 1", "ann:-1:0", "bob:0:59");
	CHECK(shares, "1 2", "ann:-1:0", "bob:0:61");
	/* who has had an hour waits behind who has had none, and four hours of waiting make up for it */
	set_share(shares, "ann", HOUR_NS, 0, 0);
	CHECK(shares, "2 1", "ann:0:0", "bob:0:239");
	CHECK(shares, "1 2", "ann:0:0", "bob:0:241");
	/* what runs counts before it is known how long it takes */
	set_share(shares, "ann", 0, 0, 2);
	CHECK(shares, "2 1", "ann:0:0", "bob:0:239");
}

static void test_limit(void)
{
	g_autoptr(GHashTable) shares = shares_new();

	set_share(shares, "ann", 8 * HOUR_NS, 8 * HOUR_NS, 0);
	set_share(shares, "bob", 8 * HOUR_NS - 1, 8 * HOUR_NS, 0);
	CHECK(shares, "2 1!", "ann:0:0", "bob:-10:600");
}

/* ---- a lab with one machine ---- */

typedef struct {
	GPtrArray *waiting;	/* of LineJob */
	GPtrArray *had;		/* submitters, one for each job that ran, in order */
	gint64 now_ns, next_id;
} Sim;

static void sim_submit(Sim *sim, const char *submitter, int priority)
{
	g_ptr_array_add(sim->waiting, job_new(sim->next_id++, submitter, priority, sim->now_ns));
}

/* Runs the next job to its end; its id, 0: none waits. */
static gint64 sim_run(Sim *sim)
{
	g_autoptr(GHashTable) shares = shares_new();
	guint day = 24 * HOUR_NS / TURN_JOB_NS, first = sim->had->len > day ? sim->had->len - day : 0;
	gint64 id;

	for (guint i = first; i < sim->had->len; i++) {
		const char *submitter = g_ptr_array_index(sim->had, i);
		TurnShare *share = g_hash_table_lookup(shares, submitter);

		set_share(shares, submitter, (share ? share->used_ns : 0) + TURN_JOB_NS, 0, 0);
	}
	sim->now_ns += TURN_JOB_NS;
	if (!sim->waiting->len)
		return 0;
	turns_sort(sim->waiting, shares);
	id = ((const LineJob *)g_ptr_array_index(sim->waiting, 0))->id;
	g_ptr_array_add(sim->had, g_strdup(((const LineJob *)g_ptr_array_index(sim->waiting, 0))->submitter));
	g_ptr_array_remove_index(sim->waiting, 0);
	return id;
}

static void sim_init(Sim *sim)
{
	*sim = (Sim){ g_ptr_array_new_with_free_func(job_free), g_ptr_array_new_with_free_func(g_free), 1000 * HOUR_NS, 1 };
}

static void sim_clear(Sim *sim)
{
	g_ptr_array_unref(sim->waiting);
	g_ptr_array_unref(sim->had);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Sim, sim_clear)

static int count_had(const Sim *sim, guint first, guint end, const char *submitter)
{
	int count = 0;

	for (guint i = first; i < end; i++)
		count += g_str_equal(g_ptr_array_index(sim->had, i), submitter);
	return count;
}

/* Two who always want more get the same but for the head start of one, whatever priority he asks for. */
static void test_shares_are_equal(void)
{
	g_auto(Sim) sim;

	sim_init(&sim);
	for (int i = 0; i < 100; i++)
		sim_submit(&sim, "ann", 10);
	sim_run(&sim);
	for (int i = 0; i < 100; i++)
		sim_submit(&sim, "bob", 0);
	for (int i = 0; i < 80; i++)
		sim_run(&sim);
	g_assert_cmpint(ABS(count_had(&sim, 0, 81, "ann") - count_had(&sim, 0, 81, "bob")), <=, 3);
}

/* Beside a crowd of 150 jobs, who sends one every four hours never waits for more than the job that runs and one more. */
static void test_small_beside_large(void)
{
	g_auto(Sim) sim;

	sim_init(&sim);
	for (int i = 0; i < 150; i++)
		sim_submit(&sim, "ann", 0);
	for (int hour = 0; hour < 48; hour += 4) {
		gint64 id = sim.next_id;
		int before = 0;

		sim_submit(&sim, "bob", 0);
		while (sim_run(&sim) != id)
			g_assert_cmpint(++before, <=, 1);
		for (int i = before; i < 7; i++)
			sim_run(&sim);
	}
	g_assert_cmpint(count_had(&sim, 0, sim.had->len, "ann"), >, 6 * count_had(&sim, 0, sim.had->len, "bob"));
}

/* Every half hour two strangers send a job that takes half an hour: more than can be done, and the last in line still runs. */
static void test_nobody_starves(void)
{
	g_auto(Sim) sim;
	gint64 id;
	int overtaken = 0;

	sim_init(&sim);
	for (int i = 0; i < 5; i++)
		sim_submit(&sim, "ann", 0);
	for (int i = 0; i < 5; i++)
		sim_run(&sim);
	id = sim.next_id;
	sim_submit(&sim, "ann", -10);
	do {
		for (int i = 0; i < 2; i++) {
			g_autofree char *stranger = g_strdup_printf("%" G_GINT64_FORMAT, sim.next_id);

			sim_submit(&sim, stranger, 10);
		}
		/* due 20 hours after it came, when 40 rounds of two came: they are done after 40 more */
		g_assert_cmpint(++overtaken, <=, 84);
	} while (sim_run(&sim) != id);
	g_assert_cmpint(overtaken, >, 40);
}

/* One's own urgent jobs do not keep one's own old one for ever either. */
static void test_own_stream(void)
{
	g_auto(Sim) sim;
	gint64 id;
	int overtaken = 0;

	sim_init(&sim);
	id = sim.next_id;
	sim_submit(&sim, "ann", 0);
	do {
		sim_submit(&sim, "ann", 10);
		sim_submit(&sim, "ann", 10);
		g_assert_cmpint(++overtaken, <=, 45);
	} while (sim_run(&sim) != id);
	g_assert_cmpint(overtaken, >=, 20);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/turns/one-submitter", test_one_submitter);
	g_test_add_func("/turns/several", test_several);
	g_test_add_func("/turns/limit", test_limit);
	g_test_add_func("/turns/shares-are-equal", test_shares_are_equal);
	g_test_add_func("/turns/small-beside-large", test_small_beside_large);
	g_test_add_func("/turns/nobody-starves", test_nobody_starves);
	g_test_add_func("/turns/own-stream", test_own_stream);
	return g_test_run();
}
