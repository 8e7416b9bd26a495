/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "jobs/kernel.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "jobs/kernel-cache.h"
#include "jobs/kernel-config.h"
#include "jobs/kernel-make.h"
#include "jobs/spec/file.h"
#include "jobs/spec/text.h"

#define FORMAT		"regrlab kernel 1"	/* of a build: another one makes another key */
#define LINES_PER_OPTION_X10	28		/* of make, for each option that is set: a first guess */
#define INCREMENTAL_LINES	60

void kernel_free(Kernel *kernel)
{
	if (!kernel)
		return;
	g_free(kernel->commit);
	g_free(kernel->tree_hash);
	g_free(kernel->config);
	g_free(kernel->config_sha256);
	g_free(kernel->path);
	g_free(kernel->release);
	g_free(kernel->sha256);
	g_free(kernel);
}

void kernel_build_clear(KernelBuild *build)
{
	g_free(build->compiler);
	g_strfreev(build->base_targets);
	g_free(build->config_text);
	g_clear_pointer(&build->needs, g_ptr_array_unref);
	g_free(build->checked_out);
}

JsonObject *kernel_event(const KernelBuild *build, const Kernel *kernel)
{
	JsonObject *members = json_object_new();

	json_object_set_string_member(members, "arm", kernel->arm);
	json_object_set_string_member(members, "commit", kernel->commit);
	json_object_set_string_member(members, "tree_hash", kernel->tree_hash);
	json_object_set_string_member(members, "config_sha256", kernel->config_sha256);
	json_object_set_string_member(members, "compiler", build->compiler);
	json_object_set_string_member(members, "kernel_release", kernel->release);
	json_object_set_string_member(members, "kernel_sha256", kernel->sha256);
	json_object_set_int_member(members, "kernel_bytes", kernel->bytes);
	json_object_set_double_member(members, "build_s", kernel->build_s);
	json_object_set_boolean_member(members, "cached", kernel->cached);
	json_object_set_boolean_member(members, "incremental", kernel->incremental);
	json_object_set_string_member(members, "kernel", kernel->path);
	return members;
}

/* ---- what both arms are made with ---- */

gboolean kernel_build_init(KernelBuild *build, StageContext *stage)
{
	const JobPlace *place = stage->place;
	g_autofree char *name = g_strconcat(stage->spec->config, ".config", NULL);
	g_autofree char *path = stage->spec->has_config ? g_build_filename(stage->dir, "config", NULL)
							: g_build_filename(place->configs_dir, name, NULL);
	g_autoptr(GError) error = NULL;

	build->stage = stage;
	if (!file_read(path, CONFIG_MAX_BYTES, &build->config_text, NULL, &error))
		return stage->spec->has_config
			       ? stage_fail_error(stage, "run-directory", g_steal_pointer(&error))
			       : stage_fail(stage, "build-failed", "no-such-config", "", NULL,
					    "There is no kernel configuration '%s'.", stage->spec->config);
	if (!stage->spec->has_config) {
		build->base_targets = config_base_targets(build->config_text, &error);
		if (!build->base_targets)
			return stage_fail(stage, "build-failed", "bad-config", "", NULL, "%s", error->message);
	}
	if (!config_needs(place->benchmarks_dir, stage->spec->benchmarks, &build->needs, &error))
		return stage_fail(stage, "build-failed", "no-such-benchmark", "", NULL, "%s", error->message);
	if (!kernel_compiler(stage, &build->compiler, &error))
		return stage_fail_error(stage, "tools", g_steal_pointer(&error));
	return TRUE;
}

char *kernel_build_key(const KernelBuild *build)
{
	const char *const texts[] = { build->config_text, build->compiler, NULL };
	char *key = cache_key(texts);

	/*
	 * A folder's name. What the benchmarks need besides is left out: it
	 * changes little or nothing in the configuration, and jobs with other
	 * benchmarks should find the objects. Wrong they can never be, for make
	 * looks at every option.
	 */
	key[12] = 0;
	return key;
}

