/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where guests belong, on trees that look like machines; and the plan as JSON, there and back. */
#include "host-fixture.h"
#include "host/print.h"
#include "jobs/placement.h"
#include "jobs/spec/cpus.h"

/* ---- machines ---- */

static void put(const char *root, const char *text, const char *format, ...) G_GNUC_PRINTF(3, 4);

static void put(const char *root, const char *text, const char *format, ...)
{
	g_autofree char *path = NULL;
	va_list args;

	va_start(args, format);
	path = g_strdup_vprintf(format, args);
	va_end(args);
	tree_put(root, path, text);
}

typedef struct {
	int cpus, threads;	/* siblings are half the CPUs apart, as Linux numbers them */
	int packages, nodes;	/* of cores in a row; nodes 0: none */
	int caches;		/* last levels, of cores in a row; 0: no file says */
} Shape;

/* "A,B" of a core's siblings, or of all siblings of several cores in a row. The caller's. */
static char *siblings(const Shape *shape, int first, int count)
{
	g_autoptr(GArray) cpus = g_array_new(FALSE, FALSE, sizeof(int));
	int cores = shape->cpus / shape->threads;

	for (int thread = 0; thread < shape->threads; thread++)
		for (int core = first; core < first + count; core++) {
			int cpu = thread * cores + core;
			g_array_append_val(cpus, cpu);
		}
	return cpu_list_format(cpus);
}

static char *tree_of(Shape shape)
{
	char *root = g_strdup(g_access("/dev/shm", W_OK) == 0 ? "/dev/shm/host-XXXXXX" : "/tmp/host-XXXXXX");
	int cores = shape.cpus / shape.threads;
	g_autofree char *online = NULL;

	g_assert_nonnull(g_mkdtemp(root));
	online = g_strdup_printf("0-%d\n", shape.cpus - 1);
	tree_put(root, "/sys/devices/system/cpu/online", online);
	for (int cpu = 0; cpu < shape.cpus; cpu++) {
		int core = cpu % cores;
		g_autofree char *list = siblings(&shape, core, 1), *package = g_strdup_printf("%d\n", core * shape.packages / cores);
		put(root, package, "/sys/devices/system/cpu/cpu%d/topology/physical_package_id", cpu);
		put(root, list, "/sys/devices/system/cpu/cpu%d/topology/thread_siblings_list", cpu);
		if (!shape.caches)
			continue;
		int each = cores / shape.caches;
		g_autofree char *shared = siblings(&shape, core / each * each, each);
		put(root, "1\n", "/sys/devices/system/cpu/cpu%d/cache/index0/level", cpu);
		put(root, list, "/sys/devices/system/cpu/cpu%d/cache/index0/shared_cpu_list", cpu);
		put(root, "3\n", "/sys/devices/system/cpu/cpu%d/cache/index3/level", cpu);
		put(root, shared, "/sys/devices/system/cpu/cpu%d/cache/index3/shared_cpu_list", cpu);
	}
	for (int node = 0; node < shape.nodes; node++) {
		g_autofree char *list = siblings(&shape, node * cores / shape.nodes, cores / shape.nodes);
		put(root, list, "/sys/devices/system/node/node%d/cpulist", node);
	}
	return root;
}

/* ---- plans ---- */

