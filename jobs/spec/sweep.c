/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "jobs/spec/sweep.h"

#include "jobs/spec/file.h"
#include "jobs/spec/members.h"

#define ORDER_MAX_BYTES	(64 * 1024 * 1024)
#define LIST_MAX	200000
#define PATH_BYTES	4096
#define DAYS_MAX	36500
#define YEAR_S		31536000

#define M(name_, member_, kind_, max_) \
	{ .name = name_, .kind = kind_, .offset = G_STRUCT_OFFSET(SweepOrder, member_), .min = 0, .max = max_ }
#define RULE(name_, member_) \
	M(name_ "_days", member_.days, MEMBER_INT, DAYS_MAX), M(name_ "_max_mib", member_.max_mib, MEMBER_INT, G_MAXINT)

static const Member members[] = {
	M("state_dir", state_dir, MEMBER_STRING, PATH_BYTES),
	M("cache_dir", cache_dir, MEMBER_STRING, PATH_BYTES),
	M("job_program", job_program, MEMBER_STRING, PATH_BYTES),
	M("hosts", hosts, MEMBER_STRV, LIST_MAX),
	M("last_job", last_job, MEMBER_INT64, 1e15),
	M("live", live, MEMBER_STRV, LIST_MAX),
	M("kernels", kernels, MEMBER_STRV, LIST_MAX),
	M("daemon_pid", daemon_pid, MEMBER_INT, G_MAXINT),
	M("grace_s", grace_s, MEMBER_INT, YEAR_S),
	RULE("logs", logs),
	RULE("artifacts", artifacts),
	RULE("kernels", kernels_kept),
	RULE("worktrees", worktrees),
	M("dry_run", dry_run, MEMBER_BOOL, 1),
};

SweepOrder *sweep_order_new(void)
{
	SweepOrder *order = g_new0(SweepOrder, 1);

	order->state_dir = g_strdup("");
	order->cache_dir = g_strdup("");
	order->job_program = g_strdup("");
	order->hosts = g_new0(char *, 1);
	order->live = g_new0(char *, 1);
	order->kernels = g_new0(char *, 1);
	return order;
}

void sweep_order_free(SweepOrder *order)
{
	if (!order)
		return;
	members_clear(members, G_N_ELEMENTS(members), order);
	g_free(order);
}

gboolean sweep_order_load(const char *path, SweepOrder **ret_order, GError **error)
{
	g_autoptr(SweepOrder) order = sweep_order_new();
	g_autoptr(JsonObject) object = NULL;

	if (!file_read_json(path, ORDER_MAX_BYTES, &object, error) ||
	    !members_from_json(members, G_N_ELEMENTS(members), order, object, error))
		return FALSE;
	if (!g_path_is_absolute(order->state_dir) || !g_path_is_absolute(order->cache_dir))
		return spec_error_set(error, SPEC_ERROR_VALUE, "state_dir", "and cache_dir are absolute paths");
	*ret_order = g_steal_pointer(&order);
	return TRUE;
}

gboolean sweep_order_save(const SweepOrder *order, const char *path, GError **error)
{
	g_autoptr(JsonObject) object = members_to_json(members, G_N_ELEMENTS(members), order);

	return file_write_json(path, object, error);
}