static gboolean check_out(KernelBuild *build, const char *commit)
{
	if (g_strcmp0(build->checked_out, commit) == 0)
		return TRUE;
	g_clear_pointer(&build->checked_out, g_free);
	if (!source_checkout(build->stage, build->slot, commit))
		return FALSE;
	build->checked_out = g_strdup(commit);
	return TRUE;
}

/* ---- failures ---- */

/* An error of make's run: ours, its deadline, or what it used. */
static gboolean fail_make(KernelBuild *build, const char *arm, GError *error)
{
	StageContext *stage = build->stage;

	if (g_error_matches(error, CHILD_ERROR, CHILD_ERROR_LIMIT)) {
		stage_fail(stage, "build-failed", "build-limit", arm, NULL, "The build of the %s kernel was ended: %s.", arm,
			   error->message);
		g_error_free(error);
		return FALSE;
	}
	if (!g_error_matches(error, CHILD_ERROR, CHILD_ERROR_TIMEOUT))
		return stage_fail_error(stage, "tools", error);
	g_error_free(error);
	return stage_fail(stage, "build-failed", "build-timeout", arm, NULL, "The %s kernel was not built within %d s.", arm,
			  stage->place->build_timeout_s);
}

static gboolean fail_build(KernelBuild *build, const char *arm, const BuildErrors *errors)
{
	JsonObject *detail = build_errors_detail(errors);
	const char *file = json_object_get_string_member(detail, "file");
	g_autofree char *place = *file ? g_strdup_printf("%s:%d: ", file, (int)json_object_get_int_member(detail, "line"))
				       : g_strdup("");
	g_autofree char *what = g_strdup(json_object_get_string_member(detail, "error"));

	return stage_fail(build->stage, "build-failed", "does-not-build", arm, detail, "%s does not build: %s%s",
			  g_str_equal(arm, "base") ? "The base itself, without the series," : "The patched kernel", place,
			  *what ? what : "see the log");
}

static MakeArm make_arm(const char *arm)
{
	return g_str_equal(arm, "base") ? MAKE_BASE : MAKE_PATCHED;
}

/* make to its end, whatever that is. */
static gboolean run_make(KernelBuild *build, const char *arm, const char *const *targets, const char *step, const char *kind,
			 gint64 guess)
{
	g_autoptr(BuildErrors) errors = NULL;
	g_autoptr(GError) error = NULL;
	int status;

	if (!kernel_make(build->stage, build->slot, make_arm(arm), targets, step, kind, guess, &status, &errors, &error))
		return fail_make(build, arm, g_steal_pointer(&error));
	return status == 0 || fail_build(build, arm, errors);
}

static gint64 guess_lines(const char *config)
{
	gint64 options = 0;

	for (const char *p = config; (p = strstr(p, "=y\n")); p += 3)
		options++;
	return options * LINES_PER_OPTION_X10 / 10;
}

static gboolean make_image(KernelBuild *build, const char *arm, const char *config, gboolean incremental)
{
	static const char *const targets[] = { "bzImage", NULL };
	g_autofree char *step = g_strdup_printf("building the %s kernel", arm);

	return run_make(build, arm, targets, step, incremental ? "incremental" : "full",
			incremental ? INCREMENTAL_LINES : guess_lines(config));
}

/* ---- the configuration ---- */

static gboolean read_config(KernelBuild *build, const char *arm, char **ret_text)
{
	g_autoptr(GError) error = NULL;
	g_autofree char *text = NULL;

	if (!slot_file_read(kernel_objects(build->slot, make_arm(arm)), ".config", CONFIG_MAX_BYTES, &text, NULL, &error))
		return stage_fail_error(build->stage, "worktree", g_steal_pointer(&error));
	*ret_text = text_plain(text);	/* whatever a patched kconfig wrote: people and the event log read it */
	return TRUE;
}

