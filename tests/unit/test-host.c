/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a machine is like, and policies, on trees that look like machines. */
#include <sys/stat.h>
#include <unistd.h>

#include "facts-fixture.h"
#include "host/print.h"
#include "host/ticks.h"

/* ---- facts ---- */

static void test_intel(void)
{
	static const struct {
		const char *name, *value;
	} facts[] = {
		{ "machine", "hardware" },
		{ "turbo", "on" },
		{ "governor", "powersave" },
		{ "frequency", "free 800-3600 MHz" },
		{ "smt", "on" },
		{ "isolated", "2-3" },
		{ "nohz_full", "none" },
		{ "irqs", "2 of 3" },
		{ "numa", "1 (node0 with CPUs 0-3 and 32000 MiB)" },
		{ "thp", "madvise" },
		{ "ksm", "on" },
		{ "swap", "on (2047 MiB)" },
		{ "clocksource", "hpet" },
		{ "microcode", "0x2f" },
		{ "mitigations", "spectre_v1: Mitigation: barriers" },
		{ "kernel", "6.12.1" },
		{ "qemu", "unknown: no program was asked" },
		{ "libvirt", "unknown: no program was asked" },
		{ "load", "0.42" },
		{ "steal", "5.00 %" },
		{ "temperature", "54 °C" },
		{ "throttled", "6" },
		{ "guests", "1" },
	};
	char *root = tree_intel();

	/* none is forgotten */
	g_assert_cmpuint(G_N_ELEMENTS(facts), ==, host_n_facts);
	for (gsize i = 0; i < G_N_ELEMENTS(facts); i++)
		expect(root, facts[i].name, facts[i].value);
	tree_put(root, "/sys/devices/system/cpu/intel_pstate/no_turbo", "1\n");
	expect(root, "turbo", "off");
	tree_put(root, "/sys/devices/system/cpu/cpu3/cpufreq/scaling_governor", "performance\n");
	expect(root, "governor", "mixed: powersave, performance");
	tree_remove(root);
	g_free(root);
}

static void test_amd(void)
{
	char *root = tree_amd();

	expect(root, "turbo", "on");
	tree_put(root, "/sys/devices/system/cpu/cpufreq/boost", "0\n");
	/* one policy that may still boost is enough */
	expect(root, "turbo", "on");
	for (int cpu = 0; cpu < 4; cpu++) {
		g_autofree char *path = g_strdup_printf("/sys/devices/system/cpu/cpufreq/policy%d/boost", cpu);
		tree_put(root, path, "0\n");
	}
	expect(root, "turbo", "off");
	expect(root, "throttled", "unknown: ");
	tree_remove(root);
	g_free(root);
}

/* Without cpufreq nobody knows what the frequency does: unknown, never off. */
static void test_no_cpufreq(void)
{
	char *root = tree_machine();

	expect(root, "turbo", "unknown: the kernel has no switch");
	expect(root, "governor", "unknown: ");
	expect(root, "frequency", "unknown: ");
	tree_remove(root);
	g_free(root);
}

/* What a virtual machine is shown of hardware says nothing, even where it says off. */
static void test_virtual(void)
{
	static const char *const hidden[] = { "smt", "turbo", "governor", "frequency", "microcode", "temperature", "throttled" };
	char *root = tree_virtual();

	tree_put(root, "/sys/devices/system/cpu/intel_pstate/no_turbo", "1\n");
	expect(root, "machine", "virtual (QEMU Standard PC)");
	for (gsize i = 0; i < G_N_ELEMENTS(hidden); i++)
		expect(root, hidden[i], "unknown: only the host of this virtual machine knows");
	expect(root, "steal", "5.00");
	expect(root, "irqs", "2 of 3");
	tree_remove(root);
	g_free(root);
}

static void test_empty(void)
{
	char *root = g_dir_make_tmp("host-XXXXXX", NULL);

	for (gsize i = 0; i < host_n_facts; i++)
		if (!g_str_equal(host_facts[i].name, "machine"))
			expect(root, host_facts[i].name, "unknown: ");
	tree_remove(root);
	g_free(root);
}

