/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The plan that a guest reads: what it takes, and what it refuses and how it says so. */
#include <glib.h>
#include <string.h>

#include "guest-image/lib/plan.c"

#define NONCE "0123456789abcdef0123456789abcdef"
#define HEAD "regrlab-plan 1\nnonce " NONCE "\n"

/* Parses a copy that is as large as the text, so that a sanitizer sees a read past it. The text must outlive the plan. */
static gboolean parse(const char *text, gsize length, struct plan *plan, char **ret_text, char error[256])
{
	*ret_text = g_memdup2(text, length + 1);
	error[0] = '\0';
	return plan_parse(plan, *ret_text, length, error, 256);
}

static void test_whole(void)
{
	static const char text[] = HEAD "disk /dev/vda\n"
				   "run aging nproc=8;lru=mglru 1 120 mglru -- /bin/aging --nproc 8 /mnt/tmpfs/aging\n"
				   "run pwrite lru=classic 2 60 classic -- /bin/pwrite\n";
	g_autofree char *copy = NULL;
	struct plan plan;
	char error[256];

	g_assert_true(parse(text, strlen(text), &plan, &copy, error));
	g_assert_cmpstr(plan.nonce, ==, NONCE);
	g_assert_cmpstr(plan.disk, ==, "/dev/vda");
	g_assert_cmpuint(plan.run_count, ==, 2);
	g_assert_cmpstr(plan.runs[0].benchmark, ==, "aging");
	g_assert_cmpstr(plan.runs[0].params, ==, "nproc=8;lru=mglru");
	g_assert_cmpuint(plan.runs[0].run, ==, 1);
	g_assert_cmpuint(plan.runs[0].timeout_s, ==, 120);
	g_assert_cmpint(plan.runs[0].lru, ==, PLAN_LRU_MGLRU);
	g_assert_cmpuint(plan.runs[0].argc, ==, 4);
	g_assert_cmpstr(plan.runs[0].argv[3], ==, "/mnt/tmpfs/aging");
	g_assert_null(plan.runs[0].argv[4]);
	g_assert_cmpint(plan.runs[1].lru, ==, PLAN_LRU_CLASSIC);
	g_assert_cmpuint(plan.runs[1].argc, ==, 1);
	plan_clear(&plan);
	g_assert_null(plan.runs);
}

static void test_no_runs(void)
{
	g_autofree char *copy = NULL;
	struct plan plan;
	char error[256];

	g_assert_true(parse(HEAD, strlen(HEAD), &plan, &copy, error));
	g_assert_cmpuint(plan.run_count, ==, 0);
	g_assert_null(plan.disk);
	plan_clear(&plan);
}

static void test_refused(void)
{
	static const struct {
		const char *text, *error;
	} table[] = {
		{ "", "plan line 0: empty" },
		{ "regrlab-plan 2\n", "plan line 1: not a plan of version 1" },
		{ "nonce " NONCE "\n", "plan line 1: not a plan" },
		{ "regrlab-plan 1\n", "the plan has no nonce" },
		{ "regrlab-plan 1\nnonce 0123\n", "plan line 2: a nonce is 32" },
		{ "regrlab-plan 1\nnonce 0123456789ABCDEF0123456789ABCDEF\n", "plan line 2: a nonce is 32" },
		{ HEAD "nonce " NONCE "\n", "plan line 3: a second nonce" },
		{ HEAD "disk vda\n", "plan line 3: a disk is" },
		{ HEAD "disk /dev/vda\ndisk /dev/vdb\n", "plan line 4: a second disk" },
		{ HEAD "run a p 1 10 mglru -- /bin/a", "plan line 3: not finished with a newline" },
		{ HEAD "run a p 1 10 mglru --\n", "plan line 3: a run is:" },
		{ HEAD "run a p 1 10 mglru /bin/a x y\n", "plan line 3: a run is:" },
		{ HEAD "run a p -1 10 mglru -- /bin/a\n", "plan line 3: '-1' is no number of a run" },
		{ HEAD "run a p 1 0 mglru -- /bin/a\n", "plan line 3: '0' is no timeout" },
		{ HEAD "run a p 1 86401 mglru -- /bin/a\n", "plan line 3: '86401' is no timeout" },
		{ HEAD "run a p 1 99999999999 mglru -- /bin/a\n", "is no timeout" },
		{ HEAD "run a p 1 10 lru -- /bin/a\n", "plan line 3: 'lru' is no LRU" },
		{ HEAD "run a p 1 10 mglru -- bin/a\n", "plan line 3: 'bin/a' is no absolute path" },
		{ HEAD "walk\n", "plan line 3: unknown word 'walk'" },
		{ HEAD "\n", "plan line 3: words are" },
		{ HEAD "run  a p 1 10 mglru -- /bin/a\n", "plan line 3: words are" },
		{ HEAD "run a p 1 10 mglru -- /bin/a \n", "plan line 3: words are" },
		{ HEAD "run a p\t1 10 mglru -- /bin/a\n", "plan line 3: words are" },
		{ HEAD "run a\xc3\xa4 p 1 10 mglru -- /bin/a\n", "plan line 3: words are" },
	};

	for (gsize i = 0; i < G_N_ELEMENTS(table); i++) {
		g_autofree char *copy = NULL;
		struct plan plan;
		char error[256];

		g_assert_false(parse(table[i].text, strlen(table[i].text), &plan, &copy, error));
		g_test_message("%s", error);
		g_assert_nonnull(strstr(error, table[i].error));
		g_assert_null(plan.runs);
		g_assert_cmpuint(plan.run_count, ==, 0);
	}
}