/* Left alone if it is the same, so that make has no reason to look at it again. */
static gboolean write_config(KernelBuild *build, const char *arm, const char *text)
{
	const char *folder = kernel_objects(build->slot, make_arm(arm));
	g_autofree char *before = NULL;
	g_autoptr(GError) error = NULL;

	if (slot_file_read(folder, ".config", CONFIG_MAX_BYTES, &before, NULL, NULL) && g_str_equal(before, text))
		return TRUE;
	return slot_file_write(folder, ".config", text, &error) ||
	       stage_fail_error(build->stage, "worktree", g_steal_pointer(&error));
}

/* The base's: the profile on what its targets make, then the needs, then what every kernel of the lab has. */
static gboolean compose_input(KernelBuild *build, char **ret_text)
{
	g_autofree char *start = NULL, *with_profile = NULL, *with_needs = NULL;
	g_autofree char *needs = config_needs_fragment(build->needs);

	if (!build->base_targets) {
		with_profile = g_strdup(build->config_text);
	} else {
		if (!run_make(build, "base", (const char *const *)build->base_targets, "configuring the base kernel", "config", 0) ||
		    !read_config(build, "base", &start))
			return FALSE;
		with_profile = config_merge(start, build->config_text);
	}
	with_needs = config_merge(with_profile, needs);
	*ret_text = config_merge(with_needs, config_lab_fragment);
	return TRUE;
}

/*
 * Before a patched kernel is made: a copy of the base's objects. A slot that
 * has none builds the base first, even if its kernel is in the cache: the
 * next job finds them, and nothing of a patched build may stay.
 */
static gboolean prepare_objects(KernelBuild *build, const Kernel *before)
{
	StageContext *stage = build->stage;
	g_autoptr(GError) error = NULL;

	if (!before || build->copied)
		return TRUE;
	if (!slot_file_exists(build->slot->obj, "vmlinux")) {
		stage_log(stage, "there are no objects of a base yet: they are built first");
		if (!check_out(build, before->commit) || !write_config(build, "base", before->config) ||
		    !make_image(build, "base", before->config, FALSE))
			return FALSE;
	}
	if (!slot_copy_objects(stage, build->slot, &error))
		return stage_fail_error(stage, "worktree", g_steal_pointer(&error));
	build->copied = TRUE;
	return TRUE;
}

static gboolean compose(KernelBuild *build, const char *arm, const Kernel *before, char **ret_text)
{
	static const char *const targets[] = { "olddefconfig", NULL };
	g_autofree char *input = before ? g_strdup(before->config) : NULL;
	g_autofree char *step = g_strdup_printf("configuring the %s kernel", arm);

	return (before || compose_input(build, &input)) && write_config(build, arm, input) &&
	       run_make(build, arm, targets, step, "config", 0) && read_config(build, arm, ret_text);
}

/* Composed once for each tree, input and compiler. */
static gboolean get_config(KernelBuild *build, Kernel *kernel, const Kernel *before)
{
	StageContext *stage = build->stage;
	g_autofree char *needs = config_needs_fragment(build->needs);
	const char *const texts[] = { FORMAT, kernel->tree_hash, build->compiler, before ? before->config : build->config_text,
				      before ? "" : needs, before ? "" : config_lab_fragment, NULL };
	g_autofree char *key = cache_key(texts), *dir = g_build_filename(stage->place->cache_dir, "configs", NULL);
	g_autofree char *path = g_build_filename(dir, key, NULL);
	g_autoptr(GError) error = NULL;

	if (!file_read(path, CONFIG_MAX_BYTES, &kernel->config, NULL, NULL)) {
		if (!prepare_objects(build, before) || !check_out(build, kernel->commit) || !compose(build, kernel->arm, before, &kernel->config))
			return FALSE;
		g_mkdir_with_parents(dir, 0755);
		if (!file_write(path, kernel->config, strlen(kernel->config), &error))
			return stage_fail_error(stage, "cache", g_steal_pointer(&error));
	}
	kernel->config_sha256 = g_compute_checksum_for_string(G_CHECKSUM_SHA256, kernel->config, -1);
	return TRUE;
}

