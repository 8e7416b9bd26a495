/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "host/placement.h"

#include "host/cpu-set.h"
#include "jobs/spec/cpus.h"
#include "jobs/spec/error.h"

typedef struct {
	const HostTopology *topology;
	const HostPlacementAsk *ask;
	GArray *measuring, *others;	/* HostCpu: that vCPUs, and that other threads may have; others may be empty */
	GArray *vcpus;			/* HostCpu, one a vCPU */
	GArray *emulator, *io;		/* HostCpu */
	GPtrArray *shortfalls;
} Planner;

void host_placement_free(HostPlacement *placement)
{
	if (!placement)
		return;
	g_array_unref(placement->vcpus);
	g_free(placement->vcpu_list);
	g_free(placement->emulator);
	g_free(placement->io);
	g_free(placement->idle);
	g_strfreev(placement->shortfalls);
	g_free(placement);
}

static void planner_clear(Planner *planner)
{
	g_array_unref(planner->measuring);
	g_array_unref(planner->others);
	g_array_unref(planner->vcpus);
	g_array_unref(planner->emulator);
	g_array_unref(planner->io);
	g_ptr_array_unref(planner->shortfalls);
}
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC(Planner, planner_clear)

static void lack(Planner *planner, const char *format, ...) G_GNUC_PRINTF(2, 3);

static void lack(Planner *planner, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	g_ptr_array_add(planner->shortfalls, g_strdup_vprintf(format, args));
	va_end(args);
}

/* ---- what there is to choose from ---- */

static gboolean take_list(const HostTopology *topology, const char *name, const char *list, GArray *cpus, GError **error)
{
	g_autoptr(GArray) numbers = NULL;

	if (!*list)
		return TRUE;
	if (!cpu_list_parse(list, &numbers, error))
		return FALSE;
	for (guint i = 0; i < numbers->len; i++) {
		int number = g_array_index(numbers, int, i);
		const HostCpu *cpu = host_topology_cpu(topology, number);
		if (!cpu)
			return spec_error_set(error, SPEC_ERROR_VALUE, name, "CPU %d is not online, or not this process's to use", number);
		cpu_set_add(cpus, cpu);
	}
	cpu_set_sort(cpus);
	return TRUE;
}

static gboolean take_cpus(Planner *planner, GError **error)
{
	const HostTopology *topology = planner->topology;

	if (!take_list(topology, "vm_cpus", planner->ask->vm_cpus, planner->measuring, error) ||
	    !take_list(topology, "other_cpus", planner->ask->other_cpus, planner->others, error))
		return FALSE;
	for (guint i = 0; !*planner->ask->vm_cpus && i < topology->cpus->len; i++)
		if (!cpu_set_has_core(planner->others, cpu_set_at(topology->cpus, i)))
			cpu_set_add(planner->measuring, cpu_set_at(topology->cpus, i));
	cpu_set_sort(planner->measuring);
	if (planner->measuring->len)
		return TRUE;
	return spec_error_set(error, SPEC_ERROR_VALUE, "other_cpus", "no CPU is left for the guests");
}