static void test_zero_byte(void)
{
	static const char text[] = HEAD "run a p 1 10 mglru -- /bin/a\0b\n";
	g_autofree char *copy = NULL;
	struct plan plan;
	char error[256];

	g_assert_false(parse(text, sizeof(text) - 1, &plan, &copy, error));
	g_assert_nonnull(strstr(error, "plan line 3: a zero byte"));
}

/* Each limit: the largest that is taken, and one more. */
static void test_limits(void)
{
	for (guint more = 0; more < 2; more++) {
		g_autoptr(GString) args = g_string_new(HEAD "run a p 1 10 mglru --");
		g_autoptr(GString) runs = g_string_new(HEAD), line = g_string_new(HEAD "run a p 1 10 mglru -- /");
		struct {
			GString *text;
			const char *error;
		} table[] = { { args, "words are" }, { runs, "more than 4096 runs" }, { line, "longer than 4096" } };

		for (guint i = 0; i < PLAN_ARGS_MAX + more; i++)
			g_string_append(args, " /x");
		for (guint i = 0; i < PLAN_RUNS_MAX + more; i++)
			g_string_append(runs, "run a p 1 10 mglru -- /x\n");
		g_string_append_c(args, '\n');
		while (line->len < strlen(HEAD) + PLAN_LINE_MAX + more)
			g_string_append_c(line, 'x');
		g_string_append_c(line, '\n');
		for (gsize i = 0; i < G_N_ELEMENTS(table); i++) {
			g_autofree char *copy = NULL;
			struct plan plan;
			char error[256];

			g_assert_cmpint(parse(table[i].text->str, table[i].text->len, &plan, &copy, error), ==, more == 0);
			g_assert_true(more == 0 || strstr(error, table[i].error) != NULL);
			plan_clear(&plan);
		}
	}
}

static void test_too_large(void)
{
	g_autofree char *text = g_malloc0(PLAN_BYTES_MAX + 2);
	struct plan plan;
	char error[256];

	memset(text, 'x', PLAN_BYTES_MAX + 1);
	g_assert_false(plan_parse(&plan, text, PLAN_BYTES_MAX + 1, error, sizeof(error)));
	g_assert_nonnull(strstr(error, "larger than"));
}

/* Any damage to a good plan is taken or refused, never more. */
static void test_damaged(void)
{
	static const char good[] = HEAD "disk /dev/vda\nrun aging nproc=8;lru=mglru 1 120 mglru -- /bin/aging --nproc 8\n";
	g_autoptr(GRand) random = g_rand_new_with_seed(1);

	for (int i = 0; i < 20000; i++) {
		g_autofree char *text = g_strdup(good), *copy = NULL;
		struct plan plan;
		char error[256];

		for (int k = g_rand_int_range(random, 1, 4); k > 0; k--)
			text[g_rand_int_range(random, 0, (int)strlen(good))] = (char)g_rand_int_range(random, 0, 256);
		if (parse(text, (gsize)g_rand_int_range(random, 0, (int)sizeof(good)), &plan, &copy, error))
			g_assert_cmpstr(error, ==, "");
		else
			g_assert_true(g_str_has_prefix(error, "plan line "));
		plan_clear(&plan);
	}
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/guest/plan/whole", test_whole);
	g_test_add_func("/guest/plan/no-runs", test_no_runs);
	g_test_add_func("/guest/plan/refused", test_refused);
	g_test_add_func("/guest/plan/zero-byte", test_zero_byte);
	g_test_add_func("/guest/plan/limits", test_limits);
	g_test_add_func("/guest/plan/too-large", test_too_large);
	g_test_add_func("/guest/plan/damaged", test_damaged);
	return g_test_run();
}