static gboolean check_config(KernelBuild *build, const Kernel *kernel)
{
	const ConfigNeed *lost = config_lost(kernel->config, build->needs);

	if (!lost)
		return TRUE;
	g_autofree char *found = config_value(kernel->config, lost->option);
	JsonObject *detail = json_object_new();
	json_object_set_string_member(detail, "file", "");
	json_object_set_int_member(detail, "line", 0);
	json_object_set_string_member(detail, "error", lost->option);
	json_object_set_string_member(detail, "context", "");
	return stage_fail(build->stage, "build-failed", "config-option-lost", kernel->arm, detail,
			  "%s needs %s=%s, and the configuration of the %s kernel ends up with %s=%s.", lost->by, lost->option,
			  lost->value, kernel->arm, lost->option, found);
}

static gboolean keep_config(KernelBuild *build, const Kernel *kernel)
{
	g_autofree char *name = g_strconcat("config-", kernel->arm, NULL);
	g_autofree char *path = g_build_filename(build->stage->artifacts, name, NULL);
	g_autoptr(GError) error = NULL;

	return file_write(path, kernel->config, strlen(kernel->config), &error) ||
	       stage_fail_error(build->stage, "run-directory", g_steal_pointer(&error));
}

/* ---- the kernel ---- */

/* make may say that all is well and have made something else. */
static gboolean check_made(KernelBuild *build, const char *arm, const char *objects)
{
	static const char *const files[] = { KERNEL_IMAGE, "System.map", "include/config/kernel.release" };

	for (gsize i = 0; i < G_N_ELEMENTS(files); i++)
		if (!slot_file_exists(objects, files[i]))
			return stage_fail(build->stage, "build-failed", "no-kernel", arm, NULL,
					  "make ended well, and %s of the %s kernel is not there or no regular file.", files[i], arm);
	return TRUE;
}

static gboolean build_kernel(KernelBuild *build, const char *key, Kernel *kernel, const Kernel *before)
{
	const char *objects = kernel_objects(build->slot, make_arm(kernel->arm));
	g_autoptr(GError) error = NULL;
	gint64 start_us = g_get_monotonic_time();

	if (!prepare_objects(build, before))
		return FALSE;
	kernel->incremental = slot_file_exists(objects, "vmlinux");
	if (!check_out(build, kernel->commit) || !write_config(build, kernel->arm, kernel->config) ||
	    !make_image(build, kernel->arm, kernel->config, kernel->incremental) ||
	    !check_made(build, kernel->arm, objects))
		return FALSE;
	kernel->build_s = (double)(g_get_monotonic_time() - start_us) / G_USEC_PER_SEC;
	return cache_store(build->stage, key, objects, build->compiler, kernel, &error) ||
	       stage_fail_error(build->stage, "cache", g_steal_pointer(&error));
}

static gboolean get_kernel(KernelBuild *build, Kernel *kernel, const Kernel *before)
{
	const char *const texts[] = { FORMAT, kernel->tree_hash, kernel->config_sha256, build->compiler, NULL };
	g_autofree char *key = cache_key(texts);
	g_autoptr(GError) error = NULL;
	int lock;

	if (!cache_lookup(build->stage, key, kernel, &kernel->cached, &lock, &error))
		return stage_fail_error(build->stage, "cache", g_steal_pointer(&error));
	if (kernel->cached)
		stage_log(build->stage, "the %s kernel is in the cache", kernel->arm);
	gboolean ok = kernel->cached || build_kernel(build, key, kernel, before);
	close(lock);
	return ok;
}

gboolean kernel_get(KernelBuild *build, const char *arm, const Kernel *before, Kernel **ret_kernel)
{
	g_autoptr(Kernel) kernel = g_new0(Kernel, 1);

	kernel->arm = arm;
	kernel->commit = g_strdup(before ? build->source->patched_commit : build->source->base_commit);
	kernel->tree_hash = g_strdup(before ? build->source->patched_tree : build->source->base_tree);
	if (!get_config(build, kernel, before) || !keep_config(build, kernel) || !check_config(build, kernel) ||
	    !get_kernel(build, kernel, before))
		return FALSE;
	*ret_kernel = g_steal_pointer(&kernel);
	return TRUE;
}
