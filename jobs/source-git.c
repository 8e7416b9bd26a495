/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "jobs/source-git.h"

#include <string.h>

#include "jobs/source-tree.h"

#define ENV_LOCAL	"GIT_ALLOW_PROTOCOL=none"
#define ENV_FETCH	"GIT_ALLOW_PROTOCOL=file:git:http:https:ssh"

/* Configuration by environment: stronger than any file of the repository, and safe.directory counts only there. */
static const char *const settings[][2] = {
	{ "safe.directory", "*" },
	{ "core.hooksPath", "/dev/null" },
	{ "core.attributesFile", "/dev/null" },
	{ "core.excludesFile", "/dev/null" },
	{ "core.fsmonitor", "false" },
	{ "core.autocrlf", "false" },
	{ "core.protectNTFS", "true" },
	{ "core.protectHFS", "true" },
	{ "core.quotePath", "false" },
	{ "core.editor", "true" },
	{ "core.pager", "cat" },
	{ "credential.helper", "" },
	{ "commit.gpgSign", "false" },
	{ "gc.auto", "0" },
	{ "maintenance.auto", "false" },
	{ "submodule.recurse", "false" },
	{ "fetch.recurseSubmodules", "false" },
	{ "advice.detachedHead", "false" },
	{ "am.threeWay", "false" },
	{ "apply.whitespace", "nowarn" },
};

static char **build_env(const char *protocols)
{
	g_autoptr(GPtrArray) env = g_ptr_array_new();

	g_ptr_array_add(env, g_strdup(protocols));
	g_ptr_array_add(env, g_strdup("GIT_CONFIG_NOSYSTEM=1"));
	g_ptr_array_add(env, g_strdup("GIT_CONFIG_GLOBAL=/dev/null"));
	g_ptr_array_add(env, g_strdup("GIT_ATTR_NOSYSTEM=1"));
	g_ptr_array_add(env, g_strdup("GIT_TERMINAL_PROMPT=0"));
	g_ptr_array_add(env, g_strdup("GIT_ASKPASS=/bin/false"));
	g_ptr_array_add(env, g_strdup("GIT_COMMITTER_NAME=regrlab"));
	g_ptr_array_add(env, g_strdup("GIT_COMMITTER_EMAIL=regrlab@localhost"));
	g_ptr_array_add(env, g_strdup("GIT_COMMITTER_DATE=2000-01-01T00:00:00Z"));
	g_ptr_array_add(env, g_strdup_printf("GIT_CONFIG_COUNT=%zu", G_N_ELEMENTS(settings)));
	for (gsize i = 0; i < G_N_ELEMENTS(settings); i++) {
		g_ptr_array_add(env, g_strdup_printf("GIT_CONFIG_KEY_%zu=%s", i, settings[i][0]));
		g_ptr_array_add(env, g_strdup_printf("GIT_CONFIG_VALUE_%zu=%s", i, settings[i][1]));
	}
	g_ptr_array_add(env, NULL);
	return (char **)g_ptr_array_free(g_steal_pointer(&env), FALSE);
}

/* In the tree git sees the tree; elsewhere the folder, to write in it, and the tree's objects. */
static gboolean run(StageContext *stage, const char *dir, const char *const *args, const ChildSpec *extra,
		    ChildResult *ret_result, GError **error)
{
	g_auto(GStrv) env = build_env(ENV_LOCAL);
	g_autoptr(GPtrArray) argv = g_ptr_array_new();
	g_autoptr(TreeFolders) tree = NULL;
	SandboxView view = { 0 };

	if (!tree_folders(stage->place->tree_path, &tree, error))
		return FALSE;
	if (g_str_equal(dir, stage->place->tree_path)) {
		tree_folders_show_all(tree, &view, FALSE);
	} else {
		tree_folders_show_objects(tree, &view);
		sandbox_view_add(&view, dir, NULL, TRUE);
	}

	g_ptr_array_add(argv, (char *)"git");
	g_ptr_array_add(argv, (char *)"-C");
	g_ptr_array_add(argv, (char *)dir);
	for (; *args; args++)
		g_ptr_array_add(argv, (char *)*args);
	g_ptr_array_add(argv, NULL);

	ChildSpec spec = *extra;
	spec.argv = (const char *const *)argv->pdata;
	spec.env = (const char *const *)env;
	spec.timeout_ms = GIT_TIMEOUT_MS;
	spec.cpus = stage->place->build_cpus;
	spec.max_output_bytes = 16 * 1024 * 1024;
	return stage_run(stage, &spec, &view, ret_result, error);
}

gboolean git_try(StageContext *stage, const char *dir, const char *const *args, ChildResult *ret_result, GError **error)
{
	return run(stage, dir, args, &(ChildSpec){ 0 }, ret_result, error);
}