/* "VCPUS|EMULATOR|IO|IDLE|NODE|SOCKETSxCORESxTHREADS|SHORTFALLS", vCPUs in their order; or "refused: ...". The caller's. */
static char *plan(const char *root, HostPlacementAsk ask)
{
	g_autoptr(HostTopology) topology = NULL;
	g_autoptr(HostPlacement) placement = NULL;
	g_autoptr(GString) vcpus = g_string_new(NULL);
	g_autoptr(GError) error = NULL;

	ask.vm_cpus = ask.vm_cpus ? ask.vm_cpus : "";
	ask.other_cpus = ask.other_cpus ? ask.other_cpus : "";
	g_assert_true(host_topology_read(root, &topology, NULL));
	if (!host_placement_plan(topology, &ask, &placement, &error))
		return g_strconcat("refused: ", error->message, NULL);
	for (guint i = 0; i < placement->vcpus->len; i++)
		g_string_append_printf(vcpus, "%s%d", i ? "," : "", g_array_index(placement->vcpus, int, i));
	/* what goes over the wire is what was planned */
	g_autoptr(HostPlacement) again = NULL;
	g_autoptr(JsonObject) object = placement_to_json(placement);
	g_assert_true(placement_from_json(object, ask.guest_cpus, &again));
	g_autofree char *one = host_placement_json(placement), *other = host_placement_json(again);
	g_assert_cmpstr(one, ==, other);
	g_assert_false(placement_from_json(object, ask.guest_cpus + 1, &again));
	return g_strdup_printf("%s|%s|%s|%s|%d|%dx%dx%d|%u", vcpus->str, placement->emulator, placement->io, placement->idle,
			       placement->node, placement->sockets, placement->cores, placement->threads,
			       g_strv_length(placement->shortfalls));
}

typedef struct {
	HostPlacementAsk ask;
	const char *wanted;
} Row;

static void check(Shape shape, const Row *rows, gsize n)
{
	char *root = tree_of(shape);

	for (gsize i = 0; i < n; i++) {
		g_autofree char *got = plan(root, rows[i].ask);
		if (!g_str_has_prefix(got, rows[i].wanted))
			g_error("row %zu: '%s', not '%s'", i, got, rows[i].wanted);
	}
	tree_remove(root);
	g_free(root);
}

/* One socket of four cores with two threads each: 0 and 4, 1 and 5, 2 and 6, 3 and 7. */
static void test_smt(void)
{
	static const Row rows[] = {
		/* the plan's choice: a core each, all siblings idle */
		{ { .guest_cpus = 2 }, "2,3|0|1|6-7|-1|1x2x1|0" },
		{ { .guest_cpus = 3 }, "1,2,3|0|0|5-7|-1|1x3x1|0" },
		{ { .vm_cpus = "2-3,6-7", .other_cpus = "0-1", .guest_cpus = 2 }, "2,3|0|1|6-7|-1|1x2x1|0" },
		/* siblings of the vCPUs are not for the emulator while there is another */
		{ { .vm_cpus = "2-3", .other_cpus = "6,1", .guest_cpus = 2 }, "2,3|1|1|6-7|-1|1x2x1|0" },
		{ { .vm_cpus = "2-3", .other_cpus = "6", .guest_cpus = 2 }, "2,3|6|6|7|-1|1x2x1|1" },
		/* too few cores: siblings, and the guest knows */
		{ { .vm_cpus = "2-3,6-7", .other_cpus = "0", .guest_cpus = 4 }, "2,6,3,7|0|0||-1|1x2x2|1" },
		/* an odd one: no even shape */
		{ { .vm_cpus = "2-3,6", .other_cpus = "0", .guest_cpus = 3 }, "2,6,3|0|0|7|-1|1x3x1|1" },
		/* nothing left for others */
		{ { .vm_cpus = "2-3", .guest_cpus = 2 }, "2,3|2-3|2-3|6-7|-1|1x2x1|1" },
		{ { .vm_cpus = "3", .other_cpus = "0", .guest_cpus = 2 }, "3,3|0|0|7|-1|1x2x1|1" },
		/* nobody gave CPUs, and there are too few: the kernel's matter */
		{ { .guest_cpus = 4 }, "||||-1|1x4x1|1" },
		{ { .vm_cpus = "8", .guest_cpus = 1 }, "refused: vm_cpus: CPU 8 is not online" },
		{ { .other_cpus = "0-7", .guest_cpus = 1 }, "refused: other_cpus: no CPU is left" },
		/* one cache domain is no place for two */
		{ { .guest_cpus = 1, .slots = 2 }, "refused: slots: 2 guests at once" },
	};

	check((Shape){ .cpus = 8, .threads = 2, .packages = 1, .nodes = 1, .caches = 1 }, rows, G_N_ELEMENTS(rows));
}