/* A file that is listed and cannot be read: a link to nowhere is just that. */
static void test_vanishing(void)
{
	static const char *const gone[] = {
		"/proc/irq/9/smp_affinity_list", "/proc/77/comm", "/sys/class/hwmon/hwmon0/temp2_input",
		"/sys/devices/system/cpu/cpu3/cpufreq/scaling_governor", "/sys/devices/system/cpu/vulnerabilities/meltdown",
	};
	char *root = tree_intel();

	for (gsize i = 0; i < G_N_ELEMENTS(gone); i++) {
		g_autofree char *full = g_strconcat(root, gone[i], NULL);
		g_assert_cmpint(g_unlink(full), ==, 0);
		g_assert_cmpint(symlink("/nowhere/at/all", full), ==, 0);
	}
	expect(root, "irqs", "1 of 2");
	expect(root, "guests", "0");
	expect(root, "temperature", "41 °C");
	expect(root, "governor", "powersave");
	expect(root, "mitigations", "spectre_v1");
	tree_remove(root);
	g_free(root);
}

/* ---- policies ---- */

static void test_policy_words(void)
{
	static const char *const good[] = { "", "auto", "turbo=off", "auto swap=off  load=1.5", "isolated=measuring thp=never|madvise",
					    "auto turbo=any" };
	static const char *const bad[] = { "turbo", "speed=high", "load=low", "load=-1", "turbo=", "isolated=2-3", "mitigations=on",
					   "auto,turbo=off" };

	for (gsize i = 0; i < G_N_ELEMENTS(good); i++)
		g_assert_true(host_policy_check(good[i], NULL));
	for (gsize i = 0; i < G_N_ELEMENTS(bad); i++) {
		g_autoptr(GError) error = NULL;
		g_assert_false(host_policy_check(bad[i], &error));
		g_assert_error(error, SPEC_ERROR, SPEC_ERROR_VALUE);
	}
}

static const HostFact *find(const GArray *facts, const char *name)
{
	for (guint i = 0; i < facts->len; i++)
		if (g_str_equal(g_array_index(facts, HostFact, i).row->name, name))
			return &g_array_index(facts, HostFact, i);
	g_assert_not_reached();
}

static void test_policy(void)
{
	static const struct {
		char *(*make)(void);
		const char *policy, *failing;
	} rows[] = {
		{ tree_intel, "", "" },
		{ tree_intel, "auto", "turbo governor ksm clocksource" },
		{ tree_intel, "auto turbo=any", "governor ksm clocksource" },
		{ tree_intel, "turbo=any auto", "turbo governor ksm clocksource" },
		{ tree_intel, "governor=powersave|performance isolated=measuring numa=1", "" },
		{ tree_intel, "nohz_full=measuring swap=off irqs=0 guests=0 load=0.4 temperature=50", "nohz_full irqs swap load temperature guests" },
		{ tree_intel, "irqs=2 load=0.42 steal=5 throttled=6 temperature=54", "" },
		{ tree_amd, "auto", "turbo governor ksm clocksource" },
		{ tree_machine, "auto", "turbo governor ksm clocksource" },
		{ tree_virtual, "auto", "machine" },
		{ tree_virtual, "auto machine=any", "" },
		{ tree_virtual, "turbo=off", "turbo" },
	};

	for (gsize i = 0; i < G_N_ELEMENTS(rows); i++) {
		char *root = rows[i].make();
		g_autofree char *names = failing(root, rows[i].policy);
		g_assert_cmpstr(names, ==, rows[i].failing);
		tree_remove(root);
		g_free(root);
	}
}

static void advise(const char *root, const char *policy, const char *name, const char *words)
{
	g_auto(HostMachine) machine = { 0 };

	machine_of(&machine, root);
	g_autoptr(GArray) facts = host_facts_read(&machine, policy);
	const char *advice = find(facts, name)->advice;
	if (!advice || !strstr(advice, words))
		g_error("%s: '%s' does not say '%s'", name, advice, words);
}

