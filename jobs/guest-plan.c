/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "jobs/guest-plan.h"

#include <string.h>
#include <sys/stat.h>

#include "jobs/spec/file.h"

#define CPIO_BLOCK	512
#define CPIO_ALIGN	4

void guest_plan_free(GuestPlan *plan)
{
	if (!plan)
		return;
	benchmark_plan_free(plan->sets);
	g_hash_table_unref(plan->benchmarks);
	g_array_unref(plan->runs);
	g_free(plan);
}

GuestPlan *guest_plan_new_empty(void)
{
	GuestPlan *plan = g_new0(GuestPlan, 1);

	plan->benchmarks = g_hash_table_new_full(g_str_hash, g_str_equal, NULL, (GDestroyNotify)benchmark_free);
	plan->runs = g_array_new(FALSE, FALSE, sizeof(GuestRun));
	return plan;
}

static gboolean load_benchmarks(GuestPlan *plan, const char *dir, char **names, GError **error)
{
	for (; *names; names++) {
		Benchmark *benchmark = benchmark_load(dir, *names, error);
		if (!benchmark)
			return FALSE;
		g_hash_table_insert(plan->benchmarks, benchmark->name, benchmark);
	}
	return TRUE;
}

static void add_runs(GuestPlan *plan, const BenchmarkSet *set)
{
	const Benchmark *benchmark = g_hash_table_lookup(plan->benchmarks, set->benchmark);

	for (int run = 1; run <= set->runs; run++) {
		GuestRun row = { benchmark, set, run };
		g_array_append_val(plan->runs, row);
	}
}

/* Would init take it? */
static gboolean check_plan(const GuestPlan *plan, GError **error)
{
	char nonce[GUEST_NONCE_CHARS + 1];

	if (plan->runs->len > GUEST_PLAN_MAX_RUNS)
		return spec_error_set(error, SPEC_ERROR_LIMIT, "params", "%u runs a boot: a guest takes %d", plan->runs->len,
				      GUEST_PLAN_MAX_RUNS);
	guest_nonce(0, 0, nonce);
	g_autofree char *text = guest_plan_text(plan, nonce, CLOCK_KVM);
	if (strlen(text) > GUEST_PLAN_MAX_BYTES)
		return spec_error_set(error, SPEC_ERROR_LIMIT, "params", "the plan of a boot is larger than %d bytes",
				      GUEST_PLAN_MAX_BYTES);
	for (const char *line = text, *end; (end = strchr(line, '\n')); line = end + 1)
		if (end - line > GUEST_PLAN_MAX_LINE)
			return spec_error_set(error, SPEC_ERROR_LIMIT, "params", "a run's command is longer than %d bytes",
					      GUEST_PLAN_MAX_LINE);
	return TRUE;
}

gboolean guest_plan_new(const char *benchmarks_dir, char **names, char **overrides, const char *profile,
			GuestPlan **ret_plan, GError **error)
{
	g_autoptr(GuestPlan) plan = guest_plan_new_empty();

	if (!benchmark_plan(benchmarks_dir, names, overrides, profile, &plan->sets, error) ||
	    !load_benchmarks(plan, benchmarks_dir, names, error))
		return FALSE;
	for (guint i = 0; i < plan->sets->sets->len; i++)
		add_runs(plan, g_ptr_array_index(plan->sets->sets, i));
	if (!check_plan(plan, error))
		return FALSE;
	*ret_plan = g_steal_pointer(&plan);
	return TRUE;
}

void guest_nonce(guint64 seed, int boot, char ret_nonce[GUEST_NONCE_CHARS + 1])
{
	g_autofree char *text = g_strdup_printf("regrlab nonce %" G_GUINT64_FORMAT " %d", seed, boot);
	g_autofree char *digest = g_compute_checksum_for_string(G_CHECKSUM_SHA256, text, -1);

	g_strlcpy(ret_nonce, digest, GUEST_NONCE_CHARS + 1);
}

int guest_run_timeout_s(const GuestRun *run, JobClock clock)
{
	return clock == CLOCK_ICOUNT ? MAX(run->set->timeout_s / GUEST_ICOUNT_COST, 1) : run->set->timeout_s;
}

char *guest_plan_text(const GuestPlan *plan, const char *nonce, JobClock clock)
{
	GString *text = g_string_new("regrlab-plan 1\n");

	g_string_append_printf(text, "nonce %s\n", nonce);
	if (plan->sets && plan->sets->disk_mib > 0)
		g_string_append(text, "disk " GUEST_PLAN_DISK "\n");
	for (guint i = 0; i < plan->runs->len; i++) {
		const GuestRun *run = &g_array_index(plan->runs, GuestRun, i);
		const BenchmarkSet *set = run->set;
		g_string_append_printf(text, "run %s %s %d %d %s --", set->benchmark, set->params, run->run,
				       guest_run_timeout_s(run, clock), set->lru);
		for (char **word = set->argv; *word; word++)
			g_string_append_printf(text, " %s", *word);
		g_string_append_c(text, '\n');
	}
	return g_string_free(text, FALSE);
}

static void pad(GByteArray *archive, guint alignment)
{
	static const guint8 zeros[CPIO_BLOCK] = { 0 };
	guint over = archive->len % alignment;

	if (over)
		g_byte_array_append(archive, zeros, alignment - over);
}

/* Fields of a header, all 8 hex digits: ino mode uid gid nlink mtime filesize devmajor devminor rdevmajor rdevminor namesize check */
static void add_file(GByteArray *archive, const char *name, guint mode, const char *data, gsize size)
{
	g_autofree char *header = g_strdup_printf("070701%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x%08x", mode ? 1u : 0u,
						  mode, 0u, 0u, 1u, 0u, (guint)size, 0u, 0u, 0u, 0u,
						  (guint)strlen(name) + 1, 0u);

	g_byte_array_append(archive, (const guint8 *)header, (guint)strlen(header));
	g_byte_array_append(archive, (const guint8 *)name, (guint)strlen(name) + 1);
	pad(archive, CPIO_ALIGN);
	g_byte_array_append(archive, (const guint8 *)data, (guint)size);
	pad(archive, CPIO_ALIGN);
}

GBytes *guest_plan_cpio(const char *text)
{
	GByteArray *archive = g_byte_array_new();

	add_file(archive, "plan", S_IFREG | 0444, text, strlen(text));
	add_file(archive, "TRAILER!!!", 0, "", 0);
	pad(archive, CPIO_BLOCK);
	return g_byte_array_free_to_bytes(archive);
}