/* Two sockets of four cores, a node each: 0-3 and 4-7. */
static void test_two_sockets(void)
{
	static const Row rows[] = {
		{ { .guest_cpus = 2 }, "2,3|0|1||0|1x2x1|0" },
		/* a node that the other CPUs are on */
		{ { .vm_cpus = "0-3,5-7", .other_cpus = "4", .guest_cpus = 2 }, "5,6|4|4||1|1x2x1|0" },
		/* a node that is large enough */
		{ { .vm_cpus = "0,4-7", .guest_cpus = 2 }, "6,7|4|5||1|1x2x1|0" },
		{ { .vm_cpus = "4-5", .other_cpus = "0", .guest_cpus = 2 }, "4,5|0|0||1|1x2x1|1" },
		/* none is: both, memory bound to none */
		{ { .vm_cpus = "1-3,5-7", .other_cpus = "0", .guest_cpus = 6 }, "1,2,3,5,6,7|0|0||-1|2x3x1|1" },
		/* one guest a socket */
		{ { .guest_cpus = 2, .slots = 2 }, "2,3|0|1||0|1x2x1|0" },
		{ { .guest_cpus = 2, .slots = 2, .slot = 1 }, "6,7|4|5||1|1x2x1|0" },
		{ { .vm_cpus = "1-3,5-7", .other_cpus = "0,4", .guest_cpus = 3, .slots = 2, .slot = 1 }, "5,6,7|4|4||1|1x3x1|0" },
		/* its only CPU for others is in the other's domain */
		{ { .vm_cpus = "1-3,5-7", .other_cpus = "0", .guest_cpus = 2, .slots = 2, .slot = 1 }, "refused: other_cpus: there is none" },
	};

	check((Shape){ .cpus = 8, .threads = 1, .packages = 2, .nodes = 2, .caches = 2 }, rows, G_N_ELEMENTS(rows));
}

/* One socket and one node, four caches of two cores with two threads each: cores 0-1, 2-3, 4-5, 6-7. */
static void test_split_cache(void)
{
	static const Row rows[] = {
		/* one cache for both vCPUs, also where the first free core is in another */
		{ { .guest_cpus = 2 }, "2,3|0|1|10-11|-1|1x2x1|0" },
		{ { .vm_cpus = "1-7", .guest_cpus = 2 }, "4,5|1|2|12-13|-1|1x2x1|0" },
		{ { .vm_cpus = "1-7", .other_cpus = "0", .guest_cpus = 2 }, "2,3|0|0|10-11|-1|1x2x1|0" },
		/* no cache has three cores: neighbours */
		{ { .vm_cpus = "2-7", .other_cpus = "0", .guest_cpus = 3 }, "2,3,4|0|0|10-12|-1|1x3x1|0" },
		{ { .vm_cpus = "2-5", .other_cpus = "0-1", .guest_cpus = 2, .slots = 2 }, "2,3|0|0|10-11|-1|1x2x1|0" },
		{ { .vm_cpus = "2-5", .other_cpus = "0-1", .guest_cpus = 2, .slots = 2, .slot = 1 }, "4,5|1|1|12-13|-1|1x2x1|0" },
		{ { .guest_cpus = 2, .slots = 2, .slot = 1 }, "6,7|4|5|14-15|-1|1x2x1|0" },
	};

	check((Shape){ .cpus = 16, .threads = 2, .packages = 1, .nodes = 1, .caches = 4 }, rows, G_N_ELEMENTS(rows));
}

static void test_no_nodes(void)
{
	static const Row rows[] = {
		{ { .guest_cpus = 2 }, "2,3|0|1||-1|1x2x1|0" },
		{ { .guest_cpus = 2, .slots = 2 }, "refused: slots" },
	};

	check((Shape){ .cpus = 4, .threads = 1, .packages = 1 }, rows, G_N_ELEMENTS(rows));
}

