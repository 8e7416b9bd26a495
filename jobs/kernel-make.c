/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "jobs/kernel-make.h"

#include <string.h>

#include "jobs/spec/file.h"
#include "jobs/spec/text.h"

#define BUILD_NICE	10	/* also: so that the stage can look at thousands of processes that want its CPU */
#define MAX_PENDING	65536	/* bytes of a line without an end */
#define CCACHE_SIZE	"5G"

static const char *const fixed[] = {
	"KBUILD_BUILD_TIMESTAMP=Thu Jan  1 00:00:00 UTC 1970",
	"KBUILD_BUILD_VERSION=1",
	"KBUILD_BUILD_USER=regrlab",
	"KBUILD_BUILD_HOST=regrlab",
	"LOCALVERSION=",
};

/* What is known about a running make. */
typedef struct {
	StageContext *stage;
	const char *step;
	GString *pending;	/* the beginning of a line */
	BuildErrors *errors;
	gint64 lines, expected;
	gint64 start_us;
} Progress;

static gint64 eta_s(const Progress *progress)
{
	gint64 elapsed_us = g_get_monotonic_time() - progress->start_us;

	if (progress->expected <= 0 || progress->lines < 10 || elapsed_us < 2 * G_USEC_PER_SEC)
		return -1;
	gint64 left = MAX(progress->expected - progress->lines, 0);
	return elapsed_us * left / progress->lines / G_USEC_PER_SEC;
}

static void take_line(Progress *progress, const char *line)
{
	progress->lines++;
	build_errors_line(progress->errors, line);
	/* a bar that is full before the end says nothing: it stops one short */
	gint64 done = progress->expected > 0 ? MIN(progress->lines, progress->expected - 1) : progress->lines;
	stage_progress(progress->stage, progress->step, done, progress->expected, eta_s(progress));
}

static void take_output(const char *data, gsize size, gboolean is_error G_GNUC_UNUSED, gpointer user)
{
	Progress *progress = user;

	while (size > 0) {
		const char *newline = memchr(data, '\n', size);
		gsize part = newline ? (gsize)(newline - data) : size;

		if (progress->pending->len + part <= MAX_PENDING)
			g_string_append_len(progress->pending, data, (gssize)part);
		if (!newline)
			return;
		take_line(progress, progress->pending->str);
		g_string_truncate(progress->pending, 0);
		data += part + 1;
		size -= part + 1;
	}
}

/* ---- how many lines to expect ---- */

static char *lines_path(const Slot *slot, const char *kind)
{
	g_autofree char *name = g_strconcat("lines-", kind, NULL);

	return g_build_filename(slot->dir, name, NULL);
}

static gint64 expected_lines(const Slot *slot, const char *kind, gint64 guess)
{
	g_autofree char *path = lines_path(slot, kind), *text = NULL;
	gint64 lines;

	if (!file_read(path, 32, &text, NULL, NULL))
		return guess;
	g_strchomp(text);
	return g_ascii_string_to_signed(text, 10, 1, 1000000, &lines, NULL) ? lines : guess;
}

static void remember_lines(const Slot *slot, const char *kind, gint64 lines)
{
	g_autofree char *path = lines_path(slot, kind), *text = g_strdup_printf("%" G_GINT64_FORMAT "\n", lines);

	file_write(path, text, strlen(text), NULL);	/* only a guess for the next time */
}

/* ---- the command line ---- */

static int job_count(StageContext *stage)
{
	g_autoptr(GArray) cpus = NULL;

	if (stage->place->build_jobs > 0)
		return stage->place->build_jobs;
	return cpu_list_parse(stage->place->build_cpus, &cpus, NULL) ? (int)cpus->len : 1;
}

static char **make_argv(StageContext *stage, const Slot *slot, const char *const *targets, gboolean ccache)
{
	g_autoptr(GStrvBuilder) argv = g_strv_builder_new();
	g_autofree char *jobs = g_strdup_printf("-j%d", job_count(stage));
	g_autofree char *obj = g_strconcat("O=", slot->obj, NULL);

	g_strv_builder_add_many(argv, "make", "-C", slot->src, obj, jobs, NULL);
	for (gsize i = 0; i < G_N_ELEMENTS(fixed); i++)
		g_strv_builder_add(argv, fixed[i]);
	if (ccache)
		g_strv_builder_add_many(argv, "CC=ccache gcc", "HOSTCC=ccache gcc", NULL);
	g_strv_builder_addv(argv, (const char **)targets);
	return g_strv_builder_end(argv);
}

