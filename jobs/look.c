/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "jobs/look.h"

#include <signal.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "jobs/guard.h"
#include "jobs/measure-boot.h"
#include "jobs/spec/file.h"
#include "jobs/spec/place.h"
#include "jobs/stage.h"
#include "jobs/vm-host.h"

#define KEEP_BYTES	(G_GINT64_CONSTANT(1) << 30)
#define KEEP_S		(24 * 3600)

typedef struct {
	const char *dir;
	JobPlace *place;
} Look;

static gboolean write_facts(const Look *look, JsonObject *facts, gboolean up, const char *message)
{
	g_autofree char *path = g_build_filename(look->dir, "host.json", NULL);
	g_autoptr(GError) error = NULL;

	json_object_set_boolean_member(facts, "up", up);
	json_object_set_string_member(facts, "message", message);
	if (file_write_json(path, facts, &error))
		return TRUE;
	g_printerr("regrlab-job look: %s\n", error->message);
	return FALSE;
}

static int down(const Look *look, const char *message)
{
	g_autoptr(JsonObject) facts = json_object_new();

	return write_facts(look, facts, FALSE, message) ? STAGE_EXIT_HOST : STAGE_EXIT_BROKEN;
}

static void too_long(const char *what, gpointer data)
{
	g_autofree char *message = g_strdup_printf("%s took more than %d s", what, LOOK_S);

	_exit(down(data, message));
}

static gboolean note_facts(VmHost *host, JsonObject *facts, GError **error)
{
	g_autofree char *qemu = vm_host_qemu_version(host, error);
	g_autofree char *libvirt = qemu ? vm_host_libvirt_version(host, error) : NULL;
	g_autofree char *kernel = vm_host_kernel(host);
	virNodeInfo node;

	if (!libvirt)
		return FALSE;
	if (virNodeGetInfo(vm_host_connection(host), &node) < 0)
		return vm_error_libvirt(error, "the host");
	json_object_set_string_member(facts, "qemu_version", qemu);
	json_object_set_string_member(facts, "libvirt_version", libvirt);
	json_object_set_string_member(facts, "kernel", kernel);
	json_object_set_string_member(facts, "architecture", node.model);
	json_object_set_int_member(facts, "cpus", node.cpus);
	json_object_set_int_member(facts, "memory_mib", (gint64)(node.memory / 1024));
	return TRUE;
}

static int look_after(const Look *look)
{
	g_autofree char *lab = boot_lab_name(look->place->cache_dir), *run = boot_run_name(look->dir);
	g_autofree char *marks = g_build_filename(look->place->cache_dir, "volumes", look->place->host, NULL);
	VmHostSetup setup = { look->place->host_uri, look->place->pool_dir, marks, lab, run, -1 };
	g_autoptr(JsonObject) facts = json_object_new();
	g_autoptr(GError) error = NULL;
	g_autoptr(VmHost) host = vm_host_open(&setup, &error);
	int ended = 0;

	if (!host || !note_facts(host, facts, &error) || !vm_host_destroy_leftovers(host, &ended, &error))
		return down(look, error->message);
	host_store_prune(vm_host_store(host), KEEP_BYTES, KEEP_S);
	json_object_set_int_member(facts, "ended", ended);
	return write_facts(look, facts, TRUE, "") ? STAGE_EXIT_ENDED : STAGE_EXIT_BROKEN;
}

int look_at_host(const char *dir)
{
	g_autoptr(GError) error = NULL;
	g_autoptr(JobPlace) place = NULL;
	Look look = { .dir = dir };

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	signal(SIGPIPE, SIG_IGN);
	if (!job_place_load(dir, &place, &error)) {
		g_printerr("regrlab-job look: %s\n", error->message);
		return STAGE_EXIT_BROKEN;
	}
	look.place = place;
	g_autoptr(Guard) guard = guard_new(too_long, &look);
	guard_set(guard, "looking at the host", LOOK_S);
	return look_after(&look);
}
