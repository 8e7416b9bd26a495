/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The plan as the guest reads it: what is taken is whole words within their limits. */
#include <glib.h>
#include <stdint.h>
#include <string.h>

#include "guest-image/lib/plan.c"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_run(const struct plan_run *run)
{
	g_assert_true(*run->benchmark && *run->params && run->timeout_s >= 1 && run->timeout_s <= 86400);
	g_assert_true(run->argc >= 1 && run->argc <= PLAN_ARGS_MAX && *run->argv[0] == '/' && !run->argv[run->argc]);
	for (size_t i = 0; i < run->argc; i++)
		g_assert_true(*run->argv[i] && !strpbrk(run->argv[i], " \n"));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	g_autofree char *text = g_malloc(size + 1);
	char error[256] = "";
	struct plan plan;

	if (size)
		memcpy(text, data, size);
	text[size] = '\0';
	if (!plan_parse(&plan, text, size, error, sizeof(error))) {
		g_assert_true(*error && memchr(error, 0, sizeof(error)));
		return 0;
	}
	g_assert_cmpuint(strspn(plan.nonce, "0123456789abcdef"), ==, PLAN_NONCE);
	g_assert_cmpuint(plan.run_count, <=, PLAN_RUNS_MAX);
	for (size_t i = 0; i < plan.run_count; i++)
		check_run(&plan.runs[i]);
	plan_clear(&plan);
	return 0;
}
