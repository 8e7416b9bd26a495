/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "jobs/placement.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "host/print.h"
#include "jobs/spec/cpus.h"
#include "jobs/spec/file.h"
#include "jobs/spec/peek.h"

#define CPU_MAX		1023
#define NODE_MAX	1023
#define PAGE_KIB_MAX	(16 * 1024 * 1024)

static gboolean take_int(JsonObject *object, const char *name, int max, int *ret_value)
{
	gint64 value = peek_int(object, name, -1);

	*ret_value = (int)value;
	return value >= 0 && value <= max;
}

static gboolean take_list(JsonObject *object, const char *name, char **ret_list)
{
	const char *text = peek_string(object, name);
	g_autoptr(GArray) cpus = NULL;

	if (*text && !cpu_list_parse(text, &cpus, NULL))
		return FALSE;
	*ret_list = g_strdup(text);
	return TRUE;
}

static gboolean take_vcpus(JsonArray *array, GArray *vcpus)
{
	for (guint i = 0; i < peek_length(array); i++) {
		JsonNode *node = json_array_get_element(array, i);
		gint64 cpu = JSON_NODE_HOLDS_VALUE(node) ? json_node_get_int(node) : -1;
		int number = (int)cpu;
		if (cpu < 0 || cpu > CPU_MAX)
			return FALSE;
		g_array_append_val(vcpus, number);
	}
	return TRUE;
}

static char **take_sentences(JsonArray *array)
{
	GStrvBuilder *sentences = g_strv_builder_new();

	for (guint i = 0; i < peek_length(array); i++) {
		JsonNode *node = json_array_get_element(array, i);
		const char *text = JSON_NODE_HOLDS_VALUE(node) ? json_node_get_string(node) : NULL;
		if (text)
			g_strv_builder_add(sentences, text);
	}
	char **list = g_strv_builder_end(sentences);
	g_strv_builder_unref(sentences);
	return list;
}

gboolean placement_from_json(JsonObject *object, int guest_cpus, HostPlacement **ret_placement)
{
	g_autoptr(HostPlacement) plan = g_new0(HostPlacement, 1);
	JsonNode *node = json_object_get_member(object, "node");

	plan->vcpus = g_array_new(FALSE, FALSE, sizeof(int));
	plan->node = HOST_NO_NODE;
	plan->shortfalls = take_sentences(peek_array(object, "shortfalls"));
	if (!take_vcpus(peek_array(object, "vcpus"), plan->vcpus) || !take_list(object, "vcpu_list", &plan->vcpu_list) ||
	    !take_list(object, "emulator", &plan->emulator) || !take_list(object, "io", &plan->io) ||
	    !take_list(object, "idle", &plan->idle) || !take_int(object, "page_kib", PAGE_KIB_MAX, &plan->page_kib) ||
	    !take_int(object, "sockets", CPU_MAX, &plan->sockets) || !take_int(object, "cores", CPU_MAX, &plan->cores) ||
	    !take_int(object, "threads", CPU_MAX, &plan->threads))
		return FALSE;
	if (node && JSON_NODE_HOLDS_VALUE(node) && !take_int(object, "node", NODE_MAX, &plan->node))
		return FALSE;
	if (plan->sockets * plan->cores * plan->threads != guest_cpus || (plan->vcpus->len && plan->vcpus->len != (guint)guest_cpus) ||
	    (plan->vcpus->len && (!*plan->vcpu_list || !*plan->emulator || !*plan->io)))
		return FALSE;
	*ret_placement = g_steal_pointer(&plan);
	return TRUE;
}

JsonObject *placement_to_json(const HostPlacement *placement)
{
	g_autofree char *text = host_placement_json(placement);
	JsonObject *object = NULL;
	gboolean parsed = json_object_from_data(text, strlen(text), &object, NULL);

	g_assert(parsed);
	return object;
}

/* From the lists alone: of a machine that nobody can look at. This machine's CPUs say nothing of that one's. */
static gboolean plan_blindly(const HostPlacementAsk *ask, HostPlacement **ret_placement, char **ret_refused)
{
	const char *const sentences[] = { "nothing is pinned, because the machine cannot be looked at: give the host vm_cpus", NULL };
	HostPlacementAsk blind = *ask;
	g_autofree char *lists = NULL;
	g_autoptr(GArray) cpus = NULL;
	g_autoptr(HostTopology) topology = NULL;
	g_autoptr(GError) error = NULL;

	if (!*ask->vm_cpus)
		blind.other_cpus = "";
	lists = !*ask->vm_cpus ? g_strdup("0") : g_strjoin(*ask->other_cpus ? "," : "", ask->vm_cpus, ask->other_cpus, NULL);
	if (cpu_list_parse(lists, &cpus, &error))
		topology = host_topology_unknown(cpus);
	if (!topology || !host_placement_plan(topology, &blind, ret_placement, &error)) {
		*ret_refused = g_strdup(error->message);
		return FALSE;
	}
	if (!*ask->vm_cpus) {
		g_strfreev((*ret_placement)->shortfalls);
		(*ret_placement)->shortfalls = g_strdupv((char **)sentences);
	}
	return TRUE;
}

gboolean placement_ask(HostAgent *agent, const JobPlace *place, int memory_mib, HostPlacement **ret_placement, char **ret_refused)
{
	const HostPlacementAsk ask = { place->vm_cpus, place->other_cpus, place->guest_cpus, memory_mib, place->slots, place->slot };
	g_autofree char *cpus = g_strdup_printf("%d", ask.guest_cpus), *memory = g_strdup_printf("%d", memory_mib);
	g_autofree char *slots = g_strdup_printf("%d", ask.slots), *slot = g_strdup_printf("%d", ask.slot);
	const char *const args[] = { "place", "--other-cpus", ask.other_cpus, "--guest-cpus", cpus, "--memory", memory, "--slots", slots,
				     "--slot", slot, NULL };
	g_autoptr(JsonObject) answer = NULL;
	g_autoptr(GError) error = NULL;

	*ret_refused = NULL;
	if (!host_agent_ask(agent, args, &answer, &error))
		return !g_error_matches(error, CHILD_ERROR, CHILD_ERROR_STOPPED) && plan_blindly(&ask, ret_placement, ret_refused);
	*ret_refused = *peek_string(answer, "refused") ? g_strdup(peek_string(answer, "refused")) : NULL;
	return !*ret_refused && (placement_from_json(answer, ask.guest_cpus, ret_placement) || plan_blindly(&ask, ret_placement, ret_refused));
}

static void remove_cpus(cpu_set_t *set, const char *list)
{
	g_autoptr(GArray) cpus = NULL;

	if (!*list || !cpu_list_parse(list, &cpus, NULL))
		return;
	for (guint i = 0; i < cpus->len; i++)
		CPU_CLR(g_array_index(cpus, int, i), set);
}

void placement_keep_off(const HostPlacement *placement, const char *vm_cpus)
{
	g_autoptr(GDir) tasks = g_dir_open("/proc/self/task", 0, NULL);
	const char *tid;
	cpu_set_t set;

	if (!placement->vcpus->len || !tasks || sched_getaffinity(0, sizeof(set), &set) != 0)
		return;
	remove_cpus(&set, placement->vcpu_list);
	remove_cpus(&set, placement->idle);
	remove_cpus(&set, vm_cpus);
	/* libvirt has threads, too */
	while (CPU_COUNT(&set) && (tid = g_dir_read_name(tasks)))
		sched_setaffinity(atoi(tid), sizeof(set), &set);
}
