/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Domain descriptions and pinning. */
#include <libxml/parser.h>
#include <libxml/relaxng.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <unistd.h>

#include "jobs/spec/cpus.h"
#include "jobs/vm-host.h"
#include "jobs/vm-pinning.h"
#include "jobs/vm-xml.h"

#define SCHEMA "/usr/share/libvirt/schemas/domain.rng"
#define GOLDEN "tests/unit/data"

/* Of two guest CPUs on 2 and 3, and everything else on 0 and 1. */
static HostPlacement *two_cpus(void)
{
	const HostPlacementAsk ask = { "2-3", "0-1", 2, 256, 1, 0 };
	g_autoptr(GArray) cpus = NULL;
	g_autoptr(HostTopology) topology = NULL;
	HostPlacement *placement = NULL;

	g_assert_true(cpu_list_parse("0-3", &cpus, NULL));
	topology = host_topology_unknown(cpus);
	g_assert_true(host_placement_plan(topology, &ask, &placement, NULL));
	return placement;
}

static VmDescription description(void)
{
	return (VmDescription){
		.name = "rl-12-3-0a1b2c",
		.uuid = "00112233-4455-8677-8899-aabbccddeeff",
		.lab = "lab0", .run = "0a1b2c3d4e5f",
		.job = 12,
		.boot = 3,
		.accelerator = VM_TCG,
		.clock = CLOCK_ICOUNT,
		.machine = "pc",
		.memory_mib = 256,
		.cpus = 2,
		.kernel = "/srv/files/kept-1",
		.initrd = "/srv/files/kept-2",
		.cmdline = "console=ttyS0 quiet",
	};
}

static void check_schema(const char *xml)
{
	xmlRelaxNGParserCtxt *parser = access(SCHEMA, R_OK) == 0 ? xmlRelaxNGNewParserCtxt(SCHEMA) : NULL;

	if (!parser)
		return;
	xmlRelaxNG *schema = xmlRelaxNGParse(parser);
	xmlRelaxNGFreeParserCtxt(parser);
	g_assert_nonnull(schema);
	xmlRelaxNGValidCtxt *valid = xmlRelaxNGNewValidCtxt(schema);
	xmlDoc *document = xmlReadMemory(xml, (int)strlen(xml), NULL, NULL, XML_PARSE_NONET);
	g_assert_nonnull(document);
	g_assert_cmpint(xmlRelaxNGValidateDoc(valid, document), ==, 0);
	xmlFreeDoc(document);
	xmlRelaxNGFreeValidCtxt(valid);
	xmlRelaxNGFree(schema);
}

/* UPDATE=1 writes the golden file. */
static void check_golden(const VmDescription *vm, const char *name)
{
	g_autofree char *xml = vm_description_to_xml(vm);
	g_autofree char *path = g_strdup_printf(GOLDEN "/vm-%s.xml", name);
	g_autofree char *wanted = NULL;

	check_schema(xml);
	if (g_getenv("UPDATE"))
		g_assert_true(g_file_set_contents(path, xml, -1, NULL));
	g_assert_true(g_file_get_contents(path, &wanted, NULL, NULL));
	g_assert_cmpstr(xml, ==, wanted);
}

static void test_icount(void)
{
	g_autoptr(HostPlacement) placement = two_cpus();
	VmDescription vm = description();

	vm.placement = placement;
	vm.disk = "/srv/files/disk-1";
	check_golden(&vm, "icount");
}

static void test_tcg(void)
{
	g_autoptr(HostPlacement) placement = two_cpus();
	VmDescription vm = description();

	vm.clock = CLOCK_TCG;
	vm.placement = placement;
	vm.disk = "/srv/files/disk-1";
	check_golden(&vm, "tcg");
}

/* With memory of one node in huge pages. */
static void test_kvm(void)
{
	g_autoptr(HostPlacement) placement = two_cpus();
	VmDescription vm = description();

	vm.accelerator = VM_KVM;
	vm.clock = CLOCK_KVM;
	vm.machine = "q35";
	vm.placement = placement;
	placement->node = 1;
	placement->page_kib = 2048;
	check_golden(&vm, "kvm");
}

/* Nothing is pinned, and no value becomes markup. */
static void test_escaping(void)
{
	VmDescription vm = description();

	vm.clock = CLOCK_TCG;
	vm.boot = -1;
	vm.cmdline = "a=\"b\" <c> & 'd' ]]> &amp;";
	vm.kernel = "/srv/a&b/<k>";
	check_golden(&vm, "escaping");
	g_autofree char *xml = vm_description_to_xml(&vm);
	g_assert_nonnull(strstr(xml, "<kernel>/srv/a&amp;b/&lt;k&gt;</kernel>"));
	g_assert_null(strstr(xml, "cputune"));
}

/* ---- pinning: this very process ---- */

/* A thread under a name of QEMU's, which may run on CPUs that are told. */
typedef struct {
	const char *name;
	int cpu;
	GMutex lock;	/* held by the test until the thread shall end */
	gint ready;
} Fake;