gboolean git_try_input(StageContext *stage, const char *dir, const char *const *args, const char *input, gsize size,
		       ChildResult *ret_result, GError **error)
{
	return run(stage, dir, args, &(ChildSpec){ .input = input, .input_bytes = size }, ret_result, error);
}

static gboolean check(const char *const *args, const ChildResult *result, GError **error)
{
	g_autofree char *name = g_strdup_printf("git %s", args[0]);

	return child_check(&(ChildSpec){ .argv = GIT_ARGS(name) }, result, error);
}

gboolean git_run(StageContext *stage, const char *dir, const char *const *args, char **ret_output, GError **error)
{
	g_auto(ChildResult) result = { 0 };

	if (!git_try(stage, dir, args, &result, error) || !check(args, &result, error))
		return FALSE;
	if (ret_output) {
		*ret_output = g_steal_pointer(&result.output);
		if (g_str_has_suffix(*ret_output, "\n"))
			(*ret_output)[strlen(*ret_output) - 1] = 0;
	}
	return TRUE;
}

/* "Updating files:  12% (9898/85043)", again and again, ended by CR. What is cut in two by chance is skipped. */
static void take_progress(const char *data, gsize size, gboolean is_error G_GNUC_UNUSED, gpointer user)
{
	StageContext *stage = user;
	g_autofree char *text = g_strndup(data, size);
	const char *open = strrchr(text, '(');
	char *slash, *end;

	if (!open)
		return;
	gint64 done = g_ascii_strtoll(open + 1, &slash, 10);
	if (*slash != '/')
		return;
	gint64 total = g_ascii_strtoll(slash + 1, &end, 10);
	if (*end == ')' && total > 0 && done >= 0 && done <= total && stage->step)
		stage_progress(stage, stage->step, done, total, -1);
}

gboolean git_checkout(StageContext *stage, const char *dir, const char *commit, GError **error)
{
	const char *const *args = GIT_ARGS("checkout", "--progress", "--force", "--detach", commit);
	g_auto(ChildResult) result = { 0 };

	return run(stage, dir, args, &(ChildSpec){ .sink = take_progress, .sink_data = stage }, &result, error) &&
	       check(args, &result, error);
}

/* The folder that a remote is, if it is one; NULL: it is elsewhere. */
static char *remote_folder(StageContext *stage, const char *remote)
{
	g_autofree char *key = g_strdup_printf("remote.%s.url", remote), *url = NULL;

	if (!git_run(stage, stage->place->tree_path, GIT_ARGS("config", "--get", key), &url, NULL))
		return NULL;
	return g_str_has_prefix(url, "file://") ? g_strdup(url + strlen("file://")) : *url == '/' ? g_steal_pointer(&url) : NULL;
}

/* The one program with a network, and with the tree to write in. */
gboolean git_fetch(StageContext *stage, const char *remote, GError **error)
{
	const char *dir = stage->place->tree_path;
	const char *const *args = GIT_ARGS("git", "-C", dir, "fetch", "--quiet", "--no-tags", "--no-write-fetch-head",
					   "--end-of-options", remote);
	g_auto(GStrv) env = build_env(ENV_FETCH);
	g_autofree char *folder = remote_folder(stage, remote);
	g_autoptr(TreeFolders) tree = NULL;
	g_auto(ChildResult) result = { 0 };
	SandboxView view = { .network = TRUE };
	ChildSpec spec = {
		.argv = args,
		.env = (const char *const *)env,
		.timeout_ms = GIT_FETCH_TIMEOUT_MS,
		.cpus = stage->place->build_cpus,
	};

	if (!tree_folders(dir, &tree, error))
		return FALSE;
	if (folder)
		sandbox_view_add(&view, folder, NULL, FALSE);
	tree_folders_show_all(tree, &view, TRUE);
	return stage_run(stage, &spec, &view, &result, error) && check(GIT_ARGS("fetch"), &result, error);
}

static gboolean parse_commit(StageContext *stage, const char *dir, const char *name, char **ret_commit, GError **error)
{
	g_autofree char *object = g_strconcat(name, "^{commit}", NULL);
	g_auto(ChildResult) result = { 0 };

	if (!git_try(stage, dir, GIT_ARGS("rev-parse", "--verify", "--quiet", "--end-of-options", object), &result, error))
		return FALSE;
	*ret_commit = NULL;
	if (result.status == 0) {
		g_strchomp(result.output);
		*ret_commit = g_steal_pointer(&result.output);
	}
	return TRUE;
}

gboolean git_find_commit(StageContext *stage, const char *dir, const char *name, const char *remote, char **ret_commit,
			 GError **error)
{
	if (!parse_commit(stage, dir, name, ret_commit, error))
		return FALSE;
	if (*ret_commit || !*remote)
		return TRUE;

	g_autofree char *branch = g_strdup_printf("refs/remotes/%s/%s", remote, name);
	return parse_commit(stage, dir, branch, ret_commit, error);
}