/* Guests at once share no cache: each has a part of the domains. */
static gboolean take_slot(Planner *planner, GError **error)
{
	const HostPlacementAsk *ask = planner->ask;
	g_autoptr(GArray) domains = cpu_set_new(), mine = cpu_set_new(), my_others = cpu_set_new();
	int shared = 0;

	if (ask->slots <= 1)
		return TRUE;
	for (guint i = 0; i < planner->measuring->len; i++)
		if (!cpu_set_has_cache(domains, cpu_set_at(planner->measuring, i)))
			cpu_set_add(domains, cpu_set_at(planner->measuring, i));
	if (domains->len < (guint)ask->slots)
		return spec_error_set(error, SPEC_ERROR_VALUE, "slots", "%d guests at once need as many groups of CPUs that share no "
				      "last level of cache, and the CPUs for guests have %u", ask->slots, domains->len);
	guint first = (guint)ask->slot * domains->len / (guint)ask->slots, end = (guint)(ask->slot + 1) * domains->len / (guint)ask->slots;
	for (guint i = 0; i < planner->measuring->len; i++)
		for (guint j = first; j < end; j++)
			if (cpu_set_at(planner->measuring, i)->cache == cpu_set_at(domains, j)->cache)
				cpu_set_add(mine, cpu_set_at(planner->measuring, i));
	for (guint i = 0; i < planner->others->len; i++) {
		const HostCpu *cpu = cpu_set_at(planner->others, i);
		if (cpu_set_has_cache(mine, cpu) || (!cpu_set_has_cache(domains, cpu) && shared++ % ask->slots == ask->slot))
			cpu_set_add(my_others, cpu);
	}
	if (planner->others->len && !my_others->len)
		return spec_error_set(error, SPEC_ERROR_VALUE, "other_cpus", "there is none for guest %d of %d: one in its cache domain, or as "
				      "many as guests in a domain that no guest has", ask->slot + 1, ask->slots);
	cpu_set_become(planner->measuring, mine);
	cpu_set_become(planner->others, my_others);
	return TRUE;
}

/* What a node is worth: cores as far as they are needed, then a CPU for other threads. */
static int node_score(const Planner *planner, const GArray *cpus)
{
	g_autoptr(GArray) cores = cpu_set_cores(cpus);
	int needed = planner->ask->guest_cpus + (planner->others->len ? 0 : 2);
	gboolean has_other = FALSE;

	for (guint i = 0; i < planner->others->len; i++)
		has_other |= cpu_set_has_node(cpus, cpu_set_at(planner->others, i));
	return MIN((int)cores->len, needed) * 2 + has_other;
}

/* Leaves the CPUs of one node, if one has enough of them. */
static void choose_node(Planner *planner)
{
	g_autoptr(GArray) best = cpu_set_new();
	int best_score = -1;

	for (guint i = 0; i < planner->measuring->len; i++) {
		g_autoptr(GArray) here = cpu_set_new();
		if (i && cpu_set_at(planner->measuring, i)->node == cpu_set_at(planner->measuring, i - 1)->node)
			continue;
		for (guint j = i; j < planner->measuring->len && cpu_set_at(planner->measuring, j)->node == cpu_set_at(planner->measuring, i)->node; j++)
			cpu_set_add(here, cpu_set_at(planner->measuring, j));
		if (here->len < (guint)planner->ask->guest_cpus || node_score(planner, here) <= best_score)
			continue;
		best_score = node_score(planner, here);
		cpu_set_become(best, here);
	}
	if (best_score >= 0)
		cpu_set_become(planner->measuring, best);
}

/* ---- who gets what ---- */

/* n of the cores from `from` on: of the first cache domain that has so many, else the next best. */
static void take_cores(Planner *planner, const GArray *cores, guint from, guint n)
{
	for (guint first = from; first + n <= cores->len; first++) {
		if (cpu_set_at(cores, first)->cache != cpu_set_at(cores, first + n - 1)->cache)
			continue;
		g_array_append_vals(planner->vcpus, cpu_set_at(cores, first), n);
		return;
	}
	g_array_append_vals(planner->vcpus, cpu_set_at(cores, from), n);
}

/* Without CPUs of their own, other threads have the cores that the vCPUs do not need. */
static void place_vcpus(Planner *planner)
{
	g_autoptr(GArray) cores = cpu_set_cores(planner->measuring);
	guint n = (guint)planner->ask->guest_cpus, spare = 0;

	if (cores->len >= n) {
		if (!planner->others->len)
			spare = MIN(cores->len - n, 2);
		for (guint i = 0; i < spare; i++)
			cpu_set_add(i ? planner->io : planner->emulator, cpu_set_at(cores, i));
		take_cores(planner, cores, spare, n);
		return;
	}
	if (planner->measuring->len >= n)
		lack(planner, "there are %u cores for %u vCPUs, so that vCPUs share cores as SMT siblings: give the host more vm_cpus, or "
		     "its guests fewer CPUs (guest_cpus)", cores->len, n);
	else
		lack(planner, "there are %u CPUs for %u vCPUs, so that vCPUs share them: give the host more vm_cpus, or its guests fewer "
		     "CPUs (guest_cpus)", planner->measuring->len, n);
	for (guint i = 0; i < n; i++)
		cpu_set_add(planner->vcpus, cpu_set_at(planner->measuring, i % planner->measuring->len));
}

