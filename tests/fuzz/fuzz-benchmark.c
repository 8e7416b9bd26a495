/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A benchmark's description. The first line is what a job overrides (words
 * "aging.nproc=8"), the rest NAME.ini. What is taken makes plans that the
 * guest's parser takes, too.
 */
#include <stdint.h>
#include <string.h>

#include "guest-image/lib/plan.c"
#include "jobs/guest-plan.h"
#include "tests/fuzz/scratch.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_set(const BenchmarkSet *set)
{
	g_assert_true(*set->params && g_utf8_validate(set->params, -1, NULL));
	g_assert_true(g_str_equal(set->lru, "mglru") || g_str_equal(set->lru, "classic"));
	g_assert_true(set->argv[0] && set->timeout_s > 0);
	g_assert_true(set->runs >= 1 && set->runs <= BENCHMARK_MAX_RUNS);
}

static void check_plan(char **names, char **overrides, const char *profile)
{
	g_autoptr(GuestPlan) plan = NULL;
	g_autoptr(GError) error = NULL;
	g_autofree char *text = NULL;
	struct plan read;
	char words[256];

	if (!guest_plan_new(scratch_folder(), names, overrides, profile, &plan, &error)) {
		g_assert_true(error && *error->message && g_utf8_validate(error->message, -1, NULL));
		return;
	}
	g_assert_cmpuint(plan->sets->sets->len, <=, BENCHMARK_MAX_SETS);
	for (guint i = 0; i < plan->sets->sets->len; i++)
		check_set(g_ptr_array_index(plan->sets->sets, i));
	text = guest_plan_text(plan, "0123456789abcdef0123456789abcdef", CLOCK_TCG);
	g_assert_true(plan_parse(&read, text, strlen(text), words, sizeof(words)));
	g_assert_cmpuint(read.run_count, ==, plan->runs->len);
	plan_clear(&read);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data, *newline = size ? memchr(text, '\n', size) : NULL;
	char name[] = "aging", *names[] = { name, NULL };
	g_autofree char *line = newline ? g_strndup(text, (gsize)(newline - text)) : NULL;
	g_auto(GStrv) overrides = NULL;

	if (!newline || !g_utf8_validate(line, -1, NULL))
		return 0;
	overrides = g_strsplit(line, " ", 8);
	scratch_write("aging.ini", newline + 1, size - (gsize)(newline + 1 - text));
	check_plan(names, *line ? overrides : overrides + g_strv_length(overrides), "quick");
	check_plan(names, overrides + g_strv_length(overrides), "full");
	return 0;
}