static void test_two_cpus(void)
{
	static const Row rows[] = {
		{ { .guest_cpus = 1 }, "1|0|0||-1|1x1x1|0" },
		{ { .vm_cpus = "1", .other_cpus = "0", .guest_cpus = 1 }, "1|0|0||-1|1x1x1|0" },
		{ { .guest_cpus = 2 }, "||||-1|1x2x1|1" },
		{ { .vm_cpus = "0-1", .guest_cpus = 2 }, "0,1|0-1|0-1||-1|1x2x1|1" },
		{ { .vm_cpus = "0-1", .other_cpus = "0", .guest_cpus = 2 }, "0,1|0|0||-1|1x2x1|1" },
	};

	check((Shape){ .cpus = 2, .threads = 1, .packages = 1, .nodes = 1, .caches = 1 }, rows, G_N_ELEMENTS(rows));
}

/* Whatever is asked of whatever machine: no CPU is given away twice, and siblings of vCPUs are nobody's. */
static void test_never_twice(void)
{
	static const Shape shapes[] = {
		{ 16, 2, 1, 1, 1 }, { 16, 1, 2, 2, 4 }, { 32, 2, 2, 2, 4 }, { 12, 1, 1, 0, 0 },
	};

	for (gsize i = 0; i < G_N_ELEMENTS(shapes); i++) {
		char *root = tree_of(shapes[i]);
		g_autoptr(HostTopology) topology = NULL;

		g_assert_true(host_topology_read(root, &topology, NULL));
		for (int guest_cpus = 1; guest_cpus <= 20; guest_cpus++)
			for (int slots = 1; slots <= MAX(1, shapes[i].caches); slots++) {
				int owner[64] = { 0 };
				for (int slot = 0; slot < slots; slot++) {
					const HostPlacementAsk ask = { "", "", guest_cpus, 1024, slots, slot };
					g_autoptr(HostPlacement) placement = NULL;
					g_autoptr(GArray) emulator = NULL;

					g_assert_true(host_placement_plan(topology, &ask, &placement, NULL));
					if (!placement->vcpus->len || *placement->shortfalls)
						continue;
					g_assert_true(cpu_list_parse(placement->emulator, &emulator, NULL));
					for (guint j = 0; j < placement->vcpus->len; j++)
						g_assert_cmpint(owner[host_topology_cpu(topology, g_array_index(placement->vcpus, int, j))->core]++,
								==, 0);
					for (guint j = 0; j < emulator->len; j++)
						g_assert_cmpint(owner[host_topology_cpu(topology, g_array_index(emulator, int, j))->core]++, ==, 0);
				}
			}
		tree_remove(root);
		g_free(root);
	}
}

/* ---- memory ---- */

static int page_kib(const char *root, int memory_mib, int slots)
{
	const HostPlacementAsk ask = { "4-7", "", 2, memory_mib, slots, 0 };
	g_autoptr(HostTopology) topology = NULL;
	g_autoptr(HostPlacement) placement = NULL;

	g_assert_true(host_topology_read(root, &topology, NULL));
	g_assert_true(host_placement_plan(topology, &ask, &placement, NULL));
	g_assert_cmpint(placement->node, ==, 1);
	return placement->page_kib;
}

