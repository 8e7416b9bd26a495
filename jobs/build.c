/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The build stage: source, both kernels. */
#include <unistd.h>

#include "jobs/kernel.h"
#include "jobs/stage.h"

/* What an earlier stage in the same directory has told already. */
typedef struct {
	gboolean source;
	gboolean base, patched;	/* that arm, and its kernel is still there */
} Told;

static gboolean note_event(gint64 seq G_GNUC_UNUSED, const char *type, JsonObject *object, gpointer data,
			   GError **error G_GNUC_UNUSED)
{
	Told *told = data;

	if (g_str_equal(type, "source")) {
		told->source = TRUE;
	} else if (g_str_equal(type, "arm")) {
		const char *kernel = json_object_get_string_member_with_default(object, "kernel", "");
		const char *arm = json_object_get_string_member_with_default(object, "arm", "");
		gboolean there = access(kernel, R_OK) == 0;
		if (g_str_equal(arm, "base"))
			told->base = there;
		else
			told->patched = there;
	}
	return TRUE;
}

static gboolean tell_arm(KernelBuild *build, const Kernel *kernel, gboolean told)
{
	return told || stage_event(build->stage, "arm", kernel_event(build, kernel), TRUE);
}

static gboolean build_all(StageContext *stage, const Told *told)
{
	g_auto(KernelBuild) build = { 0 };
	g_autoptr(Slot) slot = NULL;
	g_autoptr(Source) source = NULL;
	g_autoptr(Kernel) base = NULL, patched = NULL;
	g_autofree char *key = NULL;

	if (!kernel_build_init(&build, stage))
		return FALSE;
	key = kernel_build_key(&build);
	if (!slot_acquire(stage, key, &slot) || !source_prepare(stage, slot, &source))
		return FALSE;
	if (!told->source && !stage_event(stage, "source", source_event(source), TRUE))
		return FALSE;

	build.slot = slot;
	build.source = source;
	build.checked_out = g_strdup(source->patched_commit);
	gboolean ok = kernel_get(&build, "base", NULL, &base) && tell_arm(&build, base, told->base) &&
		      kernel_get(&build, "patched", base, &patched) && tell_arm(&build, patched, told->patched);
	slot_drop_copy(stage, slot, NULL);	/* else the next job does it */
	return ok;
}

int stage_build(StageContext *stage)
{
	g_autoptr(GError) error = NULL;
	gint64 offset = 0;
	Told told = { 0 };

	gboolean ok = event_read(stage->dir, &offset, 0, note_event, &told, &error) ||
		      stage_fail_error(stage, "run-directory", g_steal_pointer(&error));
	if (ok && !(told.source && told.base && told.patched))
		ok = build_all(stage, &told);
	return stage_finish(stage, ok, "built", "Both kernels are built.");
}