typedef gboolean (*Fits)(const Planner *planner, const HostCpu *cpu);

static gboolean is_apart_and_near(const Planner *planner, const HostCpu *cpu)
{
	return !cpu_set_has_core(planner->vcpus, cpu) && cpu_set_has_node(planner->vcpus, cpu);
}

static gboolean is_apart(const Planner *planner, const HostCpu *cpu)
{
	return !cpu_set_has_core(planner->vcpus, cpu);
}

static gboolean is_another(const Planner *planner, const HostCpu *cpu)
{
	return !cpu_set_has(planner->vcpus, cpu);
}

static gboolean is_any(const Planner *planner G_GNUC_UNUSED, const HostCpu *cpu G_GNUC_UNUSED)
{
	return TRUE;
}

/* The best that there is for the emulator and the I/O threads; the caller's. */
static GArray *find_others(Planner *planner, const GArray *from)
{
	static const struct {
		Fits fits;
		const char *lacks;	/* NULL: nothing */
	} rows[] = {
		{ is_apart_and_near, NULL },
		{ is_apart, "emulator and I/O threads run on another NUMA node than the vCPUs: give the host other_cpus of the vCPUs' node" },
		{ is_another, "emulator and I/O threads run on SMT siblings of the vCPUs: give the host other_cpus in cores of their own" },
		{ is_any, "emulator and I/O threads share CPUs with the vCPUs: give the host other_cpus that are not in vm_cpus" },
	};
	GArray *found = cpu_set_new();

	for (gsize row = 0; row < G_N_ELEMENTS(rows) && !found->len; row++) {
		for (guint i = 0; i < from->len; i++)
			if (rows[row].fits(planner, cpu_set_at(from, i)))
				cpu_set_add(found, cpu_set_at(from, i));
		if (found->len && rows[row].lacks)
			lack(planner, "%s", rows[row].lacks);
	}
	return found;
}

/* The last of several CPUs that are theirs is for the I/O threads alone. */
static void place_others(Planner *planner)
{
	if (!planner->emulator->len) {
		gboolean own = planner->others->len > 0;
		g_autoptr(GArray) found = find_others(planner, own ? planner->others : planner->measuring);
		if (own && found->len > 1) {
			cpu_set_add(planner->io, cpu_set_at(found, found->len - 1));
			g_array_set_size(found, found->len - 1);
		}
		cpu_set_become(planner->emulator, found);
	}
	if (!planner->io->len)
		cpu_set_become(planner->io, planner->emulator);
}

/* ---- the plan ---- */

static guint count_packages(const GArray *cpus)
{
	guint count = 0;

	for (guint i = 0; i < cpus->len; i++) {
		guint before = 0;
		while (before < i && cpu_set_at(cpus, before)->package != cpu_set_at(cpus, i)->package)
			before++;
		count += before == i;
	}
	return count;
}

/* The guest is told of siblings and packages as its vCPUs are, if they are so evenly; else of cores alone. */
static void shape_guest(const Planner *planner, HostPlacement *plan)
{
	g_autoptr(GArray) cores = cpu_set_cores(planner->vcpus);
	guint n = planner->vcpus->len, packages = count_packages(planner->vcpus);
	gboolean shared = planner->measuring->len < n;

	plan->sockets = plan->threads = 1;
	plan->cores = planner->ask->guest_cpus;
	if (!n || shared || cores->len % packages || n % cores->len)
		return;
	plan->sockets = (int)packages;
	plan->cores = (int)(cores->len / packages);
	plan->threads = (int)(n / cores->len);
}