/* Advice is a command, or a setting, with the values that belong there. */
static void test_advice(void)
{
	char *intel = tree_intel(), *amd = tree_amd(), *plain = tree_machine();

	advise(intel, "auto", "turbo", "echo 1 > /sys/devices/system/cpu/intel_pstate/no_turbo (");
	advise(amd, "auto", "turbo", "echo 0 > /sys/devices/system/cpu/cpufreq/boost; echo 0 > /sys/devices/system/cpu/cpufreq/policy0/boost");
	advise(amd, "auto", "turbo", "5 files");
	advise(plain, "auto", "turbo", "firmware");
	advise(intel, "auto", "governor", "echo performance > /sys/devices/system/cpu/cpu2/cpufreq/scaling_governor; echo performance > "
					  "/sys/devices/system/cpu/cpu3/");
	advise(intel, "auto", "clocksource", "echo tsc > ");
	advise(intel, "thp=never|always", "thp", "echo never > ");
	advise(intel, "nohz_full=measuring", "nohz_full", "nohz_full=2-3 rcu_nocbs=2-3");
	advise(intel, "irqs=0", "irqs", "echo 0,1 > /proc/irq/1/smp_affinity_list; echo 0,1 > /proc/irq/9/");
	advise(intel, "smt=off", "smt", "echo off > /sys/devices/system/cpu/smt/control");
	advise(intel, "swap=off", "swap", "swapoff -a");
	advise(intel, "kernel=6.1.0", "kernel", "boot kernel 6.1.0");
	for (char **root = (char *[]){ intel, amd, plain, NULL }; *root; root++) {
		tree_remove(*root);
		g_free(*root);
	}
}

static void test_print(void)
{
	g_auto(HostMachine) machine = { 0 };
	g_autoptr(JsonObject) object = NULL;
	g_autoptr(GError) error = NULL;
	char *root = tree_intel();

	tree_put(root, "/sys/devices/system/cpu/vulnerabilities/odd", "say \"no\\\001\"\n");
	machine_of(&machine, root);
	g_autoptr(GArray) facts = host_facts_read(&machine, "auto");
	g_autofree char *table = host_facts_table(facts), *json = host_facts_json(&machine, facts);
	g_assert_nonnull(strstr(table, "\nturbo "));
	g_assert_nonnull(strstr(table, "CHANGE"));
	g_assert_nonnull(strstr(table, "turbo is on and should be off.\n  echo 1 > "));
	for (gsize i = 0; i < host_n_facts; i++)
		g_assert_nonnull(strstr(table, host_facts[i].title));
	g_assert_true(json_object_from_data(json, strlen(json), &object, &error));
	g_assert_no_error(error);
	JsonArray *array = json_object_get_array_member(object, "facts");
	g_assert_cmpuint(json_array_get_length(array), ==, host_n_facts);
	g_assert_cmpstr(json_object_get_string_member(json_array_get_object_element(array, 0), "value"), ==, "hardware");
	g_assert_cmpint(json_array_get_int_element(json_object_get_array_member(object, "cpus"), 1), ==, 3);
	g_assert_nonnull(strstr(json, "say \\\"no\\\\\\u0001\\\""));
	tree_remove(root);
	g_free(root);
}

/* ---- counters ---- */

static void test_ticks(void)
{
	char *root = tree_intel();
	g_auto(HostMachine) machine = { 0 };
	HostTicks before, after;
	double mhz;

	machine_of(&machine, root);
	g_assert_true(host_ticks_read(&machine, &before, NULL));
	g_assert_cmpuint(before.all, ==, 200);
	g_assert_cmpuint(before.steal, ==, 10);
	/* CPU 0 does not measure */
	tree_put(root, "/proc/stat", "cpu0 10 0 0 90 0 0 0 999 0 0\ncpu2 50 0 0 120 0 0 0 20 0 0\ncpu3 20 0 0 90 0 0 0 0 0 0\n");
	g_assert_true(host_ticks_read(&machine, &after, NULL));
	g_assert_cmpfloat(host_ticks_steal_pct(&before, &after), ==, 10);
	g_assert_cmpfloat(host_ticks_steal_pct(&after, &before), ==, 0);
	g_assert_cmpfloat(host_ticks_steal_pct(&after, &after), ==, 0);
	g_assert_true(host_frequency_mhz(&machine, &mhz));
	g_assert_cmpfloat(mhz, ==, 2000);
	tree_remove(root);
	g_free(root);
}

int main(int argc, char **argv)
{
	g_test_init(&argc, &argv, NULL);
	g_test_add_func("/host/facts/intel", test_intel);
	g_test_add_func("/host/facts/amd", test_amd);
	g_test_add_func("/host/facts/no-cpufreq", test_no_cpufreq);
	g_test_add_func("/host/facts/virtual", test_virtual);
	g_test_add_func("/host/facts/empty", test_empty);
	g_test_add_func("/host/facts/vanishing", test_vanishing);
	g_test_add_func("/host/policy/words", test_policy_words);
	g_test_add_func("/host/policy/holds", test_policy);
	g_test_add_func("/host/policy/advice", test_advice);
	g_test_add_func("/host/print", test_print);
	g_test_add_func("/host/ticks", test_ticks);
	return g_test_run();
}