static gpointer be_thread(gpointer data)
{
	Fake *fake = data;
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(fake->cpu, &set);
	g_assert_cmpint(pthread_setname_np(pthread_self(), fake->name), ==, 0);
	g_assert_cmpint(sched_setaffinity(0, sizeof(set), &set), ==, 0);
	g_atomic_int_set(&fake->ready, TRUE);
	g_mutex_lock(&fake->lock);
	g_mutex_unlock(&fake->lock);
	return NULL;
}

/* What is said of such a thread under a placement: NULL: nothing. The caller's. */
static char *complaint(const HostPlacement *placement, JobClock clock, const char *name, int cpu)
{
	Fake fake = { .name = name, .cpu = cpu };
	g_autofree char *report = NULL;
	g_autoptr(GError) error = NULL;

	g_mutex_init(&fake.lock);
	g_mutex_lock(&fake.lock);
	GThread *thread = g_thread_new(NULL, be_thread, &fake);
	while (!g_atomic_int_get(&fake.ready))
		g_usleep(100);
	gboolean right = vm_pinning_check(getpid(), placement, clock, &report, &error);
	g_mutex_unlock(&fake.lock);
	g_thread_join(thread);
	g_mutex_clear(&fake.lock);
	g_assert_nonnull(strstr(report, name));
	if (right)
		return NULL;
	g_assert_error(error, VM_ERROR, VM_ERROR_PINNING);
	return g_strdup(error->message);
}

/* Runs in a process of its own, since it moves itself: all of it is on the first CPU, and the guest's on the last. */
static void test_pinning_process(void)
{
	g_autoptr(GArray) mine = NULL;
	cpu_set_t set;

	g_assert_true(cpu_list_parse("", &mine, NULL));
	int first = g_array_index(mine, int, 0), last = g_array_index(mine, int, mine->len - 1);
	CPU_ZERO(&set);
	CPU_SET(first, &set);
	g_assert_cmpint(sched_setaffinity(0, sizeof(set), &set), ==, 0);
	g_autofree char *emulator = g_strdup_printf("%d", first), *guest = g_strdup_printf("%d", last);
	g_autoptr(GArray) vcpus = g_array_new(FALSE, FALSE, sizeof(int));
	g_array_append_val(vcpus, last);
	HostPlacement placement = { .vcpus = vcpus, .vcpu_list = guest, .emulator = emulator, .io = guest };
	const struct {
		const char *name;
		JobClock clock;
		int cpu;
		gboolean right;
	} rows[] = {
		{ "CPU 0/TCG", CLOCK_TCG, last, TRUE },	      { "CPU 0/KVM", CLOCK_KVM, last, TRUE },
		{ "CPU 0/TCG", CLOCK_TCG, first, FALSE },     { "IO iothread1", CLOCK_TCG, last, TRUE },
		{ "IO mon_iothread", CLOCK_TCG, first, TRUE },
		{ "IO iothread1", CLOCK_TCG, first, FALSE },   { "worker", CLOCK_TCG, last, FALSE },
		{ "kvm-nx-lpage-re", CLOCK_KVM, last, TRUE }, { "TC tc-pc.ram", CLOCK_TCG, last, TRUE }, { "worker", CLOCK_TCG, first, TRUE },
	};
	for (gsize i = 0; first != last && i < G_N_ELEMENTS(rows); i++) {
		g_autofree char *said = complaint(&placement, rows[i].clock, rows[i].name, rows[i].cpu);
		if (rows[i].right == (said != NULL))
			g_error("row %zu: %s", i, said ? said : "nothing is said");
		if (said)
			g_assert_true(strstr(said, rows[i].name) && strstr(said, "did not take effect"));
	}
	/* one thread for all vCPUs, which nobody can tell from others: the whole process is on the guest's CPUs */
	placement.vcpu_list = emulator;
	g_assert_null(complaint(&placement, CLOCK_ICOUNT, "ALL CPUs/TCG", first));
	g_array_set_size(vcpus, 0);
	g_assert_null(complaint(&placement, CLOCK_TCG, "worker", last));
	g_assert_null(complaint(NULL, CLOCK_TCG, "worker", last));
}

static void test_pinning(void)
{
	g_autofree char *gone = NULL;
	g_autoptr(GError) error = NULL;

	g_test_trap_subprocess("/vm/pinning/subprocess/moved", 0, G_TEST_SUBPROCESS_DEFAULT);
	g_test_trap_assert_passed();
	g_assert_false(vm_pinning_check(G_MAXINT, NULL, CLOCK_TCG, &gone, &error));
	g_assert_error(error, VM_ERROR, VM_ERROR_ACCESS);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/vm/xml/icount", test_icount);
	g_test_add_func("/vm/xml/tcg", test_tcg);
	g_test_add_func("/vm/xml/kvm", test_kvm);
	g_test_add_func("/vm/xml/escaping", test_escaping);
	g_test_add_func("/vm/pinning", test_pinning);
	g_test_add_func("/vm/pinning/subprocess/moved", test_pinning_process);
	return g_test_run();
}