/* Huge pages only of the node that memory is bound to, only if all of it fits, and only if they are mounted. */
static void test_pages(void)
{
	char *root = tree_of((Shape){ .cpus = 8, .threads = 1, .packages = 2, .nodes = 2, .caches = 4 });

	g_assert_cmpint(page_kib(root, 1024, 1), ==, 0);
	put(root, "4096\n", "/sys/devices/system/node/node0/hugepages/hugepages-2048kB/nr_hugepages");
	put(root, "4096\n", "/sys/devices/system/node/node0/hugepages/hugepages-2048kB/free_hugepages");
	put(root, "hugetlbfs /dev/hugepages hugetlbfs rw,relatime,pagesize=2M 0 0\n", "/proc/mounts");
	g_assert_cmpint(page_kib(root, 1024, 1), ==, 0);
	put(root, "512\n", "/sys/devices/system/node/node1/hugepages/hugepages-2048kB/nr_hugepages");
	put(root, "512\n", "/sys/devices/system/node/node1/hugepages/hugepages-2048kB/free_hugepages");
	g_assert_cmpint(page_kib(root, 1024, 1), ==, 2048);
	g_assert_cmpint(page_kib(root, 1025, 1), ==, 0);
	/* enough for both of two */
	g_assert_cmpint(page_kib(root, 1024, 2), ==, 0);
	g_assert_cmpint(page_kib(root, 512, 2), ==, 2048);
	put(root, "500\n", "/sys/devices/system/node/node1/hugepages/hugepages-2048kB/free_hugepages");
	g_assert_cmpint(page_kib(root, 1024, 1), ==, 0);
	/* not mounted, then mounted */
	put(root, "2\n", "/sys/devices/system/node/node1/hugepages/hugepages-1048576kB/nr_hugepages");
	put(root, "2\n", "/sys/devices/system/node/node1/hugepages/hugepages-1048576kB/free_hugepages");
	g_assert_cmpint(page_kib(root, 1024, 1), ==, 0);
	put(root, "none /dev/huge1 hugetlbfs rw,pagesize=1024M 0 0\n", "/proc/mounts");
	g_assert_cmpint(page_kib(root, 1024, 1), ==, 1048576);
	tree_remove(root);
	g_free(root);
}

/* ---- from elsewhere ---- */

static void test_bad_json(void)
{
	static const char *const bad[] = {
		"{}",
		"{\"vcpus\":[1],\"vcpu_list\":\"1\",\"emulator\":\"0\",\"io\":\"0\",\"page_kib\":0,\"sockets\":1,\"cores\":1,\"threads\":1}",
		"{\"vcpus\":[1,2],\"vcpu_list\":\"1-2\",\"emulator\":\"0;rm\",\"io\":\"0\",\"page_kib\":0,\"sockets\":1,\"cores\":2,\"threads\":1}",
		"{\"vcpus\":[1,-2],\"vcpu_list\":\"1-2\",\"emulator\":\"0\",\"io\":\"0\",\"page_kib\":0,\"sockets\":1,\"cores\":2,\"threads\":1}",
		"{\"vcpus\":[1,2],\"vcpu_list\":\"1-2\",\"emulator\":\"\",\"io\":\"0\",\"page_kib\":0,\"sockets\":1,\"cores\":2,\"threads\":1}",
		"{\"vcpus\":[1,2],\"vcpu_list\":\"1-2\",\"emulator\":\"0\",\"io\":\"0\",\"page_kib\":-1,\"sockets\":1,\"cores\":2,\"threads\":1}",
		"{\"vcpus\":[1,2],\"vcpu_list\":\"1-2\",\"emulator\":\"0\",\"io\":\"0\",\"page_kib\":0,\"node\":-7,\"sockets\":1,\"cores\":2,\"threads\":1}",
		"{\"vcpus\":[1,{}],\"vcpu_list\":\"1-2\",\"emulator\":\"0\",\"io\":\"0\",\"page_kib\":0,\"sockets\":1,\"cores\":2,\"threads\":1}",
	};

	for (gsize i = 0; i < G_N_ELEMENTS(bad); i++) {
		g_autoptr(JsonObject) object = NULL;
		HostPlacement *placement = NULL;

		g_assert_true(json_object_from_data(bad[i], strlen(bad[i]), &object, NULL));
		g_assert_false(placement_from_json(object, 2, &placement));
		g_assert_null(placement);
	}
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/placement/smt", test_smt);
	g_test_add_func("/placement/two-sockets", test_two_sockets);
	g_test_add_func("/placement/split-cache", test_split_cache);
	g_test_add_func("/placement/no-nodes", test_no_nodes);
	g_test_add_func("/placement/two-cpus", test_two_cpus);
	g_test_add_func("/placement/never-twice", test_never_twice);
	g_test_add_func("/placement/pages", test_pages);
	g_test_add_func("/placement/bad-json", test_bad_json);
	return g_test_run();
}