/*
 * Objects are the same wherever the slot lies. With ccache's depend mode a
 * miss costs no second preprocessing: kbuild writes the dependencies anyway.
 */
static char **make_env(const Slot *slot, const char *ccache, gboolean fills)
{
	g_autoptr(GStrvBuilder) env = g_strv_builder_new();
	g_autofree char *dir = g_strconcat("CCACHE_DIR=", ccache, NULL);
	g_autofree char *base = g_strconcat("CCACHE_BASEDIR=", slot->dir, NULL);

	g_strv_builder_add_many(env, dir, base, "CCACHE_NOHASHDIR=1", "CCACHE_DEPEND=1",
				"CCACHE_MAXSIZE=" CCACHE_SIZE, NULL);
	if (!fills)
		g_strv_builder_add_many(env, "CCACHE_READONLY=1", "CCACHE_TEMPDIR=/tmp/ccache", NULL);
	return g_strv_builder_end(env);
}

const char *kernel_objects(const Slot *slot, MakeArm arm)
{
	return arm == MAKE_BASE ? slot->obj : slot->patched;
}

/* Objects have one name for make, whichever they are: names are in what make writes. */
static gboolean make_view(StageContext *stage, const Slot *slot, MakeArm arm, const char *ccache, gboolean fills,
			  SandboxView *view, GError **error)
{
	if (!stage_sandbox(stage, error) || !sandbox_make_folder(stage->sandbox, ccache, error) ||
	    (fills && !sandbox_give(stage->sandbox, ccache, error)))
		return FALSE;
	sandbox_view_add(view, slot->src, NULL, FALSE);
	sandbox_view_add(view, kernel_objects(slot, arm), slot->obj, TRUE);
	sandbox_view_add(view, ccache, NULL, fills);
	return TRUE;
}

gboolean kernel_make(StageContext *stage, Slot *slot, MakeArm arm, const char *const *targets, const char *step,
		     const char *kind, gint64 guess, int *ret_status, BuildErrors **ret_errors, GError **error)
{
	gboolean fills = arm == MAKE_BASE && !stage->spec->has_config;
	g_autofree char *program = g_find_program_in_path("ccache"), *ccache = g_build_filename(stage->place->cache_dir, "ccache", NULL);
	g_auto(GStrv) argv = make_argv(stage, slot, targets, program != NULL), env = make_env(slot, ccache, fills);
	g_autoptr(BuildErrors) errors = build_errors_new(slot->src);
	g_autoptr(GString) pending = g_string_new(NULL);
	g_auto(ChildResult) result = { 0 };
	SandboxView view = { 0 };
	Progress progress = {
		.stage = stage,
		.step = step,
		.pending = pending,
		.errors = errors,
		.expected = expected_lines(slot, kind, guess),
		.start_us = g_get_monotonic_time(),
	};
	ChildSpec spec = {
		.argv = (const char *const *)argv,
		.env = (const char *const *)env,
		.timeout_ms = stage->place->build_timeout_s * G_GINT64_CONSTANT(1000),
		.cpus = stage->place->build_cpus,
		.nice = BUILD_NICE,
		.sink = take_output,
		.sink_data = &progress,
	};

	stage_progress(stage, step, 0, progress.expected, -1);
	if (!make_view(stage, slot, arm, ccache, fills, &view, error) || (arm == MAKE_BASE && !slot_build_begin(slot, error)) ||
	    !stage_run(stage, &spec, &view, &result, error))
		return FALSE;
	if (arm == MAKE_BASE)
		slot_build_end(slot);
	if (pending->len)
		take_line(&progress, pending->str);
	if (result.status != 0 && build_errors_disturbed(errors)) {
		g_set_error(error, CHILD_ERROR, CHILD_ERROR_KILLED, "a program of make was killed, or the machine had no room for it");
		return FALSE;
	}
	if (result.status == 0)
		remember_lines(slot, kind, progress.lines);
	*ret_status = result.status;
	*ret_errors = g_steal_pointer(&errors);
	return TRUE;
}

gboolean kernel_compiler(StageContext *stage, char **ret_compiler, GError **error)
{
	g_auto(ChildResult) result = { 0 };
	ChildSpec spec = { .argv = (const char *const[]){ "gcc", "--version", NULL }, .timeout_ms = 60000 };

	SandboxView view = { 0 };

	if (!stage_run(stage, &spec, &view, &result, error) || !child_check(&spec, &result, error))
		return FALSE;
	g_autofree char *line = g_strndup(result.output, strcspn(result.output, "\n"));
	*ret_compiler = text_plain(line);
	return TRUE;
}