static void bind_memory(Planner *planner, HostPlacement *plan)
{
	const HostTopology *topology = planner->topology;
	gint64 memory_kib = planner->ask->memory_mib * G_GINT64_CONSTANT(1024);
	int node = planner->vcpus->len ? cpu_set_at(planner->vcpus, 0)->node : HOST_NO_NODE;
	gboolean one_node = topology->nodes <= 1;

	plan->node = HOST_NO_NODE;
	if (topology->nodes > 1 && planner->vcpus->len) {
		one_node = TRUE;
		for (guint i = 0; i < planner->vcpus->len; i++)
			one_node &= cpu_set_at(planner->vcpus, i)->node == node;
		if (one_node)
			plan->node = node;
		else
			lack(planner, "the vCPUs are on several NUMA nodes, and memory is bound to none: give the host vm_cpus of one node");
	}
	for (guint i = 0; one_node && memory_kib > 0 && i < topology->pages->len; i++) {
		const HostPages *pages = &g_array_index(topology->pages, HostPages, i);
		gint64 needed = memory_kib / pages->kib;
		if ((plan->node == HOST_NO_NODE || pages->node == plan->node) && memory_kib % pages->kib == 0 &&
		    pages->unused >= needed && pages->count >= needed * MAX(1, planner->ask->slots))
			plan->page_kib = MAX(plan->page_kib, pages->kib);
	}
}

static HostPlacement *make_plan(Planner *planner)
{
	HostPlacement *plan = g_new0(HostPlacement, 1);
	g_autoptr(GArray) idle = cpu_set_new();

	plan->vcpus = g_array_new(FALSE, FALSE, sizeof(int));
	for (guint i = 0; i < planner->vcpus->len; i++)
		g_array_append_val(plan->vcpus, cpu_set_at(planner->vcpus, i)->cpu);
	for (guint i = 0; i < planner->topology->cpus->len; i++) {
		const HostCpu *cpu = cpu_set_at(planner->topology->cpus, i);
		if (cpu_set_has_core(planner->vcpus, cpu) && !cpu_set_has(planner->vcpus, cpu) && !cpu_set_has(planner->emulator, cpu) &&
		    !cpu_set_has(planner->io, cpu))
			cpu_set_add(idle, cpu);
	}
	plan->vcpu_list = cpu_set_format(planner->vcpus);
	plan->emulator = cpu_set_format(planner->emulator);
	plan->io = cpu_set_format(planner->io);
	plan->idle = cpu_set_format(idle);
	shape_guest(planner, plan);
	bind_memory(planner, plan);
	g_ptr_array_add(planner->shortfalls, NULL);
	plan->shortfalls = g_strdupv((char **)planner->shortfalls->pdata);
	return plan;
}

/* On a host that nobody has given CPUs to guests, and that has too few of them, the kernel knows better than a plan. */
static void leave_to_kernel(Planner *planner)
{
	if (*planner->ask->vm_cpus || !planner->shortfalls->len)
		return;
	g_ptr_array_set_size(planner->shortfalls, 0);
	g_array_set_size(planner->vcpus, 0);
	g_array_set_size(planner->emulator, 0);
	g_array_set_size(planner->io, 0);
	lack(planner, "nothing is pinned, because the host has too few CPUs to give each thread of a guest its own");
}

gboolean host_placement_plan(const HostTopology *topology, const HostPlacementAsk *ask, HostPlacement **ret_placement, GError **error)
{
	g_auto(Planner) planner = {
		.topology = topology,
		.ask = ask,
		.measuring = cpu_set_new(),
		.others = cpu_set_new(),
		.vcpus = cpu_set_new(),
		.emulator = cpu_set_new(),
		.io = cpu_set_new(),
		.shortfalls = g_ptr_array_new_with_free_func(g_free),
	};

	g_assert(ask->guest_cpus > 0 && ask->slot >= 0 && ask->slot < MAX(1, ask->slots));
	if (!take_cpus(&planner, error) || !take_slot(&planner, error))
		return FALSE;
	choose_node(&planner);
	place_vcpus(&planner);
	place_others(&planner);
	leave_to_kernel(&planner);
	*ret_placement = make_plan(&planner);
	return TRUE;
}
